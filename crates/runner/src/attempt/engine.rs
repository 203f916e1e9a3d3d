//! The engine itself.

use std::future::Future;
use std::pin::Pin;

use palisade_exec_policy::{
    AskForApproval, GrantScope, PromptCategory, Refusal, ReviewDecision, SandboxDecision,
};
use palisade_policy::{
    AcceptedLosses, CanonicalSandboxPolicy, Grant, HomeRoot, PolicyError, SandboxType,
    WorkspaceRoot,
};

use super::question::{Notice, RetryKind, RetryQuestion};
use crate::launch::Placed;
use crate::outcome::Evidence;

/// How many grants one command can be given, one after another. Each costs a run and a question.
const MOST_GRANTS: usize = 4;

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where the first attempt runs, and what may happen after a denial.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Attempts {
    /// What was decided.
    pub decision: SandboxDecision,
    /// The policy, without grants for this command.
    pub policy: CanonicalSandboxPolicy,
    /// What the policy is resolved against.
    pub policy_cwd: WorkspaceRoot,
    /// Losses that were accepted by name.
    pub accepted: AcceptedLosses,
    /// What is granted to this command from the start: by its rule, or by the answer that let it run.
    pub grants: Vec<Grant>,
    /// When a person is asked.
    pub approval: AskForApproval,
    /// Whether the workspace may be the home directory or hold it.
    pub home_root: HomeRoot,
    /// Whether a person may let a command run without the sandbox at all. A system's floor can say no.
    pub may_leave: bool,
}

impl Attempts {
    /// Attempts with no grant and no accepted loss.
    #[must_use]
    pub fn new(
        decision: SandboxDecision,
        policy: CanonicalSandboxPolicy,
        policy_cwd: WorkspaceRoot,
        approval: AskForApproval,
    ) -> Self {
        Self {
            decision,
            policy,
            policy_cwd,
            accepted: AcceptedLosses::none(),
            grants: Vec::new(),
            home_root: HomeRoot::Refuse,
            approval,
            may_leave: true,
        }
    }

    /// The place of an attempt in the sandbox, with these grants.
    fn contained(&self, grants: &[Grant]) -> Result<Placed, PolicyError> {
        let mut policy = self.policy.clone();
        for grant in grants {
            policy = policy.with_grant(grant)?;
        }
        Ok(self.placed(self.decision.initial_sandbox, policy))
    }

    /// The place of an attempt without a sandbox.
    fn bare(&self) -> Placed {
        self.placed(SandboxType::None, CanonicalSandboxPolicy::full_access())
    }

    fn placed(&self, sandbox: SandboxType, policy: CanonicalSandboxPolicy) -> Placed {
        Placed {
            accepted: self.accepted.clone(),
            home_root: self.home_root,
            ..Placed::new(sandbox, policy, self.policy_cwd.clone())
        }
    }

    /// The place of the first attempt.
    ///
    /// # Errors
    /// A grant cannot be added to the policy.
    pub fn first(&self) -> Result<Placed, PolicyError> {
        match self.decision.initial_sandbox {
            SandboxType::None => Ok(self.bare()),
            _ => self.contained(&self.grants),
        }
    }

    fn may_ask_for_grants(&self) -> bool {
        self.decision.escalate_on_failure
            && !self.approval.rejects(PromptCategory::RequestPermissions)
    }

    fn may_ask_to_leave(&self) -> bool {
        self.decision.escalate_on_failure
            && self.may_leave
            && !self.approval.rejects(PromptCategory::SandboxApproval)
    }
}

/// What an attempt came to.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the sandbox was in the way or not")]
pub enum Tried<T> {
    /// It ran; whether it succeeded is not the engine's business.
    Done(T),
    /// The sandbox was in the way.
    Denied {
        /// What came of it all the same.
        value: T,
        /// What says so.
        evidence: Vec<Evidence>,
    },
}

/// Who makes attempts and asks people.
pub trait Attempting: Send {
    /// What an attempt returns.
    type Value: Send;

    /// Makes an attempt.
    fn attempt<'a>(&'a mut self, placed: &'a Placed) -> BoxFuture<'a, Tried<Self::Value>>;

