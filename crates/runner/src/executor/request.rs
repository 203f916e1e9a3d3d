//! What the executor is asked to run.

use std::ffi::OsString;
use std::path::PathBuf;

use palisade_policy::Environment;

use super::apply_patch::ApplyPatch;
use super::stream::StdoutStream;

/// A command as a tool wants it run.
///
/// Nothing here is text for display: what was decided is what runs, byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecParams {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Where it runs; never what a policy is resolved against.
    pub cwd: PathBuf,
    /// How long it may run; `None` is the default time.
    pub timeout_ms: Option<u64>,
    /// Its environment, complete: nothing is inherited.
    pub env: Environment,
    /// Whether it asks to run without the sandbox.
    pub with_escalated_permissions: bool,
    /// Why it asks.
    pub justification: Option<String>,
}

impl ExecParams {
    /// A program and its arguments, in this directory, with an empty environment and the default time.
    #[must_use]
    pub fn new<W: Into<OsString>>(
        command: impl IntoIterator<Item = W>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            cwd: cwd.into(),
            ..Self::default()
        }
    }

    /// With this environment in place of the other.
    #[must_use]
    pub fn with_env(self, env: Environment) -> Self {
        Self { env, ..self }
    }

    /// With this many milliseconds to run.
    #[must_use]
    pub fn with_timeout_ms(self, timeout_ms: u64) -> Self {
        Self {
            timeout_ms: Some(timeout_ms),
            ..self
        }
    }

    /// Asking to run without the sandbox, for this reason.
    #[must_use]
    pub fn asking_to_escalate(self, justification: impl Into<String>) -> Self {
        Self {
            with_escalated_permissions: true,
            justification: Some(justification.into()),
            ..self
        }
    }
}

/// How a request is run.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::exhaustive_enums,
    reason = "every caller must decide what a new mode means to it"
)]
pub enum ExecutionMode {
    /// The command of the parameters is run.
    #[default]
    Shell,
    /// A patch is applied by a program of ours; the command of the parameters is only shown.
    ApplyPatch(ApplyPatch),
}

/// One request to the executor.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExecutionRequest {
    /// The command.
    pub params: ExecParams,
    /// The command as people are shown it in questions. It is never judged and never run: that is `params.command`.
    pub approval_command: Vec<OsString>,
    /// How it is run.
    pub mode: ExecutionMode,
    /// Who gets output while it runs.
    pub stdout_stream: Option<StdoutStream>,
    /// Whether the start-up file of the user's shell is read first.
    pub use_shell_profile: bool,
}

impl ExecutionRequest {
    /// A shell request that is shown as it is run.
    #[must_use]
    pub fn shell(params: ExecParams) -> Self {
        Self {
            approval_command: params.command.clone(),
            params,
            mode: ExecutionMode::Shell,
            stdout_stream: None,
            use_shell_profile: false,
        }
    }

    /// A patch, shown as the command of the parameters.
    #[must_use]
    pub fn apply_patch(params: ExecParams, patch: ApplyPatch) -> Self {
        Self {
            mode: ExecutionMode::ApplyPatch(patch),
            ..Self::shell(params)
        }
    }

    /// Shown as this command.
    #[must_use]
    pub fn shown_as<W: Into<OsString>>(self, command: impl IntoIterator<Item = W>) -> Self {
        Self {
            approval_command: command.into_iter().map(Into::into).collect(),
            ..self
        }
    }

    /// With output sent there while it runs.
    #[must_use]
    pub fn streaming_to(self, stream: StdoutStream) -> Self {
        Self {
            stdout_stream: Some(stream),
            ..self
        }
    }

    /// Reading the start-up file of the user's shell first.
    #[must_use]
    pub fn with_shell_profile(self) -> Self {
        Self {
            use_shell_profile: true,
            ..self
        }
    }
}
