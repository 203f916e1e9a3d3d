//! Why a launch failed: a step and an error number, never a guess from an exit code.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

use super::explain::Explanation;
use crate::step::Step;
use crate::wire::Failure;

/// A session or command that was not started. Nothing ran.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The helper could not be started.
    #[error("the sandbox helper {} could not be started: {source}", program.display())]
    Helper {
        /// Which.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A step failed.
    #[error("{step}{} failed: {source}", at(path.as_ref()))]
    Step {
        /// Which step.
        step: Step,
        /// At which path, if it is about one.
        path: Option<PathBuf>,
        /// The system's error.
        source: io::Error,
    },
    /// The session ended before it answered: the helper was killed, or is not Palisade's.
    #[error("the sandbox session ended")]
    SessionLost,
    /// A descriptor that must not be given to a command.
    #[error("descriptor {number} of a command cannot be {what}")]
    Descriptor {
        /// 0, 1 or 2.
        number: u32,
        /// What it is.
        what: &'static str,
    },
    /// The system refused something that the caller's own process needs.
    #[error("{0}")]
    Io(#[from] io::Error),
}

fn at(path: Option<&PathBuf>) -> String {
    path.map(|path| format!(" at {}", path.display()))
        .unwrap_or_default()
}

impl LaunchError {
    pub(crate) fn step(step: Step, errno: i32) -> Self {
        Self::Step {
            step,
            path: None,
            source: io::Error::from_raw_os_error(errno),
        }
    }

    /// Not a conversion, which would be a public one of a type that is not ours.
    pub(crate) fn system(errno: Errno) -> Self {
        Self::Io(errno.into())
    }

    /// What refused, and what would help; `None` if the message says it all.
    #[must_use]
    pub fn explain(&self) -> Option<Explanation> {
        match self {
            Self::Step { step, source, .. } => Explanation::of(*step, source.raw_os_error()?),
            _ => None,
        }
    }
}

impl From<Failure> for LaunchError {
    fn from(failure: Failure) -> Self {
        Self::Step {
            step: failure.step,
            path: failure.path.map(PathBuf::from),
            source: io::Error::from_raw_os_error(failure.errno),
        }
    }
}
