//! Which file the name of a program means, and whether it is still that file.
//!
//! Names are looked up as the command itself will be looked up when it is started: with the command's own `PATH`, from
//! the command's own directory, in the same order, with the same answer where nothing can be run.

#[cfg(unix)]
mod judged;
mod known;
mod search;
mod seen;
#[cfg(windows)]
mod windows;

use std::ffi::OsString;
use std::path::PathBuf;

#[cfg(unix)]
pub use judged::{Judged, resolve};
pub use known::PathPrograms;
pub use search::DEFAULT_PATH;
pub use seen::{Seen, SeenDirectory};
#[cfg(windows)]
pub(crate) use windows::{HeldDirectory, HeldProgram, resolve_for};
#[cfg(windows)]
pub use windows::{Judged, resolve};

/// Why the name of a program leads to no file that can be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// There is no name.
    #[error("the command has no program")]
    Empty,
    /// The name holds a NUL, so that no file can have it.
    #[error("the program {program:?} holds a NUL")]
    Nul {
        /// As it was asked for.
        program: OsString,
    },
    /// The directory of the command is not absolute, so that relative names mean nothing.
    #[error("the command's directory {cwd:?} is not absolute; give the whole path")]
    RelativeDirectory {
        /// The directory.
        cwd: PathBuf,
    },
    /// There is no such file.
    #[error("{program:?} was not found{}", searched(.in_path))]
    NotFound {
        /// As it was asked for.
        program: OsString,
        /// Whether the search path was asked.
        in_path: bool,
    },
    /// There is a file, but it cannot be run: a directory, or one without permission.
    #[error("{path:?} is there, but cannot be run; make it executable or name another")]
    NotExecutable {
        /// The first such file.
        path: PathBuf,
    },
    /// It is a batch file, which only Windows knows.
    #[error(
        "{path:?} is a batch file, and cmd.exe would read its arguments as commands; run cmd.exe with a line that you wrote \
         for it, or the program that the batch file starts"
    )]
    BatchFile {
        /// The file.
        path: PathBuf,
    },
    /// The system does not say.
    #[error("{path:?}: {source}")]
    Unknown {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file or directory is no longer the one that was judged.
    #[error("{path:?} is not what was judged; run the command again to have it judged anew")]
    Changed {
        /// The file or directory.
        path: PathBuf,
    },
}

fn searched(in_path: &bool) -> &'static str {
    if *in_path {
        " in the command's search path"
    } else {
        ""
    }
}

impl ProgramError {
    /// The error number that execvp would have given, where there is one.
    #[cfg(unix)]
    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::NotFound { .. } | Self::Empty => Some(libc::ENOENT),
            Self::NotExecutable { .. } => Some(libc::EACCES),
            Self::Unknown { source, .. } => source.raw_os_error(),
            Self::Nul { .. } => Some(libc::EINVAL),
            Self::RelativeDirectory { .. } | Self::BatchFile { .. } | Self::Changed { .. } => None,
        }
    }

    /// The error of Windows that says the same, where there is one.
    #[cfg(windows)]
    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        match self {
            // File not found.
            Self::NotFound { .. } | Self::Empty => Some(2),
            // Access denied.
            Self::NotExecutable { .. } => Some(5),
            Self::Unknown { source, .. } => source.raw_os_error(),
            // Invalid name.
            Self::Nul { .. } => Some(123),
            Self::RelativeDirectory { .. } | Self::BatchFile { .. } | Self::Changed { .. } => None,
        }
    }
}
