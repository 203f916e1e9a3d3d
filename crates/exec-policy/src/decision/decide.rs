//! The one place where rules, risk, approval policy and sandbox become a requirement.
//!
//! The order of the steps is the meaning: what is forbidden stays forbidden, then everything that would have to be
//! asked is collected, then the approval policy says which of it may be asked at all. A step never looks at what a
//! later one would like.

use palisade_policy::SandboxPermissions;
use serde::Serialize;

use crate::decision::approval::{AskForApproval, PromptCategory};
use crate::decision::containment::{Containment, SandboxablePreference};
use crate::decision::explain::asked;
use crate::decision::placement::Refusal;
use crate::decision::question::{Command, Question};
use crate::decision::reason::{Escalation, Reason, Reasons};
use crate::decision::requirement::{
    ApprovalPurpose, ExecApprovalRequirement, default_exec_approval_requirement,
};
use crate::decision::risk::Risk;
use crate::decision::segments::{
    any_rule_prompt, every_allow, every_allow_unsandboxed, every_rule_unsandboxed, forbidden_by,
    is_plain,
};
use crate::decision::verdict::{SegmentVerdict, VerdictSource};

/// The answer to a [`Question`], with the reasons that led to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[must_use = "a decision that nobody looks at protects nothing"]
#[non_exhaustive]
pub struct Decision<'a> {
    /// What has to happen before the command runs.
    pub requirement: ExecApprovalRequirement,
    /// Why.
    pub reasons: Reasons<'a>,
}

/// Decides whether something runs, needs an approval or is forbidden.
///
/// ```
/// use palisade_exec_policy::{
///     ApprovalPurpose, AskForApproval, Command, ExecApprovalRequirement, Question, Risk, RuleRef,
///     SandboxablePreference, SegmentVerdict, decide,
/// };
/// use palisade_policy::{SandboxPermissions, SandboxPolicy};
///
/// let push = RuleRef::new("git-push", Some("pushes to a remote"));
/// let segments = [SegmentVerdict::Prompt { rule: push, answered: false, unsandboxed: false }];
/// let decision = decide(&Question {
///     approval: AskForApproval::OnRequest,
///     sandbox: SandboxPolicy::default(),
///     preference: SandboxablePreference::Auto,
///     backend: None,
///     command: Some(Command {
///         segments: &segments,
///         risk: Risk::Unknown,
///         permissions: &SandboxPermissions::UseDefault,
///         amendment: None,
///     }),
/// });
/// assert!(matches!(
///     decision.requirement,
///     ExecApprovalRequirement::NeedsApproval { purpose: ApprovalPurpose::RunUnsandboxed, .. }
/// ));
/// assert_eq!(
///     decision.explain(),
///     "asks before running without a sandbox (sandbox_approval, rules), because \
///      rule `git-push` asks (pushes to a remote) and no sandbox works here",
/// );
/// ```
pub fn decide<'a>(question: &Question<'a>) -> Decision<'a> {
    let mut reasons = Reasons::new();
    let requirement = match &question.command {
        None => without_command(question, &mut reasons),
        Some(command) => for_command(question, command, &mut reasons),
    };
    Decision {
        requirement,
        reasons,
    }
}

/// Step 0: a tool that runs no command.
fn without_command(question: &Question<'_>, reasons: &mut Reasons<'_>) -> ExecApprovalRequirement {
    let requirement = default_exec_approval_requirement(question.approval, &question.sandbox);
    reasons.push(Reason::NoCommand(question.approval));
    match requirement {
        ExecApprovalRequirement::Forbidden { .. } => {
            reasons.push(Reason::CategoryRejected(PromptCategory::SandboxApproval));
        }
        ExecApprovalRequirement::Skip { .. } | ExecApprovalRequirement::NeedsApproval { .. } => {}
    }
    requirement
}

