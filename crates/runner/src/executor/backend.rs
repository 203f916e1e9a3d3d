//! How each mode makes a command of a request.

use std::path::{Path, PathBuf};

use palisade_policy::SandboxTransformError;

use super::error::{ExecError, RunError};
use super::request::{ExecParams, ExecutionMode};

/// A command that is ready to be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prepared {
    /// What runs.
    pub params: ExecParams,
    /// What it reads; `None` is nothing.
    pub stdin: Option<Vec<u8>>,
}

/// What differs between modes.
pub trait ExecutionBackend: Sync {
    /// The command that runs. `helper` is the program that applies patches.
    ///
    /// # Errors
    /// There is nothing to run.
    fn prepare(
        &self,
        params: ExecParams,
        mode: &ExecutionMode,
        helper: Option<&Path>,
    ) -> Result<Prepared, ExecError>;

    /// Whether output is sent while it runs.
    fn stream_stdout(&self) -> bool;
}

/// The backend of a mode.
#[must_use]
pub const fn backend_for_mode(mode: &ExecutionMode) -> &'static dyn ExecutionBackend {
    match mode {
        ExecutionMode::Shell => &ShellBackend,
        ExecutionMode::ApplyPatch(_) => &ApplyPatchBackend,
    }
}

struct ShellBackend;

impl ExecutionBackend for ShellBackend {
    fn prepare(
        &self,
        params: ExecParams,
        mode: &ExecutionMode,
        _: Option<&Path>,
    ) -> Result<Prepared, ExecError> {
        match mode {
            ExecutionMode::Shell => {}
            ExecutionMode::ApplyPatch(_) => return Err(wrong_mode()),
        }
        match params.command.first() {
            Some(program) if !program.is_empty() => Ok(Prepared {
                params,
                stdin: None,
            }),
            _ => Err(RunError::EmptyCommand.into()),
        }
    }

    fn stream_stdout(&self) -> bool {
        true
    }
}

struct ApplyPatchBackend;

impl ExecutionBackend for ApplyPatchBackend {
    /// A program of ours, with an empty environment: nothing of the caller's steers it.
    fn prepare(
        &self,
        params: ExecParams,
        mode: &ExecutionMode,
        helper: Option<&Path>,
    ) -> Result<Prepared, ExecError> {
        let ExecutionMode::ApplyPatch(patch) = mode else {
            return Err(wrong_mode());
        };
        let missing = || RunError::from(SandboxTransformError::MissingSandboxExecutable);
        let helper = helper.ok_or_else(missing)?;
        Ok(Prepared {
            params: ExecParams {
                command: patch.command(PathBuf::from(helper)),
                env: palisade_policy::Environment::new(),
                ..params
            },
            stdin: Some(patch.stdin()?),
        })
    }

    fn stream_stdout(&self) -> bool {
        false
    }
}

fn wrong_mode() -> ExecError {
    ExecError::rejection("the backend of one mode was given a request of another")
}
