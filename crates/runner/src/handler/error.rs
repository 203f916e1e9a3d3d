//! How a tool fails.

use std::error::Error;
use std::fmt;

use palisade_exec_policy::Refusal;

use super::views::SandboxTransformError;
use crate::outcome::Evidence;

/// How a tool fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// It was not run, because rules, the policy or a person said no. The text is for the model.
    #[error("Tool rejected: {0}")]
    Rejected(String),
    /// Something broke that neither the model nor the sandbox is to blame for.
    #[error("Internal error: {0}")]
    Internal(#[source] Box<dyn Error + Send + Sync>),
    /// The sandbox was in the way.
    #[error("Sandbox denied: {0}")]
    SandboxDenied(Denial),
    /// It took longer than this many milliseconds.
    #[error("Timeout after {0}ms")]
    Timeout(u64),
}

impl ToolError {
    /// Any error, as an internal one.
    pub fn internal(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Internal(error.into())
    }

    /// A denial by the sandbox, in the tool's own words.
    pub fn denied(denial: impl Into<Denial>) -> Self {
        Self::SandboxDenied(denial.into())
    }
}

/// What the sandbox denied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denial {
    /// What happened, for a person and the model.
    pub message: String,
    /// What says so, if anything is known: something that it names can be granted instead of leaving the sandbox.
    pub evidence: Vec<Evidence>,
}

impl Denial {
    /// A denial with the evidence for it.
    #[must_use]
    pub fn proven(evidence: Vec<Evidence>) -> Self {
        let said: Vec<String> = evidence.iter().map(Evidence::to_string).collect();
        Self {
            message: said.join("; "),
            evidence,
        }
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<T: Into<String>> From<T> for Denial {
    /// A denial of which nothing but this is known.
    fn from(message: T) -> Self {
        Self {
            message: message.into(),
            evidence: Vec::new(),
        }
    }
}

impl From<Refusal> for ToolError {
    fn from(refusal: Refusal) -> Self {
        Self::Rejected(refusal.to_string())
    }
}

impl From<Box<dyn Error + Send + Sync>> for ToolError {
    fn from(error: Box<dyn Error + Send + Sync>) -> Self {
        Self::Internal(error)
    }
}

impl From<std::io::Error> for ToolError {
    fn from(error: std::io::Error) -> Self {
        Self::internal(error)
    }
}

impl From<SandboxTransformError> for ToolError {
    fn from(error: SandboxTransformError) -> Self {
        Self::internal(error)
    }
}

impl From<palisade_policy::SandboxTransformError> for ToolError {
    fn from(error: palisade_policy::SandboxTransformError) -> Self {
        Self::internal(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_errors_begin_with_what_they_are() {
        let io = || std::io::Error::other("disk on fire");
        for (error, expected) in [
            (
                ToolError::Rejected("rejected by the user".to_owned()),
                "Tool rejected: rejected by the user",
            ),
            (ToolError::from(io()), "Internal error: disk on fire"),
            (ToolError::internal(io()), "Internal error: disk on fire"),
            (ToolError::internal("lost"), "Internal error: lost"),
            (
                ToolError::from(SandboxTransformError::MissingSandboxExecutable),
                "Internal error: missing sandbox executable",
            ),
            (
                ToolError::denied("write /etc/hosts"),
                "Sandbox denied: write /etc/hosts",
            ),
            (ToolError::Timeout(30_000), "Timeout after 30000ms"),
            (
                ToolError::from(Refusal::Aborted),
                "Tool rejected: aborted by the user",
            ),
        ] {
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn an_internal_error_still_is_the_error_that_it_was() {
        let error = ToolError::from(std::io::Error::from(std::io::ErrorKind::StorageFull));
        let source = error.source().unwrap();
        let io = source.downcast_ref::<std::io::Error>().unwrap();
        assert_eq!(io.kind(), std::io::ErrorKind::StorageFull);
    }

    #[test]
    fn a_proven_denial_says_what_the_evidence_says() {
        let denial = Denial::proven(vec![Evidence::SystemCall]);
        assert_eq!(denial.message, Evidence::SystemCall.to_string());
    }
}