    /// Why this grant may be given by nobody, if so: not offered where the sandbox denied it, and not used where somebody
    /// gives it all the same. `widened` is the policy with it.
    fn forbids(&self, _grant: &Grant, _widened: &CanonicalSandboxPolicy) -> Option<Refusal> {
        None
    }

    /// Asks a person. A question that nobody answers is denied.
    fn ask<'a>(&'a mut self, question: &'a RetryQuestion) -> BoxFuture<'a, ReviewDecision>;

    /// Says something.
    fn notice<'a>(&'a mut self, notice: &'a Notice) -> BoxFuture<'a, ()>;

    /// Keeps a grant beyond this run, because that is what was answered. The engine uses it for this run by itself.
    fn keep<'a>(
        &'a mut self,
        grant: &'a Grant,
        scope: GrantScope,
        expires: Option<u64>,
    ) -> BoxFuture<'a, ()>;
}

/// What came of all attempts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Attempted<T> {
    /// What the last attempt returned.
    pub value: T,
    /// Where it ran.
    pub placed: Placed,
    /// What says that the sandbox was in its way; empty if it was not.
    pub evidence: Vec<Evidence>,
    /// What was granted on the way, in order.
    pub granted: Vec<Grant>,
    /// What became of trying again.
    pub retry: Retry,
}

/// What became of trying again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Retry {
    /// There was no need.
    NotNeeded,
    /// It was denied, and nobody may be asked, or nothing is left to ask for.
    NotOffered,
    /// A person said no, or did not answer.
    Declined(Refusal),
    /// It ran again in the sandbox, with what was granted.
    Narrower,
    /// It ran again without the sandbox.
    Unsandboxed {
        /// Whether that approval is to be remembered until the session ends.
        for_session: bool,
    },
}

/// Makes the first attempt, and others if somebody agrees.
///
/// # Errors
/// A grant of the first attempt cannot be added to the policy; nothing ran.
pub async fn run<A: Attempting + ?Sized>(
    attempts: &Attempts,
    attempting: &mut A,
) -> Result<Attempted<A::Value>, PolicyError> {
    let mut placed = attempts.first()?;
    let mut granted: Vec<Grant> = Vec::new();
    let mut retry = Retry::NotNeeded;
    loop {
        let (value, evidence) = match attempting.attempt(&placed).await {
            Tried::Done(value) => {
                return Ok(Attempted {
                    value,
                    placed,
                    evidence: Vec::new(),
                    granted,
                    retry,
                });
            }
            Tried::Denied { value, evidence } => (value, evidence),
        };
        let give_up = |value, placed, evidence, granted, retry| {
            Ok(Attempted {
                value,
                placed,
                evidence,
                granted,
                retry,
            })
        };
        let Some(kind) = next_question(attempts, attempting, &placed, &evidence, &granted) else {
            let retry = match retry {
                Retry::NotNeeded => Retry::NotOffered,
                tried => tried,
            };
            return give_up(value, placed, evidence, granted, retry);
        };
        attempting.notice(&Notice::Failed(evidence.clone())).await;
        let question = RetryQuestion {
            kind,
            evidence,
            sandbox: placed.sandbox,
        };
        let answer = attempting.ask(&question).await;
        let evidence = question.evidence;
        let agreed = match agreement(question.kind, answer) {
            Ok(agreed) => agreed,
            Err(refusal) => {
                return give_up(value, placed, evidence, granted, Retry::Declined(refusal));
            }
        };
        match agreed {
            Agreed::Grant {
                grant,
                scope,
                expires,
            } => {
                // An answer that adds nothing changes nothing: trying again would only ask again.
                let known = attempts.grants.contains(&grant) || granted.contains(&grant);
                if known || granted.len() >= MOST_GRANTS {
                    return give_up(value, placed, evidence, granted, retry);
                }
                placed = match widened(attempts, attempting, &granted, &grant) {
                    Ok(wider) => wider,
                    // What ran is told all the same.
                    Err(refusal) => {
                        return give_up(value, placed, evidence, granted, Retry::Declined(refusal));
                    }
                };
                if scope != GrantScope::Run {
                    attempting.keep(&grant, scope, expires).await;
                }
                retry = Retry::Narrower;
                let kind = RetryKind::Narrower(grant.clone());
                attempting.notice(&Notice::Retrying(kind)).await;
                granted.push(grant);
            }
            Agreed::Leave { for_session } => {
                placed = attempts.bare();
                retry = Retry::Unsandboxed { for_session };
                let kind = RetryKind::Unsandboxed;
                attempting.notice(&Notice::Retrying(kind)).await;
            }
        }
    }
}

