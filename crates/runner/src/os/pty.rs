//! Terminals of a command's own.

use std::io;
use std::os::fd::OwnedFd;
#[cfg(test)]
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::stdio::{Stdio, failure, never_block};
use crate::launch::WindowSize;
use crate::outcome::SetupFailure;

/// Our side of a terminal. Reading it after the last user of the other side is gone fails with `EIO`: that is its end.
#[derive(Debug)]
pub(crate) struct Pty {
    ours: OwnedFd,
}

const STEP: &str = "opening a terminal";

impl Pty {
    /// Opens a terminal of this size: our side, which never blocks, and the descriptors of the command that gets it. The
    /// command must be started with it as its terminal ([`Order::with_terminal`](super::Order::with_terminal)).
    pub(crate) fn open(size: WindowSize) -> Result<(Self, Stdio), SetupFailure> {
        let stdio = |theirs: OwnedFd| -> io::Result<Stdio> {
            Ok(Stdio {
                stdin: theirs.try_clone()?,
                stdout: theirs.try_clone()?,
                stderr: theirs,
            })
        };
        Self::try_pair(size)
            .and_then(|(pty, theirs)| Ok((pty, stdio(theirs)?)))
            .map_err(|error| failure(STEP, &error))
    }

    /// The same with one descriptor of the command's side, which is whatever it is made.
    pub(crate) fn pair(size: WindowSize) -> Result<(Self, OwnedFd), SetupFailure> {
        Self::try_pair(size).map_err(|error| failure(STEP, &error))
    }

    fn try_pair(size: WindowSize) -> io::Result<(Self, OwnedFd)> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        #[cfg(target_os = "linux")]
        let flags = flags | OpenptFlags::CLOEXEC;
        let ours = openpt(flags)?;
        rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        // Not ours: opened here, it must not become the terminal of this program.
        let theirs = open(
            ptsname(&ours, Vec::new())?,
            OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let pty = Self { ours };
        pty.try_resize(size)?;
        never_block(&pty.ours)?;
        Ok((pty, theirs))
    }

    /// Another descriptor of our side.
    pub(crate) fn copy(&self) -> io::Result<OwnedFd> {
        self.ours.try_clone()
    }

    /// Gives the terminal another size; what runs in its foreground is told by `SIGWINCH`.
    pub(crate) fn resize(&self, size: WindowSize) -> Result<(), SetupFailure> {
        self.try_resize(size)
            .map_err(|error| failure("resizing a terminal", &error))
    }

    fn try_resize(&self, size: WindowSize) -> io::Result<()> {
        let size = Winsize {
            ws_row: size.rows,
            ws_col: size.columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        Ok(tcsetwinsize(&self.ours, size)?)
    }
}

#[cfg(test)]
impl AsFd for Pty {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ours.as_fd()
    }
}
