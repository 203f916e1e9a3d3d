//! How a run ended, with its output and what was enforced.

mod text;

use std::fmt;
use std::time::Duration;

use palisade_policy::{Clause, Enforcement, Grant, LimitKind, Refusal, SandboxType};

use crate::capture::Output;
use crate::supervise::Usage;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// By itself.
    Exited {
        /// Its code.
        code: i32,
    },
    /// By a signal that nobody here sent.
    Signaled {
        /// Which.
        signal: i32,
    },
    /// It took too long and was ended, with everything that it had started.
    TimedOut {
        /// How long it had.
        after: Duration,
    },
    /// Somebody cancelled it.
    Cancelled,
    /// It was over a limit.
    LimitExceeded {
        /// Which.
        which: LimitKind,
    },
    /// It failed, and the sandbox is why.
    Denied {
        /// What says so; never empty.
        evidence: Vec<Evidence>,
        /// What it ended with.
        exit_code: i32,
    },
    /// It was not started.
    SetupFailed(SetupFailure),
    /// It ran, or may have run, and how it ended is not known: its sandbox session was lost, or it could not be watched
    /// any more. Nothing of it runs on. What it did until then stays done, so running it again is for the caller to
    /// decide.
    Lost {
        /// What happened, and what would help.
        why: String,
    },
}

impl Outcome {
    /// What a shell would say: the code, 128 and the signal, 124 for a timeout; -1 if no process ran, or
    /// nobody knows how it ended.
    #[must_use]
    pub const fn exit_code(&self) -> i32 {
        match self {
            Self::Exited { code } => *code,
            Self::Signaled { signal } => 128 + *signal,
            Self::TimedOut { .. } => 124,
            Self::Cancelled => 130,
            Self::LimitExceeded { .. } => 137,
            Self::Denied { exit_code, .. } => *exit_code,
            Self::SetupFailed(_) | Self::Lost { .. } => -1,
        }
    }

    /// Whether it ended by itself with code 0.
    #[must_use]
    pub const fn success(&self) -> bool {
        matches!(self, Self::Exited { code: 0 })
    }
}

/// What says that the sandbox is why a command failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Evidence {
    /// The filter of system calls ended it.
    SystemCall,
    /// It named a resource that the policy denies, in the last that it wrote about its failure.
    Likely {
        /// What it wanted, such as `write /etc/hosts`.
        resource: String,
        /// The clause that denies it.
        clause: Clause,
        /// The smallest grant that would allow it, if there is one.
        smallest_grant: Option<Grant>,
    },
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SystemCall => f.write_str("the sandbox forbids a system call that it made"),
            Self::Likely {
                resource,
                clause,
                smallest_grant,
            } => {
                // Whoever reads this must know whose word it is.
                write!(
                    f,
                    "the sandbox likely denied to {resource} (as named by the command itself): {clause}"
                )?;
                match smallest_grant {
                    Some(grant) => write!(f, "; a grant to {grant} would allow it"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Why a command was not started. Nothing ran.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct SetupFailure {
    /// The step that failed, in a few words that stay the same.
    pub step: String,
    /// The system's error number, if it gave one.
    pub errno: Option<i32>,
    /// What happened and what would help, for a person.
    pub message: String,
    /// What this host cannot keep and nobody accepted, where that is why.
    pub refused: Option<Box<Refusal>>,
}

impl SetupFailure {
    /// A step that failed.
    pub fn new(step: impl Into<String>, errno: Option<i32>, message: impl Into<String>) -> Self {
        Self {
            step: step.into(),
            errno,
            message: message.into(),
            refused: None,
        }
    }

    /// The sandbox would be weaker than the policy asks.
    #[must_use]
    pub fn too_weak(refusal: Refusal) -> Self {
        Self {
            refused: Some(Box::new(refusal.clone())),
            ..Self::new("accepting losses", None, refusal.to_string())
        }
    }
}

/// A run that is over.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[must_use = "an outcome that nobody looks at tells nobody"]
pub struct Finished {
    /// How it ended.
    pub outcome: Outcome,
    /// What it wrote.
    pub output: Output,
    /// What held while it ran.
    pub enforcement: Enforcement,
    /// The sandbox that it ran in.
    pub sandbox: SandboxType,
    /// How long it ran.
    pub duration: Duration,
    /// What it used, where that is known.
    pub usage: Usage,
    /// What is worth knowing besides: what git brought back, what was left in the workspace.
    pub notes: Vec<String>,
}

impl Finished {
    /// A run of which nothing else is known.
    pub fn new(outcome: Outcome, sandbox: SandboxType) -> Self {
        Self {
            outcome,
            output: Output::default(),
            enforcement: Enforcement::new(),
            sandbox,
            duration: Duration::ZERO,
            usage: Usage::default(),
            notes: Vec::new(),
        }
    }
}