/// The place of an attempt with one more grant.
fn widened<A: Attempting + ?Sized>(
    attempts: &Attempts,
    attempting: &A,
    granted: &[Grant],
    grant: &Grant,
) -> Result<Placed, Refusal> {
    let grants: Vec<Grant> = attempts
        .grants
        .iter()
        .chain(granted)
        .chain([grant])
        .cloned()
        .collect();
    let placed = attempts
        .contained(&grants)
        .map_err(|error| Refusal::Forbidden {
            reason: format!("the grant to {grant} cannot be added to the policy: {error}"),
        })?;
    match attempting.forbids(grant, &placed.policy) {
        Some(refusal) => Err(refusal),
        None => Ok(placed),
    }
}

/// What to ask after a denial, if anything.
fn next_question<A: Attempting + ?Sized>(
    attempts: &Attempts,
    attempting: &A,
    placed: &Placed,
    evidence: &[Evidence],
    granted: &[Grant],
) -> Option<RetryKind> {
    if placed.sandbox == SandboxType::None {
        return None;
    }
    if attempts.may_ask_for_grants() && granted.len() < MOST_GRANTS {
        // Nobody is asked for what no answer could allow.
        let fresh = |grant: &&Grant| {
            !granted.contains(grant)
                && !attempts.grants.contains(grant)
                && widened(attempts, attempting, granted, grant).is_ok()
        };
        let grant = evidence.iter().filter_map(grant_of).find(fresh);
        if let Some(grant) = grant {
            return Some(RetryKind::Narrower(grant.clone()));
        }
    }
    attempts
        .may_ask_to_leave()
        .then_some(RetryKind::Unsandboxed)
}

fn grant_of(evidence: &Evidence) -> Option<&Grant> {
    match evidence {
        Evidence::Likely { smallest_grant, .. } => smallest_grant.as_ref(),
        Evidence::SystemCall => None,
    }
}

/// What a person agreed to.
enum Agreed {
    Grant {
        grant: Grant,
        scope: GrantScope,
        expires: Option<u64>,
    },
    Leave {
        for_session: bool,
    },
}

/// What an answer to this question agrees to. A kept prefix answers a rule's question, which this is not: it approves
/// once. A grant given where leaving was asked is the narrower answer, and stays inside.
fn agreement(kind: RetryKind, answer: ReviewDecision) -> Result<Agreed, Refusal> {
    let grant_for = |grant, scope| Agreed::Grant {
        grant,
        scope,
        expires: None,
    };
    match (answer, kind) {
        (ReviewDecision::Denied, _) => Err(Refusal::Denied { note: None }),
        (ReviewDecision::DeniedWithNote { note }, _) => Err(Refusal::Denied { note: Some(note) }),
        (ReviewDecision::Abort, _) => Err(Refusal::Aborted),
        (
            ReviewDecision::ApprovedWithGrant {
                grant,
                scope,
                expires,
            },
            _,
        ) => Ok(Agreed::Grant {
            grant,
            scope,
            expires,
        }),
        (ReviewDecision::ApprovedForSession, RetryKind::Narrower(grant)) => {
            Ok(grant_for(grant, GrantScope::Session))
        }
        (
            ReviewDecision::Approved | ReviewDecision::ApprovedExecpolicyAmendment { .. },
            RetryKind::Narrower(grant),
        ) => Ok(grant_for(grant, GrantScope::Run)),
        (ReviewDecision::ApprovedForSession, RetryKind::Unsandboxed) => {
            Ok(Agreed::Leave { for_session: true })
        }
        (
            ReviewDecision::Approved | ReviewDecision::ApprovedExecpolicyAmendment { .. },
            RetryKind::Unsandboxed,
        ) => Ok(Agreed::Leave { for_session: false }),
    }
}

// The paths in it are those of Unix.
#[cfg(test)]
#[cfg(unix)]
#[path = "engine_tests.rs"]
mod tests;
