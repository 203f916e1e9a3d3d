//! Why something did not run, or why there is nothing that it could run in.

use std::path::PathBuf;

use palisade_exec_policy::{Refusal, RulesError};
use palisade_policy::{PolicyError, SandboxTransformError};

use crate::audit::AuditError;
use crate::config::ConfigError;
use crate::outcome::SetupFailure;

/// Why a command did not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The workspace is not one.
    #[error("the workspace {}: {why}", path.display())]
    Workspace {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// A path of the policy or the command makes no sense.
    #[error("{}: {why}", path.display())]
    Path {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The policy makes no sense on this host.
    #[error("{0}")]
    Policy(Box<PolicyError>),
    /// The rules cannot be used: nothing runs until they are mended.
    #[error("{0}")]
    Rules(#[from] RulesError),
    /// The sandbox cannot be set up as asked.
    #[error("{0}")]
    Sandbox(#[from] SetupFailure),
    /// No sandbox is known for this system.
    #[error("{0}")]
    Unavailable(Box<SandboxTransformError>),
    /// The rules forbid it, or a person refused. The text is for the model.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// What people agreed to keep cannot be read, or could be written by a command.
    #[error("{0}")]
    Kept(Box<ConfigError>),
    /// The environment that was asked for cannot be given.
    #[error("{0}")]
    Environment(String),
    /// A command could change the record of what it does, or the record cannot be trusted for another reason.
    #[error("{0}")]
    Audit(Box<AuditError>),
    /// Somebody cancelled it before it ran, while somebody else was asked about it. Whoever waits for its outcome gets
    /// [`Cancelled`](crate::outcome::Outcome::Cancelled) instead.
    #[error("cancelled before it ran")]
    Cancelled,
}

// Boxed, because whoever embeds this returns it from every function that runs something.

impl From<PolicyError> for Error {
    fn from(error: PolicyError) -> Self {
        Self::Policy(Box::new(error))
    }
}

impl From<SandboxTransformError> for Error {
    fn from(error: SandboxTransformError) -> Self {
        Self::Unavailable(Box::new(error))
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::Kept(Box::new(error))
    }
}

impl From<AuditError> for Error {
    fn from(error: AuditError) -> Self {
        Self::Audit(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_small_enough_to_be_returned_by_every_call() {
        assert!(size_of::<Error>() < 128, "{}", size_of::<Error>());
    }
}
