//! Why nothing at all was imported.

use std::io;
use std::path::PathBuf;

/// Why nothing at all was imported. What is refused singly is in the [report](super::ImportReport).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The git directory of a work tree is neither the common one nor `worktrees/NAME` below it.
    #[error("{} is not a work tree's git directory of {}", git_dir.display(), common_dir.display())]
    Layout {
        /// The common directory.
        common_dir: PathBuf,
        /// The other.
        git_dir: PathBuf,
    },
    /// The repository is kept in a way that is not supported.
    #[error("the repository is not supported: {0}")]
    Unsupported(&'static str),
    /// A file or directory of the host could not be used.
    #[error("{}: {source}", path.display())]
    Host {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The session's view could not be opened.
    #[error("the session's git directory cannot be read: {0}")]
    Session(String),
    /// git is not one that may be run.
    #[error("{} is not a git that can be trusted: {why}", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// Why.
        why: &'static str,
    },
    /// git could not be started.
    #[error("{} cannot be started: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// git failed where it must not.
    #[error("git {command} failed: {message}")]
    Git {
        /// Which command.
        command: &'static str,
        /// The last line that it wrote, escaped.
        message: String,
    },
    /// git, or the import as a whole, took too long.
    #[error("git {command} was ended after its time")]
    Timeout {
        /// Which command.
        command: &'static str,
    },
}

impl ImportError {
    pub(super) fn host(path: impl Into<PathBuf>, source: impl Into<io::Error>) -> Self {
        Self::Host {
            path: path.into(),
            source: source.into(),
        }
    }
}
