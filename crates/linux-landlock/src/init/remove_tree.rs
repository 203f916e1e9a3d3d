//! Removes a directory that commands have filled: whatever its permissions, however deep it is, and no step beyond it.

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, chmod, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

/// Removes a directory with everything in it; what cannot be removed stays.
///
/// Directories within directories are moved to the top before they are emptied: neither the stack nor the table of
/// descriptors grows with the depth, which is for commands to choose.
pub(super) fn remove_tree(path: &Path) {
    let Ok(top) = openat(CWD, path, DIRECTORY, Mode::empty()) else {
        return;
    };
    let mut moved = 0_u64;
    loop {
        let mut progress = false;
        for name in names(top.as_fd()) {
            progress |= match kind(top.as_fd(), &name) {
                Some(FileType::Directory) => empty(top.as_fd(), &name, &mut moved),
                _ => unlinkat(&top, &name, AtFlags::empty()).is_ok(),
            };
        }
        if !progress {
            break;
        }
    }
    let _ = unlinkat(CWD, path, AtFlags::REMOVEDIR);
}

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Empties one directory of the top and removes it; says whether anything changed.
fn empty(top: BorrowedFd<'_>, name: &CString, moved: &mut u64) -> bool {
    if unlinkat(top, name, AtFlags::REMOVEDIR).is_ok() {
        return true;
    }
    let Ok(directory) = open_at_any_cost(top, name) else {
        return false;
    };
    let mut progress = false;
    for inner in names(directory.as_fd()) {
        progress |= match kind(directory.as_fd(), &inner) {
            Some(FileType::Directory) => lift(directory.as_fd(), &inner, top, moved),
            _ => unlinkat(&directory, &inner, AtFlags::empty()).is_ok(),
        };
    }
    unlinkat(top, name, AtFlags::REMOVEDIR).is_ok() || progress
}

/// Removes a directory, or moves it to the top under a name that nothing there has.
fn lift(from: BorrowedFd<'_>, name: &CString, top: BorrowedFd<'_>, moved: &mut u64) -> bool {
    if unlinkat(from, name, AtFlags::REMOVEDIR).is_ok() {
        return true;
    }
    // A directory that cannot be written cannot get another parent.
    let _ = open_at_any_cost(from, name);
    for _ in 0..16 {
        *moved = moved.saturating_add(1);
        let Ok(free) = CString::new(format!("palisade-removed-{moved}")) else {
            return false;
        };
        if kind(top, &free).is_none() {
            return renameat(from, name, top, &free).is_ok();
        }
    }
    false
}

/// Opens a directory, and gives its owner every right to it first where one is missing.
fn open_at_any_cost(parent: BorrowedFd<'_>, name: &CString) -> Result<OwnedFd, Errno> {
    let at = openat(
        parent,
        name,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    // By descriptor: a name could mean something else by now, and a link must not lead the change elsewhere.
    let _ = chmod(
        format!("/proc/self/fd/{}", at.as_raw_fd()),
        Mode::from(0o700),
    );
    openat(parent, name, DIRECTORY, Mode::empty())
}

fn names(directory: BorrowedFd<'_>) -> Vec<CString> {
    Dir::read_from(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_owned())
        .filter(|name| ![b".".as_slice(), b".."].contains(&name.as_bytes()))
        .collect()
}

fn kind(directory: BorrowedFd<'_>, name: &CString) -> Option<FileType> {
    let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(FileType::from_raw_mode(stat.st_mode))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use rustix::fs::mkdirat;

    use super::*;

    #[test]
    fn locked_directories_and_links_are_removed_and_nothing_beyond() {
        let base = tempfile::tempdir().unwrap();
        let tree = base.path().join("tree");
        fs::create_dir_all(tree.join("a/b/c")).unwrap();
        fs::create_dir(tree.join("palisade-removed-1")).unwrap();
        fs::write(tree.join("palisade-removed-1/file"), "").unwrap();
        fs::write(tree.join("a/b/c/file"), "").unwrap();
        let kept = base.path().join("kept");
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "").unwrap();
        symlink(&kept, tree.join("a/link")).unwrap();
        symlink(&kept, tree.join("link")).unwrap();
        for locked in ["a/b/c", "a/b", "a"] {
            let none = fs::Permissions::from_mode(0o000);
            fs::set_permissions(tree.join(locked), none).unwrap();
        }
        remove_tree(&tree);
        assert!(!tree.exists());
        assert!(kept.join("file").exists());
    }

    #[test]
    fn depth_does_not_matter() {
        let base = tempfile::tempdir().unwrap();
        let tree = base.path().join("tree");
        fs::create_dir(&tree).unwrap();
        let mut at = openat(CWD, &tree, DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..1200 {
            mkdirat(&at, "d", Mode::from(0o755)).unwrap();
            at = openat(&at, "d", DIRECTORY, Mode::empty()).unwrap();
        }
        remove_tree(&tree);
        assert!(!tree.exists());
    }

    #[test]
    fn what_is_missing_or_a_link_is_left_alone() {
        let base = tempfile::tempdir().unwrap();
        remove_tree(&base.path().join("missing"));
        let kept = base.path().join("kept");
        fs::create_dir(&kept).unwrap();
        let link = base.path().join("link");
        symlink(&kept, &link).unwrap();
        remove_tree(&link);
        assert!(kept.exists() && link.is_symlink());
    }
}
