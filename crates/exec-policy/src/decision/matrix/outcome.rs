//! What a decision comes to, as far as the table tells.
#![expect(
    clippy::exhaustive_enums,
    reason = "whoever shows outcomes must say what a new one means"
)]

use crate::decision::approval::PromptCategory;
use crate::decision::decide::Decision;
use crate::decision::reason::Reason;
use crate::decision::requirement::{ApprovalPurpose, ExecApprovalRequirement};

/// What a decision comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It runs without a question.
    Skip,
    /// It runs without a question and without the sandbox.
    SkipBypass,
    /// A person is asked whether it may run.
    AskRun,
    /// A person is asked whether it may run without the sandbox.
    AskUnsandboxed,
    /// A rule forbids it.
    ForbiddenByRule,
    /// A sandbox is required, and there is none or it is to be left.
    ForbiddenRequired,
    /// A question of this category would have to be asked, and may not be.
    ForbiddenCategory(PromptCategory),
}

impl Outcome {
    /// What this decision comes to.
    #[must_use]
    pub fn of(decision: &Decision<'_>) -> Self {
        match &decision.requirement {
            ExecApprovalRequirement::Skip {
                bypass_sandbox: false,
                ..
            } => Self::Skip,
            ExecApprovalRequirement::Skip {
                bypass_sandbox: true,
                ..
            } => Self::SkipBypass,
            ExecApprovalRequirement::NeedsApproval { purpose, .. } => match purpose {
                ApprovalPurpose::Run => Self::AskRun,
                ApprovalPurpose::RunUnsandboxed => Self::AskUnsandboxed,
            },
            ExecApprovalRequirement::Forbidden { .. } => decision
                .reasons
                .iter()
                .find_map(|reason| match reason {
                    Reason::RequiredSandboxMissing | Reason::RequiredSandboxContradicted(_) => {
                        Some(Self::ForbiddenRequired)
                    }
                    Reason::CategoryRejected(category) => Some(Self::ForbiddenCategory(category)),
                    Reason::BypassUnderPolicy(_) => {
                        Some(Self::ForbiddenCategory(PromptCategory::SandboxApproval))
                    }
                    _ => None,
                })
                .unwrap_or(Self::ForbiddenByRule),
        }
    }
}
