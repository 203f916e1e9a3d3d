//! When a person is asked, and what the person may answer.
#![expect(
    clippy::exhaustive_enums,
    reason = "every caller must decide what a new approval policy or answer means to it"
)]

use std::fmt;
use std::str::FromStr;

use palisade_policy::Grant;
use serde::{Deserialize, Serialize};

use crate::decision::amendment::ExecPolicyAmendment;
use crate::decision::error::UnknownApprovalPolicy;

/// When a person is asked before something runs.
///
/// ```
/// use palisade_exec_policy::AskForApproval;
///
/// assert_eq!("untrusted".parse(), Ok(AskForApproval::UnlessTrusted));
/// assert_eq!(AskForApproval::default().name(), "unless-trusted");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AskForApproval {
    /// Nobody is ever asked: what would have to be asked is refused.
    Never,
    /// Asks where a rule, a danger, a missing sandbox or the command itself calls for it.
    OnRequest,
    /// Asks for everything that is neither allowed by rules nor known to be safe.
    #[default]
    #[serde(alias = "untrusted")]
    UnlessTrusted,
    /// Runs in the sandbox first and asks when the sandbox got in the way.
    OnFailure,
    /// Like `OnRequest`, but refuses the kinds of question that it names.
    Reject(RejectConfig),
}

impl AskForApproval {
    /// The policies that have no parts, as they are spelled in files and on the command line.
    pub const SIMPLE: [Self; 4] = [
        Self::Never,
        Self::OnRequest,
        Self::UnlessTrusted,
        Self::OnFailure,
    ];

    /// The spelling used in policy files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::OnRequest => "on-request",
            Self::UnlessTrusted => "unless-trusted",
            Self::OnFailure => "on-failure",
            Self::Reject(_) => "reject",
        }
    }

    /// Whether questions of this category are refused instead of asked.
    #[must_use]
    pub const fn rejects(self, category: PromptCategory) -> bool {
        match self {
            Self::Never => true,
            Self::Reject(config) => config.rejects(category),
            Self::OnRequest | Self::UnlessTrusted | Self::OnFailure => false,
        }
    }

    /// Whether questions about leaving or doing without the sandbox are refused.
    #[must_use]
    pub const fn rejects_sandbox_prompt(self) -> bool {
        self.rejects(PromptCategory::SandboxApproval)
    }

    /// Whether questions that a rule asks are refused.
    #[must_use]
    pub const fn rejects_rules_prompt(self) -> bool {
        self.rejects(PromptCategory::Rules)
    }

    /// Whether questions about more permissions are refused.
    #[must_use]
    pub const fn rejects_permission_prompt(self) -> bool {
        self.rejects(PromptCategory::RequestPermissions)
    }

    /// Whether questions of the host's own servers are refused.
    #[must_use]
    pub const fn rejects_mcp_elicitations(self) -> bool {
        self.rejects(PromptCategory::McpElicitations)
    }

    /// Whether a requested escalation is dropped, so that the command runs contained instead of asking.
    pub(crate) const fn drops_requests(self) -> bool {
        matches!(self, Self::Never | Self::OnFailure)
    }
}

impl FromStr for AskForApproval {
    type Err = UnknownApprovalPolicy;

    /// Reads the name of a policy that has no parts; `reject` has parts and belongs in a policy file.
    fn from_str(text: &str) -> Result<Self, UnknownApprovalPolicy> {
        match text {
            "never" => Ok(Self::Never),
            "on-request" => Ok(Self::OnRequest),
            "unless-trusted" | "untrusted" => Ok(Self::UnlessTrusted),
            "on-failure" => Ok(Self::OnFailure),
            _ => Err(UnknownApprovalPolicy::new(text)),
        }
    }
}

impl fmt::Display for AskForApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        if let Self::Reject(config) = self {
            f.write_str("(")?;
            let rejected = PromptCategory::ALL
                .into_iter()
                .filter(|c| config.rejects(*c));
            for (index, category) in rejected.enumerate() {
                f.write_str(if index == 0 { "" } else { ", " })?;
                f.write_str(category.name())?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}

/// The kinds of question that are refused instead of asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "one flag for each category, written as a literal by every caller"
)]
pub struct RejectConfig {
    /// Questions about leaving or doing without the sandbox, about danger and about trust.
    pub sandbox_approval: bool,
    /// Questions that a rule asks.
    pub rules: bool,
    /// Questions about more permissions.
    pub request_permissions: bool,
    /// Questions of the host's own servers. The decision never asks one of these itself.
    pub mcp_elicitations: bool,
}

