//! The git that works outside of every sandbox: one that nobody but the administrator can change.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Where git is if the search path leads to none that can be trusted.
const USUAL: [&str; 2] = ["/usr/bin/git", "/usr/local/bin/git"];

/// The first git of the search path that lies in a trusted place, links resolved.
pub(super) fn find(search_path: Option<&OsStr>) -> Option<PathBuf> {
    let directories = search_path.map(std::env::split_paths);
    directories
        .into_iter()
        .flatten()
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join("git"))
        .chain(USUAL.into_iter().map(PathBuf::from))
        .filter_map(|program| program.canonicalize().ok())
        .find(|program| is_program(program) && is_trusted(program))
}

/// Whether a file can be run.
#[cfg(unix)]
pub(super) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(super) fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// Whether the superuser owns a real path and everything above it, and nobody else may write there.
#[cfg(unix)]
fn is_trusted(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    path.ancestors().all(|above| {
        std::fs::symlink_metadata(above)
            .is_ok_and(|found| found.uid() == 0 && found.mode() & 0o022 == 0)
    })
}

#[cfg(not(unix))]
fn is_trusted(_: &Path) -> bool {
    false
}