fn for_command<'a>(
    question: &Question<'a>,
    command: &Command<'a>,
    reasons: &mut Reasons<'a>,
) -> ExecApprovalRequirement {
    let containment = Containment::of(&question.sandbox, question.preference);

    // Steps 1 and 2, and what step 3 forbids at once.
    if let Some(source) = forbidden_by(command.segments) {
        reasons.push(Reason::Forbidden(source));
        return forbid(forbidden_text(source));
    }
    if containment == Containment::Required && question.backend.is_none() {
        reasons.push(Reason::RequiredSandboxMissing);
        return forbid(Refusal::NoWorkingSandbox.to_string());
    }
    let escalation = requested_escalation(question, command, containment);
    if let Some(escalation) = escalation {
        if question.approval.drops_requests() && escalation == Escalation::Host {
            reasons.push(Reason::BypassUnderPolicy(question.approval));
            return forbid(PromptCategory::SandboxApproval.rejection());
        }
        if containment == Containment::Required && !question.approval.drops_requests() {
            reasons.push(Reason::RequiredSandboxContradicted(escalation));
            return forbid(Refusal::Contradiction.to_string());
        }
    }

    // Step 3: everything that would have to be asked.
    collect_rules(command.segments, reasons);
    collect_trust(question.approval, command, reasons);
    collect_escalation(question, containment, escalation, reasons);
    collect_permissions(question.approval, command, containment, reasons);

    // Step 4: what may not be asked.
    let rejected = reasons
        .categories()
        .find(|category| question.approval.rejects(*category));
    if let Some(category) = rejected {
        reasons.push(Reason::CategoryRejected(category));
        return forbid(category.rejection());
    }

    // Step 5: what is left to ask.
    if reasons.questions().next().is_some() {
        return ExecApprovalRequirement::NeedsApproval {
            reason: Some(asked(reasons).to_string()),
            proposed_execpolicy_amendment: command
                .amendment
                .filter(|_| amendment_settles(command.segments, reasons))
                .cloned(),
            purpose: purpose(command.segments, containment, reasons),
        };
    }

    // Step 6: nothing to ask.
    let bypass_sandbox = match (containment, every_allow_unsandboxed(command.segments)) {
        (Containment::Expected, Some(first)) => {
            reasons.push(Reason::EverySegmentUnsandboxed(first));
            true
        }
        (Containment::Expected, None) | (Containment::Required, _) => {
            reasons.push(Reason::Confined);
            false
        }
        (Containment::NotOurs, _) => {
            reasons.push(Reason::NothingToConfine(question.sandbox.mode));
            false
        }
    };
    ExecApprovalRequirement::Skip {
        bypass_sandbox,
        proposed_execpolicy_amendment: None,
    }
}

/// Who wants to leave the sandbox; nobody where there is none to leave.
fn requested_escalation(
    question: &Question<'_>,
    command: &Command<'_>,
    containment: Containment,
) -> Option<Escalation> {
    if !containment.is_contained() {
        return None;
    }
    match command.permissions {
        SandboxPermissions::BypassSandbox => Some(Escalation::Host),
        SandboxPermissions::RequireEscalated => Some(Escalation::Command),
        SandboxPermissions::UseDefault | SandboxPermissions::WithAdditionalPermissions { .. } => {
            match question.preference {
                SandboxablePreference::Forbid => Some(Escalation::Tool),
                SandboxablePreference::Auto | SandboxablePreference::Require => None,
            }
        }
    }
}

/// The question of the first rule or author's default that asks, and the first stored approval that answers one.
fn collect_rules<'a>(segments: &[SegmentVerdict<'a>], reasons: &mut Reasons<'a>) {
    for segment in segments {
        match *segment {
            SegmentVerdict::Prompt {
                rule,
                answered: true,
                ..
            } => reasons.push(Reason::StoredApproval(rule)),
            SegmentVerdict::Prompt {
                answered: false, ..
            }
            | SegmentVerdict::PromptByDefault { .. } => {
                reasons.push(Reason::RuleAsks(segment.source()));
            }
            SegmentVerdict::Allow { .. }
            | SegmentVerdict::Forbid { .. }
            | SegmentVerdict::ForbidByDefault { .. }
            | SegmentVerdict::Unmatched
            | SegmentVerdict::Opaque { .. } => {}
        }
    }
}

