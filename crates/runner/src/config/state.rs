//! The directory where what people agreed to is kept.

use std::path::{Path, PathBuf};

use super::approvals::ApprovalsFile;
use super::error::ConfigError;
use super::grants::GrantsFile;
use super::trust::TrustFile;
use crate::host::Host;

/// Where approvals, grants and trust are kept: a directory of the user, outside every workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    directory: PathBuf,
}

impl State {
    /// Kept in this directory, which is made when something is kept.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
        }
    }

    /// Kept where the host keeps such things.
    ///
    /// # Errors
    /// The host does not say.
    pub fn of(host: &Host) -> Result<Self, ConfigError> {
        let directory = host.state_dir.clone();
        directory
            .map(Self::new)
            .ok_or(ConfigError::NoStateDirectory)
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Answers and allow rules that people agreed to keep.
    #[must_use]
    pub fn approvals(&self) -> ApprovalsFile {
        ApprovalsFile::new(&self.directory)
    }

    /// What people agreed to open for a project.
    #[must_use]
    pub fn grants(&self) -> GrantsFile {
        GrantsFile::new(&self.directory)
    }

    /// Whose policy files people agreed to.
    #[must_use]
    pub fn trust(&self) -> TrustFile {
        TrustFile::new(&self.directory)
    }

    /// Every file that is kept here, and one that may be kept some day.
    pub(crate) fn files(&self) -> [PathBuf; 4] {
        [
            self.approvals().path(),
            self.grants().path(),
            self.trust().path(),
            self.directory.join("new"),
        ]
    }
}
