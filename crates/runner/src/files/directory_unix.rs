//! A directory that is held by its descriptor, and what can be done with the names in it. No link is ever followed.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use palisade_policy::AbsolutePath;
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use super::content::FileKind;
use super::strength::Strength;

/// What tells two files apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

/// What is known about a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) kind: FileKind,
    pub(super) identity: Identity,
    pub(super) len: u64,
    pub(super) links: u64,
    permissions: Mode,
    owner: (u32, u32),
    modified: (i64, i64),
}

impl Found {
    #[expect(
        clippy::unnecessary_cast,
        clippy::cast_sign_loss,
        reason = "the fields of a stat differ in width from system to system, and none is negative"
    )]
    fn of(stat: &Stat) -> Self {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => FileKind::File,
            FileType::Directory => FileKind::Directory,
            FileType::Symlink => FileKind::Link,
            FileType::Fifo => FileKind::Pipe,
            FileType::Socket => FileKind::Socket,
            FileType::CharacterDevice | FileType::BlockDevice => FileKind::Device,
            _ => FileKind::Other,
        };
        Self {
            kind,
            identity: Identity {
                device: stat.st_dev as u64,
                inode: stat.st_ino as u64,
            },
            len: stat.st_size as u64,
            links: stat.st_nlink as u64,
            permissions: Mode::from_raw_mode(stat.st_mode) & (Mode::RWXU | Mode::RWXG | Mode::RWXO),
            owner: (stat.st_uid, stat.st_gid),
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        }
    }

    pub(super) const fn executable(&self) -> bool {
        self.permissions.contains(Mode::XUSR)
    }

    /// Whether it is the same file with, as far as times tell, the same content.
    pub(super) fn unchanged(&self, now: &Self) -> bool {
        self.identity == now.identity && self.modified == now.modified && self.len == now.len
    }
}

/// What a file that is made has of another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Making<'a> {
    /// Nothing: the usual permissions.
    New { executable: bool },
    /// Permissions and owner; `executable` changes only those that concern executing.
    Like {
        old: &'a Found,
        executable: Option<bool>,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Directory(Arc<OwnedFd>);

const PATH_ONLY: OFlags = directory_flags();

const fn directory_flags() -> OFlags {
    let flags = OFlags::DIRECTORY
        .union(OFlags::NOFOLLOW)
        .union(OFlags::CLOEXEC);
    #[cfg(target_os = "linux")]
    let flags = flags.union(OFlags::PATH);
    flags
}

/// The best that this system does.
pub(super) fn strongest() -> Strength {
    #[cfg(target_os = "linux")]
    {
        // An old kernel has no such call, and some filters pretend to be one.
        match open_in_one_call(OsStr::new(".")) {
            Ok(_) => Strength::Kernel,
            Err(_) => Strength::Stepwise,
        }
    }
    #[cfg(not(target_os = "linux"))]
    Strength::Stepwise
}

#[cfg(target_os = "linux")]
fn open_in_one_call(below_root: &OsStr) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;

    let root = rustix::fs::open("/", PATH_ONLY, Mode::empty())?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(&root, below_root, PATH_ONLY, Mode::empty(), resolve)
}

fn open_stepwise(path: &AbsolutePath) -> Result<OwnedFd, Errno> {
    let mut reached = rustix::fs::open("/", PATH_ONLY, Mode::empty())?;
    for name in path.as_path().iter().skip(1) {
        reached = rustix::fs::openat(&reached, name, PATH_ONLY, Mode::empty())?;
    }
    Ok(reached)
}

