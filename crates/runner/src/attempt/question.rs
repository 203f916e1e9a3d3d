//! What is asked and said between attempts.

use std::fmt;

use palisade_exec_policy::ApprovalPurpose;
use palisade_policy::{Clause, Grant, SandboxType};

use crate::outcome::Evidence;

/// What a retry would change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetryKind {
    /// The same sandbox, with this added.
    Narrower(Grant),
    /// No sandbox.
    Unsandboxed,
}

impl RetryKind {
    /// What an approval of it allows.
    #[must_use]
    pub const fn purpose(&self) -> ApprovalPurpose {
        match self {
            Self::Narrower(_) => ApprovalPurpose::Run,
            Self::Unsandboxed => ApprovalPurpose::RunUnsandboxed,
        }
    }
}

/// The question to run a denied command once more without its sandbox.
pub(crate) const RETRY_WITHOUT_SANDBOX: &str = "command failed; retry without sandbox?";

impl fmt::Display for RetryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Narrower(grant) => write!(f, "command failed; retry with a grant to {grant}?"),
            Self::Unsandboxed => f.write_str(RETRY_WITHOUT_SANDBOX),
        }
    }
}

/// A question between two attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryQuestion {
    /// What the retry would change.
    pub kind: RetryKind,
    /// Why the attempt before it failed; never empty.
    pub evidence: Vec<Evidence>,
    /// The sandbox that the attempt before it ran in.
    pub sandbox: SandboxType,
}

impl RetryQuestion {
    /// The question in words, loud where a yes opens more than another place to write: a guard, or somebody outside who
    /// would act for the command.
    #[must_use]
    pub fn text(&self) -> String {
        let warning = match &self.kind {
            RetryKind::Unsandboxed => None,
            RetryKind::Narrower(Grant::UnixSocket(_) | Grant::HostLoopback) => Some(
                "WARNING: whoever listens there is not in the sandbox, and may do anything for the command".to_owned(),
            ),
            RetryKind::Narrower(grant) => self.evidence.iter().find_map(|one| match one {
                Evidence::Likely {
                    clause,
                    smallest_grant: Some(offered),
                    ..
                } if offered == grant && is_guard(clause) => Some(format!(
                    "WARNING: this lifts a guard ({clause}), and the command itself named the path"
                )),
                _ => None,
            }),
        };
        match warning {
            Some(warning) => format!("{} {warning}", self.kind),
            None => self.kind.to_string(),
        }
    }
}

/// Whether a clause guards something by name, so that a grant would lift it.
const fn is_guard(clause: &Clause) -> bool {
    matches!(
        clause,
        Clause::Protected(_)
            | Clause::Sensitive(_)
            | Clause::DenyRead(_)
            | Clause::ReadOnlyPath(_)
            | Clause::HoldsGuarded(_)
            | Clause::MovesGuarded(_)
    )
}

/// What a person is told between attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// The sandbox denied it; said before anything is asked.
    Failed(Vec<Evidence>),
    /// It is tried again; said after the approval.
    Retrying(RetryKind),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(evidence) => {
                f.write_str("Execution failed: ")?;
                for (index, one) in evidence.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { "; " })?;
                    one.fmt(f)?;
                }
                Ok(())
            }
            Self::Retrying(RetryKind::Narrower(grant)) => {
                write!(f, "retrying command with a grant to {grant}")
            }
            Self::Retrying(RetryKind::Unsandboxed) => {
                f.write_str("retrying command without sandbox")
            }
        }
    }
}
