//! Why a run of the executor did not end well: what a model is told, and what went wrong inside.

use std::fmt;

use palisade_policy::{LimitKind, PolicyError, SandboxTransformError};

use super::output::ExecToolCallOutput;
use crate::outcome::SetupFailure;

/// The sandbox, or the supervision, ended a run. Its output is kept.
#[derive(Clone, Debug, thiserror::Error)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever escalates must decide what a new variant means"
)]
pub enum SandboxErr {
    /// It failed, and the sandbox is why.
    #[error("the sandbox denied what the command needs (exit code {})", output.exit_code)]
    Denied {
        /// What it wrote.
        output: Box<ExecToolCallOutput>,
    },
    /// It took too long.
    #[error("Command timed out")]
    Timeout {
        /// What it wrote until then.
        output: Box<ExecToolCallOutput>,
    },
    /// A signal ended it that nobody here sent.
    #[error("the command was ended by signal {signal}")]
    Signal {
        /// Which.
        signal: i32,
        /// What it wrote until then; its code is 128 and the signal.
        output: Box<ExecToolCallOutput>,
    },
}

impl SandboxErr {
    /// What the command wrote.
    #[must_use]
    pub const fn output(&self) -> &ExecToolCallOutput {
        match self {
            Self::Denied { output } | Self::Timeout { output } | Self::Signal { output, .. } => {
                output
            }
        }
    }
}

/// A variable that something needs and that is not set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "written as a literal by the hosts that miss a variable"
)]
pub struct EnvVarError {
    /// Its name.
    pub var: String,
    /// How to come by one.
    pub instructions: Option<String>,
}

impl std::error::Error for EnvVarError {}

impl fmt::Display for EnvVarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Missing environment variable: `{}`", self.var)?;
        match &self.instructions {
            Some(instructions) => write!(f, ". {instructions}"),
            None => Ok(()),
        }
    }
}

/// What went wrong in a run, for the host.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The sandbox or the supervision ended it.
    #[error(transparent)]
    Sandbox(#[from] SandboxErr),
    /// A variable is missing.
    #[error(transparent)]
    EnvVar(#[from] EnvVarError),
    /// The command was not started.
    #[error(transparent)]
    Setup(#[from] SetupFailure),
    /// There is no such sandbox here, or the policy makes no sense on this host.
    #[error(transparent)]
    Transform(Box<SandboxTransformError>),
    /// The command is empty: there is no program to run.
    #[error("the command is empty; name a program")]
    EmptyCommand,
    /// Somebody cancelled it.
    #[error("the command was cancelled")]
    Cancelled {
        /// What it wrote until then.
        output: Box<ExecToolCallOutput>,
    },
    /// How it ended is not known; it ran, or may have run.
    #[error("{why}")]
    Lost {
        /// What happened, and what would help.
        why: String,
        /// What it wrote until then.
        output: Box<ExecToolCallOutput>,
    },
    /// It was over a limit.
    #[error("the command was over its limit of {}; raise that limit in the policy if it needs more", limit(*which))]
    LimitExceeded {
        /// Which.
        which: LimitKind,
        /// What it wrote until then.
        output: Box<ExecToolCallOutput>,
    },
}

impl RunError {
    /// What the command wrote, if a process ran.
    #[must_use]
    pub fn output(&self) -> Option<&ExecToolCallOutput> {
        match self {
            Self::Sandbox(error) => Some(error.output()),
            Self::Cancelled { output }
            | Self::LimitExceeded { output, .. }
            | Self::Lost { output, .. } => Some(output),
            Self::EnvVar(_) | Self::Setup(_) | Self::Transform(_) | Self::EmptyCommand => None,
        }
    }
}

impl From<SandboxTransformError> for RunError {
    fn from(error: SandboxTransformError) -> Self {
        Self::Transform(Box::new(error))
    }
}

impl From<PolicyError> for RunError {
    fn from(error: PolicyError) -> Self {
        SandboxTransformError::InvalidPolicy(error).into()
    }
}

const fn limit(which: LimitKind) -> &'static str {
    match which {
        LimitKind::Memory => "memory",
        LimitKind::Pids => "processes",
        LimitKind::Disk => "disk space",
        LimitKind::Cpu => "processor time",
        LimitKind::Wall => "time",
    }
}

/// What a model is told about its call, as opposed to what went wrong inside.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FunctionCallError {
    /// This text is the answer to the call.
    #[error("{0}")]
    RespondToModel(String),
    /// The turn cannot go on.
    #[error("Fatal error: {0}")]
    Fatal(String),
}

