//! Why a record was not kept.

use std::path::PathBuf;

/// Why the audit file cannot be used, or a record was not kept. The run is not affected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The file system is full, or the file has reached a limit.
    #[error("there is no room for the audit file {}: {source}; make room, or rotate earlier", .path.display())]
    NoSpace {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file or its directory is not what it must be.
    #[error("the audit file {} is not used: {problem}", .path.display())]
    Untrusted {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it, and what would help.
        problem: &'static str,
    },
    /// A command in the sandbox could change the file.
    #[error("the audit file {} could be written from the sandbox: {clause}; keep it outside the writable roots", .path.display())]
    WritableFromSandbox {
        /// The file, or the directory above it that could be moved.
        path: PathBuf,
        /// The clause that allows it.
        clause: String,
    },
    /// The system refused something else.
    #[error("{doing} the audit file {}: {source}", .path.display())]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A record cannot be written as JSON.
    #[error("a record has no JSON form: {0}")]
    Encode(String),
    /// There is no audit file on this system yet.
    #[error("audit files are not supported on this system; give a sink of your own")]
    Unsupported,
}

impl AuditError {
    /// An error of the system, told apart by what would help.
    #[cfg(unix)]
    pub(super) fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
        source: std::io::Error,
    ) -> Self {
        use std::io::ErrorKind;
        let path = path.into();
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::NoSpace { path, source }
            }
            _ => Self::Io {
                doing,
                path,
                source,
            },
        }
    }
}
