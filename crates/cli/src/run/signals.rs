//! Signals, as bytes in a pipe.

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::Signal;

use super::sys;

pub(super) const STOP: i32 = libc::SIGSTOP;
pub(super) const SUSPEND: i32 = libc::SIGTSTP;
pub(super) const CONTINUE: i32 = libc::SIGCONT;
pub(super) const WINDOW: i32 = libc::SIGWINCH;

/// What is passed on to the command, but for the last three, which are minded here.
const CAUGHT: [i32; 9] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    SUSPEND,
    CONTINUE,
    WINDOW,
];

/// Whether a signal asks for an end.
pub(super) const fn ends(signal: i32) -> bool {
    matches!(
        signal,
        libc::SIGINT | libc::SIGTERM | libc::SIGHUP | libc::SIGQUIT
    )
}

/// The signals of this program, which arrive in a pipe while they are caught. What whoever started this program had it
/// ignore stays ignored, as under `nohup`.
#[derive(Debug)]
pub(super) struct Signals {
    /// The other end of the pipe, for the handler.
    rings: OwnedFd,
    caught: Vec<i32>,
}

/// Who is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whom {
    /// This program, because somebody sent it that signal.
    Us,
    /// Everybody in its group, because a key was typed.
    Group,
}

impl Signals {
    /// Where they arrive, and what catches them.
    ///
    /// # Errors
    /// There is no descriptor left.
    pub(super) fn new() -> io::Result<(OwnedFd, Self)> {
        let (listens, rings) = io::pipe()?;
        let (listens, rings) = (OwnedFd::from(listens), OwnedFd::from(rings));
        for end in [&listens, &rings] {
            rustix::io::ioctl_fionbio(end, true)?;
        }
        let signals = Self {
            rings,
            caught: Vec::new(),
        };
        Ok((listens, signals))
    }

    /// Catches them from now on.
    pub(super) fn catch(&mut self) {
        sys::ring_at(Some(&self.rings));
        let fresh = CAUGHT.into_iter().filter(|signal| sys::catch(*signal));
        self.caught = fresh.collect();
    }

    /// Lets them do again what they do.
    pub(super) fn release(&mut self) {
        for signal in std::mem::take(&mut self.caught) {
            sys::release(signal);
        }
        sys::ring_at(None);
    }

    /// Stops this program, or all of its group, which is what the terminal runs. Returns when it goes on; at once if nobody
    /// is there who could let it go on.
    pub(super) fn stop(&self, whom: Whom) {
        let caught = self.caught.contains(&SUSPEND);
        if caught {
            sys::release(SUSPEND);
        }
        // A program that ignores the signal goes on.
        let _ = match whom {
            Whom::Us => rustix::process::kill_process(rustix::process::getpid(), Signal::TSTP),
            Whom::Group => rustix::process::kill_current_process_group(Signal::TSTP),
        };
        if caught {
            sys::catch(SUSPEND);
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.release();
    }
}
