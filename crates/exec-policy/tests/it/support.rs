//! What several tests need.

use std::sync::LazyLock;

use palisade_exec_policy::matrix::{Case, markdown};
use palisade_exec_policy::{
    ApprovalPurpose, AskForApproval, Decision, ExecApprovalRequirement, ExecPolicyAmendment,
    GrantScope, RejectConfig, ReviewDecision, SandboxablePreference, WorkingBackend,
};
use palisade_policy::{Grant, SandboxMode, SandboxType};

/// The page, made once.
pub(crate) static PAGE: LazyLock<String> = LazyLock::new(markdown);

/// The four simple approval policies and all sixteen rejecting ones.
pub(crate) fn approvals() -> Vec<AskForApproval> {
    let mut all = AskForApproval::SIMPLE.to_vec();
    for bits in 0..16_u8 {
        all.push(AskForApproval::Reject(RejectConfig {
            sandbox_approval: bits & 1 != 0,
            rules: bits & 2 != 0,
            request_permissions: bits & 4 != 0,
            mcp_elicitations: bits & 8 != 0,
        }));
    }
    all
}

/// Every answer.
pub(crate) fn answers() -> Vec<ReviewDecision> {
    let mut all = vec![
        ReviewDecision::Approved,
        ReviewDecision::Denied,
        ReviewDecision::DeniedWithNote {
            note: "use `cargo add`".to_owned(),
        },
        ReviewDecision::Abort,
        ReviewDecision::ApprovedForSession,
        grant(),
    ];
    let amendment = ExecPolicyAmendment::new(["cargo", "add"]);
    all.extend(amendment.map(|proposed_execpolicy_amendment| {
        ReviewDecision::ApprovedExecpolicyAmendment {
            proposed_execpolicy_amendment,
        }
    }));
    all
}

pub(crate) const fn grant() -> ReviewDecision {
    ReviewDecision::ApprovedWithGrant {
        grant: Grant::HostLoopback,
        scope: GrantScope::Session,
        expires: Some(1_900_000_000),
    }
}

/// A sandbox that works, and none.
pub(crate) fn backends() -> [Option<WorkingBackend>; 2] {
    [landlock(), None]
}

pub(crate) fn landlock() -> Option<WorkingBackend> {
    WorkingBackend::new(SandboxType::LinuxLandlock)
}

/// How strict a decision is. Running unsandboxed is looser than running contained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strictness {
    RunsUnsandboxed,
    Runs,
    Asks,
    Forbids,
}

pub(crate) fn strictness(decision: &Decision<'_>) -> Strictness {
    match &decision.requirement {
        ExecApprovalRequirement::Skip {
            bypass_sandbox: true,
            ..
        } => Strictness::RunsUnsandboxed,
        ExecApprovalRequirement::Skip {
            bypass_sandbox: false,
            ..
        } => Strictness::Runs,
        ExecApprovalRequirement::NeedsApproval { .. } => Strictness::Asks,
        ExecApprovalRequirement::Forbidden { .. } => Strictness::Forbids,
    }
}

/// Whether it asks to run without the sandbox.
pub(crate) fn asks_to_leave(decision: &Decision<'_>) -> bool {
    matches!(
        decision.requirement,
        ExecApprovalRequirement::NeedsApproval {
            purpose: ApprovalPurpose::RunUnsandboxed,
            ..
        }
    )
}

/// A sandbox of ours is expected, read off the inputs and not off the code.
pub(crate) fn contained(case: &Case) -> bool {
    case.preference == SandboxablePreference::Require
        || matches!(
            case.mode,
            SandboxMode::ReadOnly | SandboxMode::WorkspaceWrite
        )
}