/// Danger and trust, which an explicit allow of every segment settles.
fn collect_trust<'a>(approval: AskForApproval, command: &Command<'a>, reasons: &mut Reasons<'a>) {
    if let Some(first) = every_allow(command.segments) {
        reasons.push(Reason::EverySegmentAllowed(first));
        return;
    }
    let trusted = match command.risk {
        Risk::KnownSafe => is_plain(command.segments),
        Risk::Unknown => false,
        Risk::Dangerous => {
            reasons.push(Reason::Dangerous);
            false
        }
    };
    if trusted {
        reasons.push(Reason::KnownSafe);
    } else if approval == AskForApproval::UnlessTrusted {
        reasons.push(Reason::NotTrusted);
    }
}

/// Leaving the sandbox, and having none. No rule settles either.
fn collect_escalation(
    question: &Question<'_>,
    containment: Containment,
    escalation: Option<Escalation>,
    reasons: &mut Reasons<'_>,
) {
    let dropped = question.approval.drops_requests();
    match escalation {
        Some(escalation) if dropped => reasons.push(Reason::EscalationDropped(escalation)),
        Some(escalation) => reasons.push(Reason::EscalationRequested(escalation)),
        None => {}
    }
    // A tool that does without a sandbox needs none, as long as its wish stands.
    let does_without = question.preference == SandboxablePreference::Forbid && !dropped;
    if containment.is_contained() && !does_without && question.backend.is_none() {
        reasons.push(Reason::SandboxMissing);
    }
}

/// More permissions, where there is a sandbox to add them to.
fn collect_permissions(
    approval: AskForApproval,
    command: &Command<'_>,
    containment: Containment,
    reasons: &mut Reasons<'_>,
) {
    match command.permissions {
        SandboxPermissions::WithAdditionalPermissions { .. } if containment.is_contained() => {
            reasons.push(if approval.drops_requests() {
                Reason::PermissionsDropped
            } else {
                Reason::PermissionsRequested
            });
        }
        SandboxPermissions::UseDefault
        | SandboxPermissions::RequireEscalated
        | SandboxPermissions::BypassSandbox
        | SandboxPermissions::WithAdditionalPermissions { .. } => {}
    }
}

/// What an approval would allow.
fn purpose(
    segments: &[SegmentVerdict<'_>],
    containment: Containment,
    reasons: &Reasons<'_>,
) -> ApprovalPurpose {
    match containment {
        Containment::NotOurs | Containment::Required => ApprovalPurpose::Run,
        Containment::Expected => {
            let leaves = reasons.iter().any(|reason| reason.is_about_leaving());
            if leaves || every_rule_unsandboxed(segments) {
                ApprovalPurpose::RunUnsandboxed
            } else {
                ApprovalPurpose::Run
            }
        }
    }
}

/// Whether keeping an approval would leave nothing to ask the next time; a prefix that would not is not offered.
///
/// An accepted prefix becomes a stored approval where a rule asks, which settles that rule's question alone, and an
/// allow rule elsewhere, which also settles danger and trust. Neither settles the other questions.
fn amendment_settles(segments: &[SegmentVerdict<'_>], reasons: &Reasons<'_>) -> bool {
    let by_stored_approval = any_rule_prompt(segments);
    reasons.questions().all(|question| match question {
        Reason::RuleAsks(_) => true,
        Reason::Dangerous | Reason::NotTrusted => !by_stored_approval,
        _ => false,
    })
}

fn forbid(reason: impl Into<String>) -> ExecApprovalRequirement {
    ExecApprovalRequirement::Forbidden {
        reason: reason.into(),
    }
}

/// The justification of the rule; where there is none, what forbids.
fn forbidden_text(source: VerdictSource<'_>) -> String {
    match source {
        VerdictSource::Rule(rule) => rule.why.filter(|why| !why.is_empty()).map_or_else(
            || Reason::Forbidden(source).to_string(),
            std::borrow::ToOwned::to_owned,
        ),
        VerdictSource::Default(_) => Reason::Forbidden(source).to_string(),
    }
}
