//! Patches, which a program of ours applies in the sandbox.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use palisade_policy::{
    AbsolutePath, Access, Permission, Place, PolicyContext, RelativePath, ResolvedPolicy,
};
use sha2::{Digest as _, Sha256};

use super::config::{ExecutorConfig, Foundation};
use super::error::{ExecError, RunError};
use crate::host::{Host, real_path};
use crate::launch::Placed;
use crate::patch::command::{ARGUMENT, ApplyRequest};
use crate::patch::{FileChange, ParseProblem, Patch};

/// A unified diff to apply, all of it or nothing. Its paths are relative to the directory of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApplyPatch {
    /// The diff.
    pub patch: Vec<u8>,
    /// Whether a person approved this very patch already.
    pub explicitly_approved: bool,
}

impl ApplyPatch {
    /// A diff that nobody approved yet.
    #[must_use]
    pub fn new(patch: impl Into<Vec<u8>>) -> Self {
        Self {
            patch: patch.into(),
            explicitly_approved: false,
        }
    }

    /// The same, which a person approved.
    #[must_use]
    pub fn approved(self) -> Self {
        Self {
            explicitly_approved: true,
            ..self
        }
    }

    /// The command of the program that applies it.
    pub(super) fn command(helper: &Path) -> Vec<OsString> {
        vec![helper.into(), ARGUMENT.into()]
    }

    /// What the patch changes; `None` if that is nothing.
    ///
    /// # Errors
    /// It is no patch; the model is told what is wrong with it.
    pub(super) fn read(&self) -> Result<Option<Patch>, ExecError> {
        match Patch::parse(&self.patch) {
            Ok(patch) => Ok(Some(patch)),
            Err(error) if error.problem == ParseProblem::Empty => Ok(None),
            Err(error) => Err(ExecError::rejection(error.to_string())),
        }
    }
}

/// A short name for the content of a patch, which no other content has.
pub(super) fn digest(patch: &[u8]) -> String {
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(patch) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// What the program that applies a patch reads: the patch, and the policy of its very place. So a grant for this run
/// counts for it, too, and what was approved without a sandbox is held to none.
pub(super) fn request_for(
    patch: &[u8],
    cwd: &Path,
    host: &Host,
    placed: &Placed,
) -> Result<Vec<u8>, RunError> {
    let context = PolicyContext::new(host.facts.clone(), placed.policy_cwd.clone())
        .with_home_root(placed.home_root);
    let base = AbsolutePath::new(cwd).map_err(|error| setup(&error))?;
    let policy = host.guard_other_home(placed.policy.clone());
    ApplyRequest::new(policy, context, base, patch.to_vec())
        .to_bytes()
        .map_err(|error| setup(&error))
}

fn setup(error: &dyn std::fmt::Display) -> RunError {
    crate::outcome::SetupFailure::new("patch request", None, error.to_string()).into()
}

/// Whether the policy lets everything be changed that a patch changes.
///
/// A path is judged as it is written and as it is without symbolic links: both must be writable.
///
/// # Errors
/// The policy makes no sense on this host.
pub(super) fn every_path_writable(
    patch: &Patch,
    base: &AbsolutePath,
    foundation: &Foundation,
    config: &ExecutorConfig,
) -> Result<bool, ExecError> {
    let host = &foundation.host;
    let context = PolicyContext::new(host.facts.clone(), config.sandbox_cwd.clone())
        .with_home_root(foundation.home_root);
    let policy = host
        .guard_other_home(config.sandbox_policy.clone())
        .resolve(&context)
        .map_err(RunError::from)?;
    Ok(patch.changes().all(|change| {
        let written = |path: &RelativePath| Some(base.join(path));
        let real = |path: &RelativePath| without_links(&base.join(path));
        permits(&policy, change, written) && permits(&policy, change, real)
    }))
}

fn permits(
    policy: &ResolvedPolicy,
    change: &FileChange,
    place: impl Fn(&RelativePath) -> Option<AbsolutePath>,
) -> bool {
    let accesses = match change {
        FileChange::Create(path) => place(path).map(|path| vec![Access::Create(path)]),
        FileChange::Modify(path) => place(path).map(|path| vec![Access::Write(path)]),
        FileChange::Delete(path) => place(path).map(|path| vec![Access::Delete(path)]),
        FileChange::Rename { from, to } => place(from)
            .zip(place(to))
            .map(|(from, to)| vec![Access::Rename { from, to }]),
        FileChange::Copy { from, to } => place(from)
            .zip(place(to))
            .map(|(from, to)| vec![Access::Read(from), Access::Create(to)]),
    };
    let on_the_host = |access: &Access| {
        let permission = policy.permits(access).permission;
        permission == Permission::Allowed(Place::Host)
    };
    accesses.is_some_and(|accesses| accesses.iter().all(on_the_host))
}

/// The path without symbolic links in the part of it that exists.
fn without_links(path: &AbsolutePath) -> Option<AbsolutePath> {
    let mut missing = Vec::new();
    let mut existing = path.as_path();
    loop {
        if let Ok(real) = real_path(existing) {
            let whole = missing
                .iter()
                .rev()
                .fold(real, |whole, name| whole.join(name));
            return AbsolutePath::new(whole).ok();
        }
        // A link to nowhere is there, and leads where nobody knows.
        if existing.symlink_metadata().is_ok() {
            return None;
        }
        missing.push(existing.file_name()?);
        existing = existing.parent()?;
    }
}
