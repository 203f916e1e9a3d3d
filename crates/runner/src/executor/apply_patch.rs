//! Patches, which a program of ours applies in the sandbox.

use std::ffi::OsString;
use std::path::PathBuf;

use super::error::ExecError;

/// A patch to apply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApplyPatch {
    request: Vec<u8>,
    /// Whether a person approved this very patch.
    pub explicitly_approved: bool,
}

impl ApplyPatch {
    pub(super) fn command(&self, helper: PathBuf) -> Vec<OsString> {
        vec![helper.into_os_string(), "--palisade-apply-patch".into()]
    }

    pub(super) fn stdin(&self) -> Result<Vec<u8>, ExecError> {
        Ok(self.request.clone())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.request.is_empty()
    }

    pub(super) fn every_path_writable(
        &self,
        _: &crate::host::Host,
        _: &super::config::ExecutorConfig,
    ) -> Result<bool, ExecError> {
        Ok(false)
    }
}
