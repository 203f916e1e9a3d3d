//! Sockets of the host: the directories that hold them, and each one that is bound to a path.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use palisade_policy::{AbsolutePath, Access, Place, ResolvedPolicy};

use super::kernel_file;
use super::locate::{Locator, child, is_closed, real};
use crate::host::{Entry, SocketDir};

/// More than any host lists.
const MAX_LIST: u64 = 16 << 20;

/// More than a directory of sockets holds.
const MAX_ENTRIES: usize = 8192;

/// `/run`, and `/var/run` where that is not a link to it.
pub(super) fn directories(locator: &mut Locator) -> Vec<SocketDir> {
    let mut directories = Vec::new();
    for path in ["/run", "/var/run"] {
        let Ok(path) = AbsolutePath::new(path) else {
            continue;
        };
        let located = locator.locate(&path);
        if located.entry == Entry::Directory && located.real == path {
            directories.push(directory(locator, path));
        }
    }
    directories
}

fn directory(locator: &mut Locator, path: AbsolutePath) -> SocketDir {
    let mut directory = SocketDir::new(path);
    let entries = std::fs::read_dir(directory.path.as_path());
    for entry in entries.into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            continue;
        }
        let Some(link) = child(&directory.path, &entry.file_name()) else {
            continue;
        };
        if let Entry::Symlink {
            target: Some(target),
        } = locator.locate(&link).entry
            && !target.as_path().starts_with(directory.path.as_path())
        {
            directory.links.push((link, target));
        }
    }
    directory.links.sort();
    directory.network_files = real(Path::new("/etc/resolv.conf"))
        .filter(|file| file.as_path().starts_with(directory.path.as_path()))
        .filter(|file| locator.locate(file).entry == Entry::File)
        .into_iter()
        .collect();
    directory
}

/// Every socket that the kernel lists with a path at which there is one, and those beside a path at which it once was; says
/// how many are where nobody can look.
pub(super) fn bound(
    sockets: &mut Vec<AbsolutePath>,
    locator: &mut Locator,
    policy: &ResolvedPolicy,
) -> usize {
    let Ok(list) = kernel_file::read("/proc/net/unix", MAX_LIST) else {
        return 0;
    };
    let (paths, mut unknown) = parse(&list);
    let mut found: BTreeSet<AbsolutePath> = BTreeSet::new();
    let mut moved: BTreeSet<PathBuf> = BTreeSet::new();
    for (path, listed) in paths {
        // A socket can be bound through a link; where it is now is what counts.
        let Some(path) = real(Path::new(OsStr::from_bytes(path))) else {
            continue;
        };
        // In a directory that is closed to us, but not to a command that changes its permissions: masking it will fail,
        // and with it the launch.
        let closed = || {
            is_closed(path.as_path())
                && policy.place(&Access::Write(path.clone())) == Some(Place::Host)
        };
        let entry = locator.locate(&path).entry;
        // It was removed, or moved after it was bound: then it stands under another name. So it may if the kernel lists the
        // name more than once: the second may have been bound when the first was out of the way.
        if entry != Entry::Other && !closed() || listed > 1 {
            moved.extend(path.as_path().parent().map(Path::to_owned));
        }
        if entry == Entry::Other || closed() {
            found.insert(path);
        }
    }
    for directory in moved {
        match sockets_in(&directory) {
            Some(sockets) => found.extend(sockets),
            None => unknown = unknown.saturating_add(1),
        }
    }
    *sockets = found.into_iter().collect();
    unknown
}

/// Every socket in a directory, whatever the kernel calls it: it goes on to list one under the name at which it was
/// bound. `None` if one could be there and not be found.
fn sockets_in(directory: &Path) -> Option<Vec<AbsolutePath>> {
    let entries = match std::fs::read_dir(directory) {
        // What is not there holds nothing; what cannot be entered gives nothing away.
        Err(_) if !can_be_entered(directory) => return Some(Vec::new()),
        entries => entries.ok()?,
    };
    let mut sockets = Vec::new();
    for (number, entry) in entries.flatten().enumerate() {
        if number == MAX_ENTRIES {
            return None;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_socket()) {
            sockets.extend(AbsolutePath::new(entry.path()));
        }
    }
    Some(sockets)
}

fn can_be_entered(directory: &Path) -> bool {
    rustix::fs::access(directory, rustix::fs::Access::EXEC_OK).is_ok()
}

/// The absolute paths in the kernel's list, with how often each is listed, and how many are relative.
pub(super) fn parse(list: &[u8]) -> (BTreeMap<&[u8], usize>, usize) {
    let mut paths: BTreeMap<&[u8], usize> = BTreeMap::new();
    let mut relative = BTreeSet::new();
    for line in list.split(|byte| *byte == b'\n').skip(1) {
        match path_of(line) {
            Some(path @ [b'/', ..]) => {
                let listed = paths.entry(path).or_default();
                *listed = listed.saturating_add(1);
            }
            // Abstract ones belong to the network namespace.
            None | Some([b'@', ..] | []) => {}
            Some(path) => {
                relative.insert(path);
            }
        }
    }
    (paths, relative.len())
}

/// What comes after the seven columns; the path may hold anything, spaces included.
fn path_of(line: &[u8]) -> Option<&[u8]> {
    let mut rest = line;
    for _ in 0..7 {
        rest = rest.trim_ascii_start();
        let end = rest.iter().position(|byte| *byte == b' ')?;
        rest = rest.get(end..)?;
    }
    rest.strip_prefix(b" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_as_bytes_and_once() {
        let list = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 16571 /run/a b\xff.sock\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 16572 /run/a b\xff.sock\n\
            0000000000000000: 00000002 00000000 00010000 0001 01    77 @abstract\n\
            0000000000000000: 00000002 00000000 00010000 0001 01    78 here.sock\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 16573\n";
        let (paths, relative) = parse(list);
        assert_eq!(
            paths.into_iter().collect::<Vec<_>>(),
            [(b"/run/a b\xff.sock".as_slice(), 2)]
        );
        assert_eq!(relative, 1);
    }

    #[test]
    fn a_broken_list_yields_nothing() {
        assert_eq!(parse(b"Num\n\n \n1 2 3\n").1, 0);
        assert!(parse(b"").0.is_empty());
    }
}