impl Directory {
    /// The directory at a path, with no link on the way: that is an error which [`is_link_error`] tells.
    pub(super) fn open(path: &AbsolutePath, strength: Strength) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if strength == Strength::Kernel {
            let below = path.as_path().strip_prefix("/").map_err(io::Error::other)?;
            let below = match below.as_os_str() {
                empty if empty.is_empty() => OsStr::new("."),
                below => below,
            };
            return Ok(Self(Arc::new(open_in_one_call(below)?)));
        }
        let _ = strength;
        Ok(Self(Arc::new(open_stepwise(path)?)))
    }

    pub(super) fn identity(&self) -> io::Result<Identity> {
        Ok(Found::of(&rustix::fs::fstat(&*self.0)?).identity)
    }

    /// What a name is; `None` if there is none.
    pub(super) fn look(&self, name: &OsStr) -> io::Result<Option<Found>> {
        match rustix::fs::statat(&*self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Found::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn read_link(&self, name: &OsStr) -> io::Result<PathBuf> {
        let target = rustix::fs::readlinkat(&*self.0, name, Vec::new())?;
        Ok(std::ffi::OsString::from_vec(target.into_bytes()).into())
    }

    /// Whether a link leads where its text does not say: only links of `/proc` do.
    pub(super) fn is_magic(&self, name: &OsStr) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;

            if !self.is_of_processes()? {
                return Ok(false);
            }
            // What cannot be told here is better left alone: only links that lead to something plain are followed.
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            let resolve = ResolveFlags::NO_MAGICLINKS;
            let opened = rustix::fs::openat2(&*self.0, name, flags, Mode::empty(), resolve);
            Ok(!matches!(opened, Ok(_) | Err(Errno::NOENT | Errno::ACCESS)))
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = name;
            Ok(false)
        }
    }

    /// Whether this is a directory of `/proc`.
    pub(super) fn is_of_processes(&self) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        {
            Ok(rustix::fs::fstatfs(&*self.0)?.f_type == rustix::fs::PROC_SUPER_MAGIC)
        }
        #[cfg(not(target_os = "linux"))]
        Ok(false)
    }

    /// Opens a file for reading; the caller checks what it got.
    pub(super) fn open_file(&self, name: &OsStr) -> io::Result<(File, Found)> {
        self.open_with(name, OFlags::RDONLY)
    }

    /// Opens a file for changing its content in place; the caller checks what it got.
    pub(super) fn open_in_place(&self, name: &OsStr) -> io::Result<(File, Found)> {
        self.open_with(name, OFlags::WRONLY)
    }

    fn open_with(&self, name: &OsStr, flags: OFlags) -> io::Result<(File, Found)> {
        // A pipe that somebody put there must not make us wait, nor a terminal become ours.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&*self.0, name, flags, Mode::empty())?;
        let found = Found::of(&rustix::fs::fstat(&opened)?);
        Ok((File::from(opened), found))
    }

    /// Makes a file that is not there yet, and says whether it has the owner that it should have.
    pub(super) fn create_file(&self, name: &OsStr, making: Making<'_>) -> io::Result<(File, bool)> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let first = match making {
            Making::New { executable: false } => 0o666,
            Making::New { executable: true } => 0o777,
            // Until its content is there and its permissions are those of the old one, it is nobody else's.
            Making::Like { .. } => 0o600,
        };
        let made = rustix::fs::openat(&*self.0, name, flags, Mode::from_raw_mode(first))?;
        let mut owner_kept = true;
        if let Making::Like { old, executable } = making {
            let mine = Found::of(&rustix::fs::fstat(&made)?);
            let mut allowed = old.permissions;
            if mine.owner != old.owner {
                let (user, group) = (Uid::from_raw(old.owner.0), Gid::from_raw(old.owner.1));
                owner_kept = rustix::fs::fchown(&made, Some(user), Some(group)).is_ok();
                if !owner_kept && rustix::fs::fchown(&made, None, Some(group)).is_err() {
                    allowed = for_another_group(allowed);
                }
            }
            let all = Mode::XUSR | Mode::XGRP | Mode::XOTH;
            let permissions = match executable {
                None => allowed,
                Some(true) => allowed | executable_for_readers(allowed),
                Some(false) => allowed - all,
            };
            rustix::fs::fchmod(&made, permissions)?;
        }
        Ok((File::from(made), owner_kept))
    }

    pub(super) fn create_dir(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(
            &*self.0,
            name,
            Mode::from_raw_mode(0o777),
        )?)
    }

    /// Moves a name over whatever is there.
    pub(super) fn rename_over(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&*self.0, from, &*self.0, to)?)
    }

    /// Moves a name to where nothing is.
    pub(super) fn rename_new(&self, from: &OsStr, target: &Self, to: &OsStr) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        {
            use rustix::fs::RenameFlags;

            let flags = RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(&*self.0, from, &*target.0, to, flags) {
                Err(Errno::INVAL | Errno::NOSYS) => {}
                done => return Ok(done?),
            }
        }
        // Some file systems cannot. A second name is refused where there is one already, which is as good; a directory
        // can have none, so for it a moment is left in which an empty directory could be replaced.
        match self.look(from)? {
            Some(found) if found.kind != FileKind::Directory => {
                rustix::fs::linkat(&*self.0, from, &*target.0, to, AtFlags::empty())?;
                self.remove_file(from)
            }
            _ if target.look(to)?.is_some() => Err(Errno::EXIST.into()),
            _ => Ok(rustix::fs::renameat(&*self.0, from, &*target.0, to)?),
        }
    }

    /// Exchanges what two names mean; `false` if this system or file system cannot.
    pub(super) fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<bool> {
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        {
            use rustix::fs::RenameFlags;

            let flags = RenameFlags::EXCHANGE;
            match rustix::fs::renameat_with(&*self.0, one, &*self.0, other, flags) {
                Ok(()) => Ok(true),
                Err(Errno::INVAL | Errno::NOSYS) => Ok(false),
                Err(error) => Err(error.into()),
            }
        }
        #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
        {
            let _ = (one, other);
            Ok(false)
        }
    }

    pub(super) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&*self.0, name, AtFlags::empty())?)
    }

    pub(super) fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&*self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Makes what was done to names last. A directory that may not be read cannot be told to, and is left to itself.
    pub(super) fn sync(&self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if let Ok(readable) = rustix::fs::openat(&*self.0, ".", flags, Mode::empty()) {
            let _ = rustix::fs::fsync(&readable);
        }
    }
}

