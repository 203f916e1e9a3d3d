//! Sockets of the host: the directories that hold them, and each one that is bound to a path.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use palisade_policy::{AbsolutePath, Access, Place, ResolvedPolicy};

use super::kernel_file;
use super::locate::{Locator, child, is_closed, real};
use crate::host::{Entry, SocketDir};

/// More than any host lists.
const MAX_LIST: u64 = 16 << 20;

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

/// Every socket that the kernel lists with a path at which there is one; says how many have a path that means nothing
/// here.
pub(super) fn bound(
    sockets: &mut Vec<AbsolutePath>,
    locator: &mut Locator,
    policy: &ResolvedPolicy,
) -> usize {
    let Ok(list) = kernel_file::read("/proc/net/unix", MAX_LIST) else {
        return 0;
    };
    let (paths, relative) = parse(&list);
    let mut found: BTreeSet<AbsolutePath> = BTreeSet::new();
    for path in paths {
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
        if locator.locate(&path).entry == Entry::Other || closed() {
            found.insert(path);
        }
    }
    *sockets = found.into_iter().collect();
    relative
}

/// The absolute paths in the kernel's list, each once, and how many are relative.
fn parse(list: &[u8]) -> (BTreeSet<&[u8]>, usize) {
    let mut paths = BTreeSet::new();
    let mut relative = BTreeSet::new();
    for line in list.split(|byte| *byte == b'\n').skip(1) {
        match path_of(line) {
            Some([b'/', ..]) => {
                paths.extend(path_of(line));
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
            [b"/run/a b\xff.sock".as_slice()]
        );
        assert_eq!(relative, 1);
    }

    #[test]
    fn a_broken_list_yields_nothing() {
        assert_eq!(parse(b"Num\n\n \n1 2 3\n").1, 0);
        assert!(parse(b"").0.is_empty());
    }
}
