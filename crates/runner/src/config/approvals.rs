//! The file of approvals: what it says is the rule language's business, reading and writing it is ours.

use std::path::{Path, PathBuf};

use palisade_exec_policy::approvals::{
    ApprovalEdit, EditError, MAX_FILE_BYTES, StoredApprovals, apply,
};

use super::error::ConfigError;
use super::kept::KeptFile;

/// The approvals of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalsFile {
    file: KeptFile,
}

impl ApprovalsFile {
    pub(super) fn new(directory: &Path) -> Self {
        Self {
            file: KeptFile::new(directory, "approvals.toml", MAX_FILE_BYTES),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.file.path()
    }

    /// What is kept; nothing, if there is no file.
    ///
    /// # Errors
    /// The file cannot be read, is not the user's own, or is not understood. It is left as it is.
    pub fn read(&self) -> Result<StoredApprovals, ConfigError> {
        let text = self.file.read()?;
        StoredApprovals::parse(&text).map_err(|source| ConfigError::Approvals {
            path: self.path(),
            source: Box::new(source),
        })
    }

    /// Keeps or removes an approval. Says whether that changed anything.
    ///
    /// What another process stores at the same time is kept as well, and whatever happens to this one, the file is
    /// whole.
    ///
    /// # Errors
    /// As [`read`](Self::read); or the approval cannot be kept, or the file not be written. Nothing was changed.
    pub fn store(&self, edit: &ApprovalEdit) -> Result<bool, ConfigError> {
        self.file.update(|text| {
            apply(text, edit).map_err(|source| match source {
                EditError::File(source) => ConfigError::Approvals {
                    path: self.path(),
                    source: Box::new(source),
                },
                source => ConfigError::Edit {
                    path: self.path(),
                    source: Box::new(source),
                },
            })
        })
    }
}
