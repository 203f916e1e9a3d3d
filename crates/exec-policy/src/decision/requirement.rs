//! What has to happen before something runs.
#![expect(
    clippy::exhaustive_enums,
    reason = "every caller must decide what a new requirement means to it"
)]

use palisade_policy::SandboxPolicy;
use serde::Serialize;

use crate::decision::amendment::ExecPolicyAmendment;
use crate::decision::approval::{AskForApproval, PromptCategory};

/// What has to happen before something runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[must_use = "a requirement that nobody looks at protects nothing"]
pub enum ExecApprovalRequirement {
    /// Nothing: nobody is asked.
    Skip {
        /// Whether it runs without the sandbox, because the rules of every segment say so.
        bypass_sandbox: bool,
        /// A prefix to keep. Nothing was asked, so the decision never offers one here.
        proposed_execpolicy_amendment: Option<ExecPolicyAmendment>,
    },
    /// A person has to approve it.
    NeedsApproval {
        /// Why, for the person.
        reason: Option<String>,
        /// The prefix that can be kept with the answer, so that the same question is not asked again.
        proposed_execpolicy_amendment: Option<ExecPolicyAmendment>,
        /// What an approval would allow.
        purpose: ApprovalPurpose,
    },
    /// It does not run.
    Forbidden {
        /// Why, for the model.
        reason: String,
    },
}

impl ExecApprovalRequirement {
    /// Runs without a question, and stays in the sandbox.
    pub(crate) const SKIP: Self = Self::Skip {
        bypass_sandbox: false,
        proposed_execpolicy_amendment: None,
    };
}

/// What an approval allows. Approving a run never approves an unsandboxed run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalPurpose {
    /// To run where the policy says.
    #[default]
    Run,
    /// To run without the sandbox.
    RunUnsandboxed,
}

/// What a tool needs that runs no command: only the approval policy and the sandbox decide.
///
/// ```
/// use palisade_exec_policy::{
///     AskForApproval, ExecApprovalRequirement, RejectConfig, default_exec_approval_requirement,
/// };
/// use palisade_policy::SandboxPolicy;
///
/// let approval = AskForApproval::Reject(RejectConfig { sandbox_approval: true, ..RejectConfig::default() });
/// assert_eq!(
///     default_exec_approval_requirement(approval, &SandboxPolicy::default()),
///     ExecApprovalRequirement::Forbidden {
///         reason: "approval policy rejected sandbox approval prompt".to_owned(),
///     },
/// );
/// ```
pub fn default_exec_approval_requirement(
    approval: AskForApproval,
    sandbox: &SandboxPolicy,
) -> ExecApprovalRequirement {
    let asks = match approval {
        AskForApproval::Never | AskForApproval::OnFailure => false,
        AskForApproval::OnRequest | AskForApproval::Reject(_) => sandbox.requires_approval_prompt(),
        AskForApproval::UnlessTrusted => true,
    };
    if !asks {
        ExecApprovalRequirement::SKIP
    } else if approval.rejects_sandbox_prompt() {
        ExecApprovalRequirement::Forbidden {
            reason: PromptCategory::SandboxApproval.rejection().to_owned(),
        }
    } else {
        ExecApprovalRequirement::NeedsApproval {
            reason: None,
            proposed_execpolicy_amendment: None,
            purpose: ApprovalPurpose::Run,
        }
    }
}