/// Why [`Executor::run`](super::Executor::run) has no output.
#[derive(Clone, Debug, thiserror::Error)]
#[expect(
    clippy::exhaustive_enums,
    reason = "for the model or for the host: there is no third"
)]
pub enum ExecError {
    /// For the model.
    #[error(transparent)]
    Function(#[from] FunctionCallError),
    /// For the host.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl ExecError {
    /// A refusal that the model is told.
    pub fn rejection(message: impl Into<String>) -> Self {
        Self::Function(FunctionCallError::RespondToModel(message.into()))
    }
}

impl From<SandboxErr> for ExecError {
    fn from(error: SandboxErr) -> Self {
        Self::Run(error.into())
    }
}

/// What a person is shown of an error: of a denial its error output, of a timeout how long it took.
#[must_use]
pub fn get_error_message_ui(error: &RunError) -> String {
    match error {
        RunError::Sandbox(SandboxErr::Denied { output }) => output.stderr.text.clone(),
        RunError::Sandbox(SandboxErr::Timeout { output }) => {
            format!(
                "error: command timed out after {} ms",
                output.duration.as_millis()
            )
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn output(stderr: &str) -> Box<ExecToolCallOutput> {
        let mut output = ExecToolCallOutput::synthetic(stderr);
        output.exit_code = 1;
        output.duration = Duration::from_millis(1_234);
        Box::new(output)
    }

    #[test]
    fn the_ui_message_of_a_denial_is_its_error_output() {
        let output = output("cannot write /etc/hosts");
        let error = RunError::from(SandboxErr::Denied { output });
        assert_eq!(get_error_message_ui(&error), "cannot write /etc/hosts");
    }

    #[test]
    fn the_ui_message_of_a_timeout_names_its_milliseconds() {
        let output = output("half");
        let error = RunError::from(SandboxErr::Timeout { output });
        assert_eq!(
            get_error_message_ui(&error),
            "error: command timed out after 1234 ms"
        );
        assert_eq!(error.to_string(), "Command timed out");
    }

    #[test]
    fn the_ui_message_of_anything_else_is_its_display() {
        let setup = SetupFailure::new("exec", Some(2), "there is no program `frob`");
        for error in [
            RunError::from(setup),
            RunError::EmptyCommand,
            RunError::from(SandboxErr::Signal {
                signal: 11,
                output: output(""),
            }),
            RunError::Cancelled { output: output("") },
        ] {
            assert_eq!(get_error_message_ui(&error), error.to_string());
        }
    }

    #[test]
    fn a_missing_variable_is_named_and_instructions_follow_if_there_are_any() {
        let mut error = EnvVarError {
            var: "FOO".to_owned(),
            instructions: None,
        };
        assert_eq!(error.to_string(), "Missing environment variable: `FOO`");
        error.instructions = Some("Set it in the settings.".to_owned());
        assert_eq!(
            error.to_string(),
            "Missing environment variable: `FOO`. Set it in the settings."
        );
    }

    #[test]
    fn a_rejection_wraps_respond_to_model_and_displays_as_its_message() {
        let error = ExecError::rejection("no");
        assert!(
            matches!(&error, ExecError::Function(FunctionCallError::RespondToModel(text)) if text == "no")
        );
        assert_eq!(error.to_string(), "no");
    }

    #[test]
    fn conversions_keep_the_display_of_what_they_wrap() {
        let denied = || SandboxErr::Denied {
            output: output("x"),
        };
        let inner = denied().to_string();
        assert_eq!(RunError::from(denied()).to_string(), inner);
        assert_eq!(ExecError::from(denied()).to_string(), inner);
        assert_eq!(ExecError::from(RunError::from(denied())).to_string(), inner);
        let fatal = FunctionCallError::Fatal("x".to_owned());
        assert_eq!(
            ExecError::from(fatal.clone()).to_string(),
            fatal.to_string()
        );
    }
}
