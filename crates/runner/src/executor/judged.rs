//! What the rules say about everything that a request would run.

use std::ffi::OsString;

use palisade_exec_policy::approvals::Moment;
use palisade_exec_policy::{ExecApprovalRequirement, Risk, RuleDecision, RulesError};
use palisade_policy::{CanonicalSandboxPolicy, Grant, ResourceLimits, SandboxPermissions};

use super::error::ExecError;
use crate::judge::{Case, Judge, Judgement, Offer, Standing, lower};

/// The strictest of what is said about each form of one command.
///
/// A command that was rewritten for a shell is judged twice: as it was asked for, because rules speak about that, and as
/// it runs, because that is what happens.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    /// How risky it looks. What explicit rules allow counts as known to be safe: they remove danger and doubt.
    pub(super) risk: Risk,
    /// Whether explicit rules let it run without the sandbox.
    pub(super) bypass: bool,
    /// Why a person has to be asked, if one has to.
    pub(super) asks: Option<Option<String>>,
    /// What can be kept with an approval.
    pub(super) offer: Option<Offer>,
    /// What the rules add to the sandbox.
    pub(super) grants: Vec<Grant>,
    /// The limits that the rules set, under the limits of the policy.
    pub(super) limits: Option<ResourceLimits>,
    /// Why all this, as one sentence.
    pub(super) explanation: String,
    /// Where it comes from: the id of a rule, or the default that spoke.
    pub(super) source: String,
}

/// Judges each form of a command.
///
/// # Errors
/// A form is forbidden, or the rules cannot be used.
pub(super) fn judge_all(
    judge: &Judge,
    forms: &[&[OsString]],
    case: &Case<'_>,
    standing: &Standing,
    policy: &CanonicalSandboxPolicy,
    now: Moment,
) -> Result<Judged, ExecError> {
    let mut strictest: Option<Judged> = None;
    for argv in forms {
        let judgement = judge
            .judge_under(&Case { argv, ..*case }, standing, Some(policy), now)
            .map_err(|error| unusable(&error))?;
        let one = Judged::of(judgement, &policy.resource_limits())?;
        strictest = Some(match strictest {
            None => one,
            Some(before) => before.and(one),
        });
    }
    strictest.ok_or_else(|| super::error::RunError::EmptyCommand.into())
}

fn unusable(error: &RulesError) -> ExecError {
    ExecError::rejection(format!("nothing runs until the rules are mended: {error}"))
}

impl Judged {
    fn of(judgement: Judgement, usual: &ResourceLimits) -> Result<Self, ExecError> {
        let limits = judgement.limits.map(|_| judgement.limits_under(usual));
        let (asks, bypass) = match judgement.requirement {
            ExecApprovalRequirement::Forbidden { reason } => {
                return Err(ExecError::rejection(reason));
            }
            ExecApprovalRequirement::NeedsApproval { reason, .. } => (Some(reason), false),
            ExecApprovalRequirement::Skip { bypass_sandbox, .. } => (None, bypass_sandbox),
        };
        let allowed = asks.is_none() && judgement.rule_decision == RuleDecision::Allow;
        Ok(Self {
            risk: if allowed {
                Risk::KnownSafe
            } else {
                judgement.risk
            },
            bypass,
            asks,
            offer: judgement.offer,
            grants: judgement.grants,
            limits,
            explanation: judgement.explanation,
            source: judgement.source,
        })
    }

    fn and(self, other: Self) -> Self {
        let (explanation, source) = match (&self.asks, &other.asks) {
            (None, Some(_)) => (other.explanation, other.source),
            _ => (self.explanation, self.source),
        };
        Self {
            risk: worse(self.risk, other.risk),
            bypass: self.bypass && other.bypass,
            asks: self.asks.or(other.asks),
            // A prefix answers for one form only.
            offer: None,
            grants: self
                .grants
                .into_iter()
                .filter(|grant| other.grants.contains(grant))
                .collect(),
            limits: match (self.limits, other.limits) {
                (Some(one), Some(other)) => Some(lower(&one, &other)),
                (one, other) => one.or(other),
            },
            explanation,
            source,
        }
    }
}

const fn worse(one: Risk, other: Risk) -> Risk {
    match (one, other) {
        (Risk::Dangerous, _) | (_, Risk::Dangerous) => Risk::Dangerous,
        (Risk::Unknown, _) | (_, Risk::Unknown) => Risk::Unknown,
        (Risk::KnownSafe, Risk::KnownSafe) => Risk::KnownSafe,
    }
}

/// Nothing beyond the policy, or leaving it.
pub(super) const fn permissions(escalated: bool) -> SandboxPermissions {
    if escalated {
        SandboxPermissions::RequireEscalated
    } else {
        SandboxPermissions::UseDefault
    }
}
