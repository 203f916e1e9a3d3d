//! The directories in which what decides about commands is kept: they must be the user's alone.

use std::path::{Path, PathBuf};

use palisade::runner::host::Host;

use super::finding::Finding;
use crate::say::shown;

/// What is known about the directories of configuration and state.
pub(super) fn findings(host: &Host) -> Vec<Option<Finding>> {
    [
        ("config", &host.config_dir, "policy files"),
        ("state", &host.state_dir, "approvals, trust and records"),
    ]
    .into_iter()
    .map(|(name, directory, holds)| {
        let Some(directory) = directory else {
            return Some(
                Finding::gap(name, format!("no directory is known for {holds}"))
                    .costs("nothing is remembered from one run to the next")
                    .mended_by("set HOME"),
            );
        };
        let place = shown(directory);
        if !directory.exists() {
            return Some(Finding::fine(name, format!("{place} (not there yet)")));
        }
        Some(match others_write(directory) {
            Some(open) => {
                let open = shown(&open);
                Finding::gap(name, format!("others can write {open}"))
                    .costs(format!("whoever can write there decides about {holds}"))
                    .mended_by(format!("chmod go-w {open}"))
            }
            None => Finding::fine(name, place),
        })
    })
    .collect()
}

/// The first of a path and what is above it that somebody else than this user and root can write.
#[cfg(unix)]
pub(super) fn others_write(path: &Path) -> Option<PathBuf> {
    let own = rustix::process::geteuid().as_raw();
    writable_by_others(path, &[0, own])
}

#[cfg(not(unix))]
pub(super) fn others_write(_: &Path) -> Option<PathBuf> {
    None
}

/// The first of a real path and what is above it that is not owned by one of these users, or that others may write. A
/// directory in which everybody may make files, but touch only their own, is none of the two.
#[cfg(unix)]
pub(super) fn writable_by_others(path: &Path, owners: &[u32]) -> Option<PathBuf> {
    use std::os::unix::fs::MetadataExt as _;
    const OTHERS_WRITE: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let open = real.ancestors().find(|above| {
        std::fs::symlink_metadata(above).is_ok_and(|found| {
            let sticky = found.is_dir() && found.mode() & STICKY != 0;
            !owners.contains(&found.uid()) || (found.mode() & OTHERS_WRITE != 0 && !sticky)
        })
    });
    open.map(Path::to_owned)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_others_can_write_is_found_also_above() {
        let house = tempfile::tempdir_in("/var/tmp").unwrap();
        let inner = house.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        let file = inner.join("file");
        fs::write(&file, "").unwrap();
        let own = rustix::process::geteuid().as_raw();
        assert_eq!(writable_by_others(&file, &[0, own]), None);
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap()
        };
        let real = |path: &Path| fs::canonicalize(path).ok();
        let middle = house.path().join("a");
        mode(&middle, 0o777);
        assert_eq!(writable_by_others(&file, &[0, own]), real(&middle));
        mode(&middle, 0o1777);
        assert_eq!(writable_by_others(&file, &[0, own]), None);
        mode(&file, 0o664);
        assert_eq!(writable_by_others(&file, &[0, own]), real(&file));
        assert_eq!(
            writable_by_others(&file, &[own + 1]),
            real(&file),
            "somebody else's"
        );
    }
}
