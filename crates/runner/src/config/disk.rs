//! The file system: what is checked and what is read are the same open file.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;

use super::error::{ConfigError, FileProblem};

/// Never waits for a writer of a pipe, never takes a terminal, never is inherited.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);
const OTHERS_WRITE: Mode = Mode::WGRP.union(Mode::WOTH);
const STICKY: Mode = Mode::SVTX;

/// The user on whose behalf files are read.
pub(super) fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// An open directory.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) fd: OwnedFd,
    pub(super) path: PathBuf,
}

impl Directory {
    /// Opens a directory, links followed; `None` if it is not there.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, ConfigError> {
        Self::finish(
            openat(CWD, path, READ | OFlags::DIRECTORY, Mode::empty()),
            CWD,
            path,
            path,
        )
    }

    /// Opens a directory of this one, which must not be a link.
    pub(super) fn below(&self, name: &str) -> Result<Option<Self>, ConfigError> {
        let path = self.path.join(name);
        let flags = READ | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let opened = openat(&self.fd, name, flags, Mode::empty());
        if is_link(statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)) {
            return Err(ConfigError::file(path, FileProblem::Link));
        }
        Self::finish(opened, self.fd.as_fd(), Path::new(name), &path)
    }

    fn finish(
        opened: Result<OwnedFd, Errno>,
        base: impl std::os::fd::AsFd,
        name: &Path,
        path: &Path,
    ) -> Result<Option<Self>, ConfigError> {
        match opened {
            Ok(fd) => Ok(Some(Self {
                fd,
                path: path.to_owned(),
            })),
            Err(Errno::NOENT) => absent(base, name, path).map(|()| None),
            Err(Errno::NOTDIR) => Err(ConfigError::file(path, FileProblem::NotADirectory)),
            Err(errno) => Err(ConfigError::file(path, std::io::Error::from(errno))),
        }
    }

    /// Refuses a directory in which somebody else could put another file in place of ours.
    pub(super) fn check(&self, owners: &[u32]) -> Result<(), ConfigError> {
        let found = self.stat()?;
        check_owner(&self.path, &found, owners)?;
        // In a sticky directory others cannot replace what is not theirs, and whose a file is, is checked.
        let mode = Mode::from_raw_mode(found.st_mode);
        if mode.intersects(OTHERS_WRITE) && !mode.contains(STICKY) {
            return Err(others_can_write(&self.path, &found));
        }
        Ok(())
    }

    fn stat(&self) -> Result<Stat, ConfigError> {
        fstat(&self.fd).map_err(|errno| ConfigError::file(&self.path, std::io::Error::from(errno)))
    }

    /// Reads a file of this directory, links followed.
    pub(super) fn read(
        &self,
        name: &OsStr,
        owners: &[u32],
        max: usize,
    ) -> Result<Option<Vec<u8>>, ConfigError> {
        let path = self.path.join(name);
        let opened = openat(&self.fd, name, READ, Mode::empty());
        self.take(opened, Path::new(name), &path, Some(owners), max)
    }

    /// Reads a file of this directory, links followed, whoever owns it: for files that decide nothing.
    pub(super) fn read_whosever(
        &self,
        name: &OsStr,
        max: usize,
    ) -> Result<Option<Vec<u8>>, ConfigError> {
        let path = self.path.join(name);
        let opened = openat(&self.fd, name, READ, Mode::empty());
        self.take(opened, Path::new(name), &path, None, max)
    }

    /// Reads a file of this directory, which must not be a link.
    pub(super) fn read_itself(
        &self,
        name: &str,
        owners: &[u32],
        max: usize,
    ) -> Result<Option<Vec<u8>>, ConfigError> {
        let path = self.path.join(name);
        let opened = openat(&self.fd, name, READ | OFlags::NOFOLLOW, Mode::empty());
        if opened.is_err() && is_link(statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)) {
            return Err(ConfigError::file(path, FileProblem::Link));
        }
        self.take(opened, Path::new(name), &path, Some(owners), max)
    }

    /// Reads a file somewhere below this directory, whoever owns it. No link on the way leads out.
    pub(super) fn read_beneath(
        &self,
        below: &Path,
        max: usize,
    ) -> Result<Option<Vec<u8>>, ConfigError> {
        let path = self.path.join(below);
        let opened = match self.open_beneath(below) {
            Err(Errno::XDEV | Errno::LOOP) => {
                let directory = self.path.clone();
                return Err(ConfigError::file(
                    path,
                    FileProblem::LeadsOutside { directory },
                ));
            }
            opened => opened,
        };
        self.take(opened, below, &path, None, max)
    }

    #[cfg(target_os = "linux")]
    fn open_beneath(&self, below: &Path) -> Result<OwnedFd, Errno> {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        match openat2(&self.fd, below, READ, Mode::empty(), resolve) {
            // Filters of system calls in containers know no better answer.
            Err(Errno::NOSYS | Errno::PERM) => self.open_step_by_step(below),
            opened => opened,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_beneath(&self, below: &Path) -> Result<OwnedFd, Errno> {
        self.open_step_by_step(below)
    }

    /// Name by name, with no link at all.
    fn open_step_by_step(&self, below: &Path) -> Result<OwnedFd, Errno> {
        let mut at: Option<OwnedFd> = None;
        let mut names = below.components().peekable();
        while let Some(component) = names.next() {
            let Component::Normal(name) = component else {
                return Err(Errno::XDEV);
            };
            let directory = match names.peek() {
                Some(_) => OFlags::DIRECTORY,
                None => OFlags::empty(),
            };
            let base = at.as_ref().map_or(self.fd.as_fd(), |fd| fd.as_fd());
            if is_link(statat(base, name, AtFlags::SYMLINK_NOFOLLOW)) {
                return Err(Errno::LOOP);
            }
            let flags = READ | OFlags::NOFOLLOW | directory;
            at = Some(openat(base, name, flags, Mode::empty())?);
        }
        at.ok_or(Errno::NOENT)
    }

    fn take(
        &self,
        opened: Result<OwnedFd, Errno>,
        name: &Path,
        path: &Path,
        owners: Option<&[u32]>,
        max: usize,
    ) -> Result<Option<Vec<u8>>, ConfigError> {
        let fd = match opened {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return absent(self.fd.as_fd(), name, path).map(|()| None),
            // A socket, or a device without a driver.
            Err(Errno::NXIO) => return Err(ConfigError::file(path, FileProblem::NotRegular)),
            Err(errno) => return Err(ConfigError::file(path, std::io::Error::from(errno))),
        };
        read_checked(fd, path, owners, max).map(Some)
    }
}

/// What is in an open file, if it may be used.
fn read_checked(
    fd: OwnedFd,
    path: &Path,
    owners: Option<&[u32]>,
    max: usize,
) -> Result<Vec<u8>, ConfigError> {
    let found = fstat(&fd).map_err(|errno| ConfigError::file(path, std::io::Error::from(errno)))?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(ConfigError::file(path, FileProblem::NotRegular));
    }
    let file = File::from(fd);
    if let Some(owners) = owners {
        check_owner(path, &found, owners)?;
        if Mode::from_raw_mode(found.st_mode).intersects(OTHERS_WRITE) {
            return Err(others_can_write(path, &found));
        }
        // What is not the user's own is not theirs to write by any name.
        let names = links(&file, path)?;
        if names > 1 && found.st_uid == own_uid() {
            return Err(ConfigError::file(path, FileProblem::HardLinks { names }));
        }
    }
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    let mut text = Vec::new();
    let read = file.take(limit).read_to_end(&mut text);
    read.map_err(|error| ConfigError::file(path, error))?;
    match text.len() > max {
        true => Err(ConfigError::file(path, FileProblem::TooLarge { max })),
        false => Ok(text),
    }
}

