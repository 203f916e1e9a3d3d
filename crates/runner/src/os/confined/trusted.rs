//! What a session stands on: the helper, and the directory of the policy.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use palisade_policy::WorkspaceRoot;

use crate::outcome::SetupFailure;

/// Makes sure that a helper is the file that this program used first. It is started without a sandbox: one that a command
/// put in its place would run as that command likes.
pub(super) fn helper_is_same(program: &Path) -> Result<(), SetupFailure> {
    type Identity = (u64, u64, i64, i64, u64, Option<(i64, i64)>);
    static KNOWN: Mutex<BTreeMap<PathBuf, Identity>> = Mutex::new(BTreeMap::new());
    let Ok(found) = fs::metadata(program) else {
        // Whoever starts it says what is missing.
        return Ok(());
    };
    // The time of the last change of any kind tells most, but each new name for a file is a change: where it has several,
    // others make and remove them.
    let changed = (found.ctime(), found.ctime_nsec());
    let now = (
        found.dev(),
        found.ino(),
        found.mtime(),
        found.mtime_nsec(),
        found.len(),
        (found.nlink() == 1).then_some(changed),
    );
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let first = *known.entry(program.to_owned()).or_insert(now);
    match first == now {
        true => Ok(()),
        false => Err(SetupFailure::new(
            "checking the sandbox helper",
            None,
            format!(
                "the sandbox helper {} is not the file that this program used before; if you replaced it, start this \
                 program again",
                program.display()
            ),
        )),
    }
}

/// The directory that a policy is resolved against, without links.
pub(super) fn real(cwd: &WorkspaceRoot) -> Result<WorkspaceRoot, SetupFailure> {
    let step = "resolving the policy";
    let path = cwd.path().as_path();
    let real = fs::canonicalize(path).map_err(|error| {
        let message = format!("the directory of the policy {}: {error}", path.display());
        SetupFailure::new(step, error.raw_os_error(), message)
    })?;
    WorkspaceRoot::new(real).map_err(|error| SetupFailure::new(step, None, error.to_string()))
}
