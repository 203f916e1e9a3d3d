//! The audit file on Unix: opening it with care, appending to it, putting it aside.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::error::AuditError;
use super::file::Rotation;

/// How long a record waits for the lock. After that it is appended without: only rotation needs the lock.
const LOCK_WAIT: Duration = Duration::from_millis(500);
const LOCK_POLL: Duration = Duration::from_millis(2);

/// The directory of an audit file, opened and checked.
pub(super) struct Directory {
    fd: OwnedFd,
    path: PathBuf,
    name: OsString,
}

impl Directory {
    /// Opens the directory of a file, making it with mode 0700 if it is not there. Where `own` is set, an existing one
    /// gets that mode too.
    pub(super) fn make(path: &Path, own: bool) -> Result<Self, AuditError> {
        let untrusted = |path: &Path, problem| AuditError::Untrusted {
            path: path.to_owned(),
            problem,
        };
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(untrusted(path, "it has no name; give the path of a file"));
        };
        if !path.is_absolute() {
            return Err(untrusted(
                path,
                "its path is relative; give an absolute one",
            ));
        }
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)
            .map_err(|error| AuditError::io("making the directory of", parent, error))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd =
            rustix::fs::openat(CWD, parent, flags, Mode::empty()).map_err(|errno| match errno {
                Errno::LOOP | Errno::NOTDIR => untrusted(
                    parent,
                    "its directory is a symbolic link; name the real one",
                ),
                errno => AuditError::io("opening the directory of", parent, errno.into()),
            })?;
        let stat = rustix::fs::fstat(&fd)
            .map_err(|errno| AuditError::io("looking at the directory of", parent, errno.into()))?;
        check_owner(&stat, parent)?;
        if own && mode(&stat) != 0o700 {
            rustix::fs::fchmod(&fd, Mode::from_raw_mode(0o700)).map_err(|errno| {
                AuditError::io("closing the directory of", parent, errno.into())
            })?;
        } else if mode(&stat) & 0o022 != 0 {
            return Err(untrusted(
                parent,
                "others can write its directory; take that from them with chmod go-w",
            ));
        }
        Ok(Self {
            fd,
            path: path.to_owned(),
            name: name.to_owned(),
        })
    }

    /// Makes the file, and checks it.
    pub(super) fn prepare(&self) -> Result<(), AuditError> {
        self.open().map(|_| ())
    }

    /// Appends a line that ends in a newline, in one write.
    pub(super) fn append(&self, line: Vec<u8>, rotation: Rotation) -> Result<(), AuditError> {
        let lock = self.lock();
        let (mut file, mut size) = self.open()?;
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        let full = rotation.bytes > 0 && size > 0 && size.saturating_add(length) > rotation.bytes;
        // A rotation that fails costs no record: the file only gets longer than it should.
        if full && lock.is_some() && self.rotate(rotation.files).is_ok() {
            (file, size) = self.open()?;
        }
        let line = match self.is_torn(&file, size)? {
            true => [vec![b'\n'], line].concat(),
            false => line,
        };
        let written = rustix::io::retry_on_intr(|| rustix::io::write(&file, &line))
            .map_err(|errno| self.io("writing", errno))?;
        if written < line.len() {
            // What is there is a torn line, after which the next writer starts a new one.
            return Err(self.io("writing", Errno::NOSPC));
        }
        Ok(())
    }

    /// The file and its size.
    fn open(&self) -> Result<(OwnedFd, u64), AuditError> {
        let flags = OFlags::RDWR
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::NOCTTY
            | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.fd, &self.name, flags, Mode::from_raw_mode(0o600))
            .map_err(|errno| match errno {
                Errno::LOOP => self.untrusted("it is a symbolic link; name the file itself"),
                errno => self.io("opening", errno),
            })?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| self.io("looking at", errno))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(self.untrusted("it is not a regular file; name another"));
        }
        check_owner(&stat, &self.path)?;
        if stat.st_nlink > 1 {
            return Err(self.untrusted("it has a second name (a hard link); remove one of them"));
        }
        if mode(&stat) & 0o077 != 0 {
            rustix::fs::fchmod(&file, Mode::from_raw_mode(0o600))
                .map_err(|errno| self.io("closing to others", errno))?;
        }
        Ok((file, u64::try_from(stat.st_size).unwrap_or(0)))
    }

    /// Whether the last line has no end.
    fn is_torn(&self, file: &OwnedFd, size: u64) -> Result<bool, AuditError> {
        let Some(last) = size.checked_sub(1) else {
            return Ok(false);
        };
        let mut byte = [0];
        let read = rustix::io::retry_on_intr(|| rustix::io::pread(file, &mut byte, last))
            .map_err(|errno| self.io("reading the end of", errno))?;
        Ok(read == 1 && byte != *b"\n")
    }

    /// The lock next to the file, unless somebody keeps it for too long or there is no room for it.
    fn lock(&self) -> Option<OwnedFd> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = self.named("lock");
        let lock = rustix::fs::openat(&self.fd, &name, flags, Mode::from_raw_mode(0o600)).ok()?;
        let deadline = Instant::now() + LOCK_WAIT;
        loop {
            match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Some(lock),
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < deadline => {
                    std::thread::sleep(LOCK_POLL);
                }
                Err(_) => return None,
            }
        }
    }

    /// Moves each file one further. The oldest is replaced.
    fn rotate(&self, files: u32) -> Result<(), Errno> {
        let number = |number: u32| self.named(&number.to_string());
        let rename = |from: &OsString, to: &OsString| match rustix::fs::renameat(
            &self.fd, from, &self.fd, to,
        ) {
            Err(Errno::NOENT) => Ok(()),
            result => result,
        };
        for old in (1..files.max(1)).rev() {
            rename(&number(old), &number(old + 1))?;
        }
        rename(&self.name, &number(1))?;
        // What was there may have been a directory, or the rename a no-op on two names of one file.
        match rustix::fs::statat(&self.fd, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(()),
            _ => Err(Errno::EXIST),
        }
    }

    fn named(&self, ending: &str) -> OsString {
        let mut name = self.name.clone();
        name.push(".");
        name.push(ending);
        name
    }

    fn untrusted(&self, problem: &'static str) -> AuditError {
        AuditError::Untrusted {
            path: self.path.clone(),
            problem,
        }
    }

    fn io(&self, doing: &'static str, errno: Errno) -> AuditError {
        AuditError::io(doing, &self.path, io::Error::from(errno))
    }
}

fn mode(stat: &Stat) -> u32 {
    // macOS keeps sixteen bits.
    fn wide(mode: impl Into<u32>) -> u32 {
        mode.into()
    }
    wide(stat.st_mode) & 0o7777
}

fn check_owner(stat: &Stat, path: &Path) -> Result<(), AuditError> {
    match stat.st_uid == rustix::process::geteuid().as_raw() {
        true => Ok(()),
        false => Err(AuditError::Untrusted {
            path: path.to_owned(),
            problem: "it belongs to another user; name one of your own",
        }),
    }
}