/// How many names a file has. The systems count in numbers of different sizes; the standard library in one.
fn links(file: &File, path: &Path) -> Result<u64, ConfigError> {
    use std::os::unix::fs::MetadataExt as _;
    let found = file
        .metadata()
        .map_err(|error| ConfigError::file(path, error))?;
    Ok(found.nlink())
}

fn check_owner(path: &Path, found: &Stat, owners: &[u32]) -> Result<(), ConfigError> {
    if owners.contains(&found.st_uid) {
        return Ok(());
    }
    let problem = FileProblem::Owner {
        owner: found.st_uid,
        allowed: owners.to_vec(),
    };
    Err(ConfigError::file(path, problem))
}

fn others_can_write(path: &Path, found: &Stat) -> ConfigError {
    let mode = wide(found.st_mode) & 0o7777;
    ConfigError::file(path, FileProblem::OthersCanWrite { mode })
}

/// A mode as every system can show it: macOS keeps sixteen bits.
fn wide(mode: impl Into<u32>) -> u32 {
    mode.into()
}

fn is_link(found: Result<Stat, Errno>) -> bool {
    found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
}

/// Nothing was found: makes sure that there is not even a link.
fn absent(base: impl std::os::fd::AsFd, name: &Path, path: &Path) -> Result<(), ConfigError> {
    match is_link(statat(base, name, AtFlags::SYMLINK_NOFOLLOW)) {
        true => Err(ConfigError::file(path, FileProblem::Dangling)),
        false => Ok(()),
    }
}