impl RejectConfig {
    /// Whether this category is refused.
    #[must_use]
    pub const fn rejects(self, category: PromptCategory) -> bool {
        match category {
            PromptCategory::SandboxApproval => self.sandbox_approval,
            PromptCategory::Rules => self.rules,
            PromptCategory::RequestPermissions => self.request_permissions,
            PromptCategory::McpElicitations => self.mcp_elicitations,
        }
    }
}

/// The kind of a question. A person can refuse to be asked one kind and still be asked the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptCategory {
    /// Leaving or doing without the sandbox, danger, trust.
    SandboxApproval,
    /// A rule asks, or a default that a policy's author wrote.
    Rules,
    /// More permissions inside the sandbox.
    RequestPermissions,
    /// A question of one of the host's own servers.
    McpElicitations,
}

impl PromptCategory {
    /// Every category. Where several are refused, the first of this order is the one that is named.
    pub const ALL: [Self; 4] = [
        Self::SandboxApproval,
        Self::Rules,
        Self::RequestPermissions,
        Self::McpElicitations,
    ];

    /// The name of the flag in [`RejectConfig`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SandboxApproval => "sandbox_approval",
            Self::Rules => "rules",
            Self::RequestPermissions => "request_permissions",
            Self::McpElicitations => "mcp_elicitations",
        }
    }

    /// What a command is told that is refused because this category may not be asked.
    #[must_use]
    pub const fn rejection(self) -> &'static str {
        match self {
            Self::SandboxApproval => "approval policy rejected sandbox approval prompt",
            Self::Rules => "approval policy rejected rules prompt",
            Self::RequestPermissions => "approval policy rejected request_permissions prompt",
            Self::McpElicitations => "approval policy rejected mcp_elicitations prompt",
        }
    }
}

/// What a person answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ReviewDecision {
    /// Yes, this once.
    Approved,
    /// No. What a dropped prompt means, too.
    #[default]
    Denied,
    /// No, and this is why: a note for the model.
    DeniedWithNote {
        /// What the model is told.
        note: String,
    },
    /// No, and stop what led here.
    Abort,
    /// Yes, and do not ask again in this session.
    ApprovedForSession,
    /// Yes, and keep an approval for commands that begin like this one.
    ApprovedExecpolicyAmendment {
        /// The prefix that was offered with the question.
        proposed_execpolicy_amendment: ExecPolicyAmendment,
    },
    /// Yes, in the sandbox, with one more thing that it may touch. This never leaves the sandbox.
    ApprovedWithGrant {
        /// What it may touch.
        grant: Grant,
        /// For how much.
        scope: GrantScope,
        /// When the grant ends, in seconds since 1970; `None` if it ends with its scope.
        expires: Option<u64>,
    },
}

impl ReviewDecision {
    /// Whether the command may run.
    #[must_use]
    pub const fn is_approval(&self) -> bool {
        match self {
            Self::Approved
            | Self::ApprovedForSession
            | Self::ApprovedExecpolicyAmendment { .. }
            | Self::ApprovedWithGrant { .. } => true,
            Self::Denied | Self::DeniedWithNote { .. } | Self::Abort => false,
        }
    }

    /// Whether the command may not run.
    #[must_use]
    pub const fn is_denial(&self) -> bool {
        !self.is_approval()
    }
}

/// How long a grant lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GrantScope {
    /// This run.
    #[default]
    Run,
    /// Until the session ends.
    Session,
    /// Every run in this project.
    Project,
}

/// Whether nobody has to be asked: it was approved already, or nobody is ever asked.
///
/// This skips a question, not a refusal: what [`decide`](crate::decide()) forbids stays forbidden.
#[must_use]
pub const fn should_bypass_approval(approval: AskForApproval, already_approved: bool) -> bool {
    already_approved || matches!(approval, AskForApproval::Never)
}

/// Whether a run that the sandbox denied may be offered again without one.
#[must_use]
pub const fn wants_no_sandbox_approval(approval: AskForApproval) -> bool {
    match approval {
        AskForApproval::OnFailure | AskForApproval::UnlessTrusted => true,
        AskForApproval::Never | AskForApproval::OnRequest => false,
        AskForApproval::Reject(_) => !approval.rejects_sandbox_prompt(),
    }
}
