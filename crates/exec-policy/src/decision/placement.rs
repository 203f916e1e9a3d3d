//! In which sandbox the first attempt runs, and whether a denial may be offered again.
//!
//! This is the `orchestrator` preset, the default: the sandbox comes first, and an approval does not leave it by
//! itself. [`executor`](crate::executor) holds the other preset.
#![expect(
    clippy::exhaustive_enums,
    reason = "every caller must decide what a new override means to it"
)]

use palisade_policy::{SandboxPolicy, SandboxType};
use serde::{Deserialize, Serialize};

use crate::decision::approval::{
    AskForApproval, PromptCategory, ReviewDecision, wants_no_sandbox_approval,
};
use crate::decision::containment::{Containment, SandboxablePreference, WorkingBackend};
use crate::decision::requirement::{ApprovalPurpose, ExecApprovalRequirement};

/// What a tool says about its first attempt.
///
/// It is a wish without force of its own: without an agreement to leave the sandbox it is refused, or dropped where
/// the approval policy drops such requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxOverride {
    /// Nothing.
    #[default]
    NoOverride,
    /// To run the first attempt without the sandbox.
    BypassSandboxFirstAttempt,
}

/// Where a command runs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[must_use = "a placement that nobody looks at protects nothing"]
#[non_exhaustive]
pub struct SandboxDecision {
    /// The sandbox of the first attempt.
    pub initial_sandbox: SandboxType,
    /// Whether a denial by the sandbox may be offered again without one.
    pub escalate_on_failure: bool,
    /// Whether the approval is kept for the session.
    pub record_session_approval: bool,
}

/// It does not run. The message is for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The decision forbids it.
    #[error("{reason}")]
    Forbidden {
        /// Why.
        reason: String,
    },
    /// A sandbox is required and none works.
    #[error("a sandbox is required and none works on this host")]
    NoWorkingSandbox,
    /// A question of this category would have to be asked, and may not be.
    #[error("{}", .0.rejection())]
    MayNotAsk(PromptCategory),
    /// An approval is needed, and there is no answer.
    #[error("an approval is needed and nobody answered")]
    Unanswered,
    /// The person said no.
    #[error("rejected by the user{}", note.as_deref().map(|note| format!(": {note}")).unwrap_or_default())]
    Denied {
        /// What the person wants the model to know.
        note: Option<String>,
    },
    /// The person said no and wants to stop.
    #[error("aborted by the user")]
    Aborted,
    /// The tool wants its first attempt unsandboxed, and nobody agreed to that.
    #[error("the tool wants to run without the sandbox, and nobody approved that")]
    UnapprovedBypass,
    /// The tool requires a sandbox, and leaving it was requested.
    #[error("the tool requires a sandbox, and leaving it was requested")]
    Contradiction,
    /// A patch that changes nothing.
    #[error("the patch is empty")]
    EmptyPatch,
}

/// Everything that the `orchestrator` preset depends on.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever asks must fill in every part"
)]
pub struct Placement<'a> {
    /// What the decision requires.
    pub requirement: &'a ExecApprovalRequirement,
    /// What the person answered, if one was asked.
    pub answer: Option<&'a ReviewDecision>,
    /// What the tool says about its first attempt.
    pub first_attempt: SandboxOverride,
    /// What the tool wants of the sandbox.
    pub preference: SandboxablePreference,
    /// The sandbox that a person picked.
    pub sandbox: SandboxPolicy,
    /// The sandbox that works on this host, if one does.
    pub backend: Option<WorkingBackend>,
    /// Whether the tool wants a denied attempt to be offered again.
    pub escalate_on_failure: bool,
    /// When a person is asked.
    pub approval: AskForApproval,
}

/// Places a command under the `orchestrator` preset.
///
/// Where a sandbox is expected, the result is without one only if a person approved
/// [`RunUnsandboxed`](ApprovalPurpose::RunUnsandboxed), or if the rules of every segment say so and there was a
/// sandbox to leave; under [`Require`](SandboxablePreference::Require) never.
///
/// # Errors
/// It may not run, or not here.
///
/// ```
/// use palisade_exec_policy::{
///     ApprovalPurpose, AskForApproval, ExecApprovalRequirement, Placement, Refusal, ReviewDecision,
///     SandboxOverride, SandboxablePreference, WorkingBackend, orchestrator,
/// };
/// use palisade_policy::{SandboxPolicy, SandboxType};
///
/// let requirement = ExecApprovalRequirement::NeedsApproval {
///     reason: None,
///     proposed_execpolicy_amendment: None,
///     purpose: ApprovalPurpose::Run,
/// };
/// let mut placement = Placement {
///     requirement: &requirement,
///     answer: Some(&ReviewDecision::Approved),
///     first_attempt: SandboxOverride::NoOverride,
///     preference: SandboxablePreference::Auto,
///     sandbox: SandboxPolicy::default(),
///     backend: WorkingBackend::new(SandboxType::LinuxLandlock),
///     escalate_on_failure: true,
///     approval: AskForApproval::OnRequest,
/// };
/// assert_eq!(orchestrator(&placement)?.initial_sandbox, SandboxType::LinuxLandlock);
///
/// placement.backend = None;
/// assert_eq!(orchestrator(&placement), Err(Refusal::NoWorkingSandbox));
/// # Ok::<(), Refusal>(())
/// ```
pub fn orchestrator(placement: &Placement<'_>) -> Result<SandboxDecision, Refusal> {
    let leave = agreement(placement.requirement, placement.answer)?;
    let containment = Containment::of(&placement.sandbox, placement.preference);
    let initial_sandbox = match containment {
        Containment::NotOurs => SandboxType::None,
        Containment::Required => {
            drop_wish(placement, Refusal::Contradiction)?;
            confined(placement.backend)?
        }
        Containment::Expected => match leave {
            Some(leave) => leave.the_sandbox(placement.backend)?,
            None => {
                drop_wish(placement, Refusal::UnapprovedBypass)?;
                confined(placement.backend)?
            }
        },
    };
    Ok(SandboxDecision {
        initial_sandbox,
        escalate_on_failure: placement.escalate_on_failure
            && may_escalate(initial_sandbox, containment)
            && wants_no_sandbox_approval(placement.approval),
        record_session_approval: matches!(
            placement.answer,
            Some(ReviewDecision::ApprovedForSession)
        ),
    })
}

