//! Reads the session's side. Everything there is in the hands of whoever runs in the session, and may change between
//! any two looks: so a thing is opened once, judged by its descriptor, and read up to a limit.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

/// Why a path of the session was not read.
#[derive(Debug)]
pub(super) enum Unread {
    /// There is nothing.
    Missing,
    /// It is a link, a pipe, a device, or a directory in place of a file.
    NotRegular,
    /// It is over the limit.
    TooLarge,
    /// The system refused.
    Failed(io::Error),
}

impl From<Errno> for Unread {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::Missing,
            // A link where none is followed; a file where a directory was wanted; a socket or a device without a
            // driver; a path that leaves the directory or its mount.
            Errno::LOOP | Errno::NOTDIR | Errno::NXIO | Errno::NODEV | Errno::XDEV => {
                Self::NotRegular
            }
            other => Self::Failed(other.into()),
        }
    }
}

/// A directory of which nothing outside is ever reached, and no link followed.
#[derive(Debug)]
pub(super) struct Tree {
    fd: OwnedFd,
}

/// What a name in a directory stands for.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The name.
    pub(super) name: Vec<u8>,
}

impl Tree {
    /// The directory behind a descriptor of the caller.
    pub(super) fn from_fd(fd: BorrowedFd<'_>) -> Result<Self, Unread> {
        // Opened anew, so that listing does not move the caller's own position.
        open(fd, Path::new("."), OFlags::RDONLY | OFlags::DIRECTORY).map(|fd| Self { fd })
    }

    /// The directory at a trusted path.
    pub(super) fn at(path: &Path) -> Result<Self, Unread> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self {
            fd: rustix::fs::open(path, flags, Mode::empty())?,
        })
    }

    /// Its descriptor.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// A directory below.
    pub(super) fn dir(&self, path: &Path) -> Result<Self, Unread> {
        open(self.fd(), path, OFlags::RDONLY | OFlags::DIRECTORY).map(|fd| Self { fd })
    }

    /// A regular file below, and its size.
    pub(super) fn file(&self, path: &Path) -> Result<(File, u64), Unread> {
        let (file, stat) = self.regular(path)?;
        Ok((file, u64::try_from(stat.st_size).unwrap_or(0)))
    }

    /// A regular file below, and what the system says of it.
    pub(super) fn regular(&self, path: &Path) -> Result<(File, Stat), Unread> {
        // Without O_NONBLOCK, opening a pipe waits for its writer.
        let fd = open(self.fd(), path, OFlags::RDONLY | OFlags::NONBLOCK)?;
        let stat = rustix::fs::fstat(&fd)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            Ok((File::from(fd), stat))
        } else {
            Err(Unread::NotRegular)
        }
    }

    /// The bytes of a regular file below, which may be no more than `limit`.
    pub(super) fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, Unread> {
        let (file, size) = self.file(path)?;
        if size > limit {
            return Err(Unread::TooLarge);
        }
        let mut bytes = Vec::new();
        // The file may grow while it is read.
        file.take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(Unread::Failed)?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
            return Err(Unread::TooLarge);
        }
        Ok(bytes)
    }

    /// At most the last `limit` bytes of a regular file below, and its size.
    pub(super) fn tail(&self, path: &Path, limit: u64) -> Result<(Vec<u8>, u64), Unread> {
        let (mut file, size) = self.file(path)?;
        let start = size.saturating_sub(limit);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start))
            .and_then(|_| file.take(size.min(limit)).read_to_end(&mut bytes))
            .map_err(Unread::Failed)?;
        Ok((bytes, size))
    }

    /// What a name below is, without following it; `None` if there is nothing.
    pub(super) fn kind(&self, path: &Path) -> Option<FileType> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW;
        let fd = open(self.fd(), path, flags).ok()?;
        let stat = rustix::fs::fstat(&fd).ok()?;
        Some(FileType::from_raw_mode(stat.st_mode))
    }

    /// What a symbolic link below says, if it is one.
    pub(super) fn link(&self, path: &Path) -> Option<Vec<u8>> {
        let fd = open(self.fd(), path, OFlags::PATH | OFlags::NOFOLLOW).ok()?;
        let target = rustix::fs::readlinkat(&fd, "", Vec::new()).ok()?;
        Some(target.into_bytes())
    }

    /// The names in this directory, sorted, at most `limit` of them, and whether that was all.
    pub(super) fn list(&self, limit: usize) -> Result<(Vec<Entry>, bool), Unread> {
        let mut out = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if out.len() >= limit {
                out.sort_by(|a: &Entry, b: &Entry| a.name.cmp(&b.name));
                return Ok((out, false));
            }
            out.push(Entry {
                name: name.to_vec(),
            });
        }
        out.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((out, true))
    }
}

