//! The first process of a command, known by what the system has for that.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;

use crate::os::sys::spawn::{Failed, Prepared};
use crate::os::sys::wait::Reap;
use crate::supervise::Ended;

/// A child that is not reaped before it is told to be: until then its number means nobody else.
#[derive(Debug)]
pub(super) struct Child {
    pid: i32,
    #[cfg(target_os = "linux")]
    handle: std::os::fd::OwnedFd,
    #[cfg(target_os = "macos")]
    waiter: super::waiter::Waiter,
}

#[cfg(target_os = "linux")]
impl Child {
    pub(super) fn spawn(prepared: &Prepared, stdio: [BorrowedFd<'_>; 3]) -> Result<Self, Failed> {
        let (pid, handle) = crate::os::sys::spawn::spawn(prepared, stdio)?;
        Ok(Self { pid, handle })
    }

    /// Readable from the end on.
    pub(super) fn status(&self) -> BorrowedFd<'_> {
        use std::os::fd::AsFd as _;
        self.handle.as_fd()
    }

    /// How it ended; `None` if it has not.
    pub(super) fn end(&self, reap: Reap) -> Result<Option<Ended>, Errno> {
        crate::os::sys::wait_pidfd::end_of(self.status(), reap)
    }

    /// Kills it, and reaps it on the side.
    pub(super) fn kill_and_reap(&self) {
        use rustix::process::{Signal, pidfd_send_signal};
        let _ = pidfd_send_signal(&self.handle, Signal::KILL);
        if let Ok(handle) = self.handle.try_clone() {
            reap(move || {
                use std::os::fd::AsFd as _;
                let _ = crate::os::sys::wait_pidfd::end_of(handle.as_fd(), Reap::Wait);
            });
        }
    }
}

#[cfg(target_os = "macos")]
impl Child {
    /// Starts it; `report` becomes its descriptor 3.
    pub(super) fn spawn(
        prepared: &Prepared,
        stdio: [BorrowedFd<'_>; 3],
        report: Option<BorrowedFd<'_>>,
    ) -> Result<Self, Failed> {
        use crate::os::sys::spawn::{SpawnStep, spawn_forked};
        let pid = spawn_forked(prepared, stdio, report)?;
        match super::waiter::Waiter::new(pid) {
            Ok(waiter) => Ok(Self { pid, waiter }),
            // Nobody would learn of its end.
            Err(error) => {
                kill_and_wait(pid);
                let errno = Errno::from_io_error(&error).unwrap_or(Errno::AGAIN);
                Err((SpawnStep::Process, errno))
            }
        }
    }

    /// Readable from the end on.
    pub(super) fn status(&self) -> BorrowedFd<'_> {
        self.waiter.status()
    }

    /// How it ended; `None` if it has not.
    pub(super) fn end(&self, reap: Reap) -> Result<Option<Ended>, Errno> {
        crate::os::sys::wait_pid::end_of(self.pid, reap)
    }

    /// Kills it, and reaps it on the side.
    pub(super) fn kill_and_reap(&self) {
        let pid = self.pid;
        reap(move || kill_and_wait(pid));
    }
}

impl Child {
    pub(super) const fn pid(&self) -> i32 {
        self.pid
    }
}

/// Nobody else has reaped it, so the number means it.
#[cfg(target_os = "macos")]
fn kill_and_wait(pid: i32) {
    use rustix::process::{Pid, Signal, kill_process};
    if let Some(child) = Pid::from_raw(pid) {
        let _ = kill_process(child, Signal::KILL);
    }
    let _ = crate::os::sys::wait_pid::end_of(pid, Reap::Wait);
}

fn reap(wait: impl FnOnce() + Send + 'static) {
    let _ = std::thread::Builder::new()
        .name("palisade-reaper".to_owned())
        .spawn(wait);
}