/// An agreement to leave the sandbox. Where one is expected, [`the_sandbox`](Leave::the_sandbox) is the only way to
/// [`SandboxType::None`], and only [`agreement`] makes this value.
#[derive(Clone, Copy)]
enum Leave {
    /// A person approved it, knowing that there may be no sandbox.
    Approved,
    /// The rules of every segment say so; they speak of a sandbox that works.
    ByRules,
}

impl Leave {
    fn the_sandbox(self, backend: Option<WorkingBackend>) -> Result<SandboxType, Refusal> {
        match (self, backend) {
            (Self::Approved, _) | (Self::ByRules, Some(_)) => Ok(SandboxType::None),
            (Self::ByRules, None) => Err(Refusal::NoWorkingSandbox),
        }
    }
}

/// Whether it may run at all, and if so, whether it may leave the sandbox.
fn agreement(
    requirement: &ExecApprovalRequirement,
    answer: Option<&ReviewDecision>,
) -> Result<Option<Leave>, Refusal> {
    if let Some(answer) = answer {
        refuse_denial(answer)?;
    }
    match (requirement, answer) {
        (ExecApprovalRequirement::Forbidden { reason }, _) => Err(Refusal::Forbidden {
            reason: reason.clone(),
        }),
        (ExecApprovalRequirement::Skip { bypass_sandbox, .. }, _) => {
            Ok(bypass_sandbox.then_some(Leave::ByRules))
        }
        (ExecApprovalRequirement::NeedsApproval { .. }, None) => Err(Refusal::Unanswered),
        (ExecApprovalRequirement::NeedsApproval { purpose, .. }, Some(answer)) => {
            Ok(match purpose {
                ApprovalPurpose::Run => None,
                ApprovalPurpose::RunUnsandboxed => {
                    approves_leaving(answer).then_some(Leave::Approved)
                }
            })
        }
    }
}

/// A denial is a refusal, whatever was asked.
pub(crate) fn refuse_denial(answer: &ReviewDecision) -> Result<(), Refusal> {
    match answer {
        ReviewDecision::Denied => Err(Refusal::Denied { note: None }),
        ReviewDecision::DeniedWithNote { note } => Err(Refusal::Denied {
            note: Some(note.clone()),
        }),
        ReviewDecision::Abort => Err(Refusal::Aborted),
        ReviewDecision::Approved
        | ReviewDecision::ApprovedForSession
        | ReviewDecision::ApprovedExecpolicyAmendment { .. }
        | ReviewDecision::ApprovedWithGrant { .. } => Ok(()),
    }
}

/// Whether this answer to a question about leaving the sandbox agrees to it. A grant is the narrower answer: it adds
/// to the sandbox and stays inside.
pub(crate) const fn approves_leaving(answer: &ReviewDecision) -> bool {
    match answer {
        ReviewDecision::Approved
        | ReviewDecision::ApprovedForSession
        | ReviewDecision::ApprovedExecpolicyAmendment { .. } => true,
        ReviewDecision::ApprovedWithGrant { .. }
        | ReviewDecision::Denied
        | ReviewDecision::DeniedWithNote { .. }
        | ReviewDecision::Abort => false,
    }
}

/// The wish of a tool to leave a sandbox that it may not leave: dropped where the approval policy drops such requests,
/// otherwise refused.
fn drop_wish(placement: &Placement<'_>, refusal: Refusal) -> Result<(), Refusal> {
    match placement.first_attempt {
        SandboxOverride::NoOverride => Ok(()),
        SandboxOverride::BypassSandboxFirstAttempt if placement.approval.drops_requests() => Ok(()),
        SandboxOverride::BypassSandboxFirstAttempt => Err(refusal),
    }
}

/// The sandbox that works, which is never [`SandboxType::None`].
pub(crate) fn confined(backend: Option<WorkingBackend>) -> Result<SandboxType, Refusal> {
    backend
        .map(WorkingBackend::sandbox_type)
        .ok_or(Refusal::NoWorkingSandbox)
}

/// Whether there is a sandbox to leave after a denial, and it may be left.
pub(crate) fn may_escalate(initial_sandbox: SandboxType, containment: Containment) -> bool {
    initial_sandbox != SandboxType::None && containment == Containment::Expected
}
