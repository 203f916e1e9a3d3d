//! Where nobody can say yet who owns a file, no file is used.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::error::{ConfigError, FileProblem};

pub(super) fn own_uid() -> u32 {
    0
}

#[derive(Debug)]
pub(super) struct Directory {
    pub(super) path: PathBuf,
}

impl Directory {
    pub(super) fn open(path: &Path) -> Result<Option<Self>, ConfigError> {
        match path.symlink_metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            _ => Err(ConfigError::file(path, FileProblem::Unsupported)),
        }
    }

    pub(super) fn below(&self, name: &str) -> Result<Option<Self>, ConfigError> {
        Self::open(&self.path.join(name))
    }

    pub(super) fn check(&self, _: &[u32]) -> Result<(), ConfigError> {
        Err(ConfigError::file(&self.path, FileProblem::Unsupported))
    }

    pub(super) fn read(
        &self,
        _: &OsStr,
        _: &[u32],
        _: usize,
    ) -> Result<Option<Vec<u8>>, ConfigError> {
        Err(ConfigError::file(&self.path, FileProblem::Unsupported))
    }

    pub(super) fn read_whosever(
        &self,
        _: &OsStr,
        _: usize,
    ) -> Result<Option<Vec<u8>>, ConfigError> {
        Err(ConfigError::file(&self.path, FileProblem::Unsupported))
    }

    pub(super) fn read_beneath(&self, _: &Path, _: usize) -> Result<Option<Vec<u8>>, ConfigError> {
        Err(ConfigError::file(&self.path, FileProblem::Unsupported))
    }
}
