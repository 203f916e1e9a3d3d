//! Files that the caller hands to a command as its input.
//!
//! A descriptor belongs to the mount that it was opened through, and that is one of the host's: through `/proc/self/fd`
//! a command could open the file again for writing, past the session's read-only mounts, where Landlock opens the root
//! that the file lies in; and it could change the file's mode and times by the descriptor alone. So what is only to be
//! read is opened again as the session sees it. What the session does not see as it is comes through a pipe.

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use palisade_policy::AbsolutePath;
use rustix::fs::{FileType, Mode, OFlags, SeekFrom, fcntl_getfl, fstat, openat2, readlinkat, seek};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::channel::retry;
use crate::sys::process::{self, Forked};

/// What a command gets for a descriptor that was handed in.
pub(super) struct HandedIn {
    pub(super) descriptor: OwnedFd,
    /// The process that fills a pipe, if there has to be one.
    pub(super) relay: Option<i32>,
}

impl From<OwnedFd> for HandedIn {
    fn from(descriptor: OwnedFd) -> Self {
        Self {
            descriptor,
            relay: None,
        }
    }
}

/// The descriptor that a command gets for one that was handed in. A file that is open for writing stays what it is:
/// writing it is what the caller wanted.
pub(super) fn as_the_session_sees_it(given: OwnedFd) -> Result<HandedIn, Errno> {
    let is_file = FileType::from_raw_mode(fstat(&given)?.st_mode) == FileType::RegularFile;
    let mode = fcntl_getfl(&given)? & OFlags::RWMODE;
    if !is_file || mode != OFlags::RDONLY {
        return Ok(given.into());
    }
    match open_again(&given) {
        Ok(own) => Ok(own.into()),
        Err(_) => relay(given),
    }
}

/// Opens the same file through the session's own mounts.
fn open_again(given: &OwnedFd) -> Result<OwnedFd, Errno> {
    let link = format!("/proc/self/fd/{}", given.as_raw_fd());
    let path = readlinkat(rustix::fs::CWD, link, Vec::new())?;
    let path = AbsolutePath::new(OsStr::from_bytes(path.as_bytes())).map_err(|_| Errno::INVAL)?;
    // A pipe in the place of the file must not keep init waiting.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let own = openat2(
        rustix::fs::CWD,
        path.as_path(),
        flags,
        Mode::empty(),
        rustix::fs::ResolveFlags::NO_SYMLINKS | rustix::fs::ResolveFlags::NO_MAGICLINKS,
    )?;
    let (theirs, ours) = (fstat(given)?, fstat(&own)?);
    if (theirs.st_dev, theirs.st_ino) != (ours.st_dev, ours.st_ino) {
        return Err(Errno::STALE);
    }
    rustix::fs::fcntl_setfl(&own, OFlags::empty())?;
    let offset = seek(given, SeekFrom::Current(0))?;
    seek(&own, SeekFrom::Start(offset))?;
    Ok(own)
}

/// Gives the reading end of a pipe that a process of its own fills from the file.
fn relay(given: OwnedFd) -> Result<HandedIn, Errno> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    match process::fork()? {
        Forked::Parent(pid) => Ok(HandedIn {
            descriptor: reader,
            relay: Some(pid),
        }),
        Forked::Child => {
            let code = i32::from(carry(given, writer).is_err());
            process::exit_now(code)
        }
    }
}

/// Holds nothing but the two ends, so that nobody waits for this process who waits for the end of something else.
fn carry(from: OwnedFd, to: OwnedFd) -> Result<(), Errno> {
    rustix::stdio::dup2_stdin(&from)?;
    rustix::stdio::dup2_stdout(&to)?;
    rustix::stdio::dup2_stderr(&to)?;
    // Closed with all the others.
    let _ = (from.into_raw_fd(), to.into_raw_fd());
    process::close_range(3, u32::MAX)?;
    let (from, to) = (rustix::stdio::stdin(), rustix::stdio::stdout());
    let mut buffer = [0_u8; 65536];
    loop {
        let read = retry(|| rustix::io::read(from.as_fd(), &mut buffer))?;
        let mut rest = buffer.get(..read).unwrap_or_default();
        if rest.is_empty() {
            return Ok(());
        }
        while !rest.is_empty() {
            let written = retry(|| rustix::io::write(to.as_fd(), rest))?;
            rest = rest.get(written..).unwrap_or_default();
        }
    }
}
