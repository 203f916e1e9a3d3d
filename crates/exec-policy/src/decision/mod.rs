//! The one decision, and where a command runs first.
//!
//! [`decide()`] says whether something runs, asks or is refused; [`orchestrator`] and [`executor`] say in which sandbox
//! the first attempt runs; [`matrix`] is both, on every combination of their finite inputs.

mod amendment;
mod approval;
mod containment;
mod decide;
mod error;
pub mod executor;
mod explain;
pub mod matrix;
mod placement;
mod question;
mod reason;
mod requirement;
mod risk;
mod segments;
mod verdict;

pub use amendment::ExecPolicyAmendment;
pub use approval::{
    AskForApproval, GrantScope, PromptCategory, RejectConfig, ReviewDecision,
    should_bypass_approval, wants_no_sandbox_approval,
};
pub use containment::{SandboxablePreference, WorkingBackend};
pub use decide::{Decision, decide};
pub use error::{AmendmentError, UnknownApprovalPolicy};
pub use placement::{Placement, Refusal, SandboxDecision, SandboxOverride, orchestrator};
pub use question::{Command, Question};
pub use reason::{Escalation, Reason, Reasons};
pub use requirement::{
    ApprovalPurpose, ExecApprovalRequirement, default_exec_approval_requirement,
};
pub use risk::Risk;
pub use verdict::{DefaultEntry, RuleDecision, RuleRef, SegmentVerdict, VerdictSource};