/// Bytes as a path.
pub(super) fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn open(dir: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Unread> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH
        | ResolveFlags::NO_SYMLINKS
        | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV;
    // EAGAIN: something above the path was renamed meanwhile, and the kernel could not be sure.
    for _ in 0..64 {
        match rustix::fs::openat2(dir, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
    Err(Unread::Failed(Errno::AGAIN.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn tree() -> (tempfile::TempDir, Tree) {
        let tmp = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(tmp.path().join("top/dir")).unwrap();
        std::fs::write(tmp.path().join("top/dir/file"), "0123456789").unwrap();
        std::fs::write(tmp.path().join("outside"), "secret").unwrap();
        let tree = Tree::at(&tmp.path().join("top")).unwrap();
        (tmp, tree)
    }

    #[test]
    fn files_are_read_up_to_the_limit() {
        let (_tmp, tree) = tree();
        let at = Path::new("dir/file");
        assert_eq!(tree.read(at, 10).unwrap(), b"0123456789");
        assert!(matches!(tree.read(at, 9), Err(Unread::TooLarge)));
        assert_eq!(tree.tail(at, 3).unwrap(), (b"789".to_vec(), 10));
        assert!(matches!(
            tree.read(Path::new("none"), 9),
            Err(Unread::Missing)
        ));
        assert!(matches!(
            tree.read(Path::new("dir"), 9),
            Err(Unread::NotRegular)
        ));
    }

    #[test]
    fn no_link_is_followed_wherever_it_stands_or_leads() {
        let (tmp, tree) = tree();
        symlink("dir", tmp.path().join("top/inner")).unwrap();
        symlink("dir/file", tmp.path().join("top/direct")).unwrap();
        symlink("../outside", tmp.path().join("top/out")).unwrap();
        symlink(tmp.path(), tmp.path().join("top/above")).unwrap();
        for at in ["inner/file", "direct", "out", "above/outside"] {
            assert!(
                matches!(tree.read(Path::new(at), 99), Err(Unread::NotRegular)),
                "{at}"
            );
        }
        for at in ["inner", "above"] {
            assert!(
                matches!(tree.dir(Path::new(at)), Err(Unread::NotRegular)),
                "{at}"
            );
        }
        assert_eq!(tree.kind(Path::new("direct")), Some(FileType::Symlink));
        assert_eq!(tree.link(Path::new("out")).unwrap(), b"../outside");
        assert_eq!(tree.link(Path::new("inner/file")), None);
    }

    #[test]
    fn nothing_outside_is_reached() {
        let (tmp, tree) = tree();
        let absolute = tmp.path().join("outside");
        for at in [
            Path::new("../outside"),
            Path::new("dir/../../outside"),
            &absolute,
        ] {
            assert!(matches!(tree.read(at, 99), Err(Unread::NotRegular)));
        }
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let (tmp, tree) = tree();
        let at = tmp.path().join("top/pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &at, Mode::from_raw_mode(0o600)).unwrap();
        assert!(matches!(
            tree.read(Path::new("pipe"), 99),
            Err(Unread::NotRegular)
        ));
    }
}
