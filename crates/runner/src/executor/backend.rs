//! How each mode makes a command of a request.

use std::path::Path;

use palisade_exec_policy::ApprovalPurpose;
use palisade_policy::{CommandSpec, Environment, SandboxTransformError};

use super::apply_patch::ApplyPatch;
use super::error::{ExecError, RunError};
use super::request::{ExecParams, ExecutionMode};
use crate::approve::ApprovalKey;
use crate::program::Seen;

/// A command that is ready to be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prepared {
    /// What runs.
    pub params: ExecParams,
    /// The patch that it is given to read, with the policy of its place; `None` is nothing to read.
    pub patch: Option<Vec<u8>>,
    /// What it led to when it was judged, if somebody looked then.
    pub seen: Option<Seen>,
}

impl Prepared {
    /// Looks at what it leads to now. A patch is applied by a program of ours, which no person is asked about.
    pub(super) fn look(&mut self) {
        if self.patch.is_some() {
            return;
        }
        let (program, args) = match self.params.command.split_first() {
            Some((program, args)) => (program.clone(), args),
            None => return,
        };
        let spec = CommandSpec::new(program)
            .with_args(args)
            .with_cwd(&self.params.cwd)
            .with_env(self.params.env.clone());
        self.seen = Some(Seen::look(&spec));
    }

    /// The key of an approval for this purpose. Without the sandbox, the file of the program counts, too: what runs inside
    /// can write a new one.
    pub(super) fn key_for(&self, key: &ApprovalKey, purpose: ApprovalPurpose) -> ApprovalKey {
        let key = key.clone().with_purpose(purpose);
        match (purpose, &self.seen) {
            (ApprovalPurpose::RunUnsandboxed, Some(seen)) => {
                key.with_details(seen.program_identity())
            }
            _ => key,
        }
    }
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
                patch: None,
                seen: None,
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
                command: ApplyPatch::command(helper),
                env: Environment::new(),
                ..params
            },
            patch: Some(patch.patch.clone()),
            seen: None,
        })
    }

    fn stream_stdout(&self) -> bool {
        false
    }
}

fn wrong_mode() -> ExecError {
    ExecError::rejection("the backend of one mode was given a request of another")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params() -> ExecParams {
        ExecParams::new(["shown"], "/srv/app")
            .with_env([("SECRET".into(), "x".into())].into())
            .with_timeout_ms(9)
    }

    #[test]
    fn a_patch_is_applied_by_the_helper_with_an_empty_environment_and_does_not_stream() {
        let mode = ExecutionMode::ApplyPatch(ApplyPatch::new("--- a\n"));
        let backend = backend_for_mode(&mode);
        let helper = Path::new("/opt/helper");
        let prepared = backend.prepare(params(), &mode, Some(helper)).unwrap();
        assert_eq!(
            prepared.params.command,
            ["/opt/helper", "--palisade-apply-patch"]
        );
        assert!(prepared.params.env.is_empty());
        assert_eq!(prepared.params.timeout_ms, Some(9));
        assert_eq!(prepared.patch.as_deref(), Some(&b"--- a\n"[..]));
        assert!(!backend.stream_stdout());
    }

    #[test]
    fn a_patch_without_a_helper_is_a_missing_executable() {
        let mode = ExecutionMode::ApplyPatch(ApplyPatch::new("--- a\n"));
        let error = backend_for_mode(&mode)
            .prepare(params(), &mode, None)
            .unwrap_err();
        let ExecError::Run(RunError::Transform(error)) = error else {
            panic!("{error:?}");
        };
        assert_eq!(*error, SandboxTransformError::MissingSandboxExecutable);
    }

    #[test]
    fn a_shell_command_is_run_as_it_is_and_streams() {
        let mode = ExecutionMode::Shell;
        let backend = backend_for_mode(&mode);
        let prepared = backend.prepare(params(), &mode, None).unwrap();
        assert_eq!(prepared.params, params());
        assert_eq!(prepared.patch, None);
        assert!(backend.stream_stdout());
    }

    #[test]
    fn a_backend_refuses_requests_of_the_other_mode() {
        let patch = ExecutionMode::ApplyPatch(ApplyPatch::new(""));
        let shell = ExecutionMode::Shell;
        for (backend, mode) in [(&shell, &patch), (&patch, &shell)] {
            let prepared = backend_for_mode(backend).prepare(params(), mode, Some(Path::new("/h")));
            assert!(prepared.is_err());
        }
    }
}