/// What the old group could do is not for the members of another: they get only what everybody has.
fn for_another_group(permissions: Mode) -> Mode {
    let pairs = [
        (Mode::RGRP, Mode::ROTH),
        (Mode::WGRP, Mode::WOTH),
        (Mode::XGRP, Mode::XOTH),
    ];
    let everybodys = pairs
        .into_iter()
        .filter(|(group, other)| permissions.contains(*group | *other));
    (permissions - Mode::RWXG) | everybodys.map(|(group, _)| group).collect::<Mode>()
}

/// Whoever may read it may execute it, as git does.
fn executable_for_readers(permissions: Mode) -> Mode {
    let pairs = [
        (Mode::RUSR, Mode::XUSR),
        (Mode::RGRP, Mode::XGRP),
        (Mode::ROTH, Mode::XOTH),
    ];
    let readers = pairs
        .into_iter()
        .filter(|(read, _)| permissions.contains(*read));
    readers.map(|(_, execute)| execute).collect()
}

/// Whether opening a directory failed because of a link, or of something else that is no directory.
pub(super) fn is_link_error(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::LOOP | Errno::NOTDIR | Errno::XDEV))
}

/// Whether the system said so because the tree changed under its hands.
pub(super) fn is_race(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::AGAIN | Errno::LOOP | Errno::STALE))
}

/// The identity of whatever a path of the policy leads to, links followed: only to compare with.
pub(super) fn identity_behind(path: &AbsolutePath) -> Option<Identity> {
    let stat = rustix::fs::stat(path.as_path()).ok()?;
    Some(Found::of(&stat).identity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_not_handed_to_another_group() {
        let mode = Mode::from_raw_mode;
        for (before, after) in [
            (0o640, 0o600),
            (0o664, 0o644),
            (0o755, 0o755),
            (0o770, 0o700),
            (0o606, 0o606),
        ] {
            assert_eq!(for_another_group(mode(before)), mode(after), "{before:o}");
        }
        for (before, after) in [(0o644, 0o111), (0o600, 0o100), (0o222, 0)] {
            assert_eq!(
                executable_for_readers(mode(before)),
                mode(after),
                "{before:o}"
            );
        }
    }
}
