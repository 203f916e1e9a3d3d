//! What the system offers only without guarantees.

#![expect(
    unsafe_code,
    reason = "signal masks are C structures; tokio takes descriptors on trust"
)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::ptr;

#[cfg(target_os = "linux")]
use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Has the runtime of the current task wait for a descriptor.
pub(super) fn register(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` is open, is the same descriptor as long as it lives, and moves into the registration, which
    // ends before it does.
    unsafe { AsyncFd::register_with_interest(descriptor, interest) }
        .map_err(|error| error.into_parts().1)
}

/// Whether writing to a pipe that nobody reads would send a signal that does something, such as ending this program.
pub(super) fn broken_pipes_signal() -> bool {
    let mut now = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: no new action is given, so nothing changes; the old one is written to a structure of the right type.
    let asked = unsafe { libc::sigaction(libc::SIGPIPE, ptr::null(), now.as_mut_ptr()) };
    if asked != 0 {
        return true;
    }
    // SAFETY: the call succeeded, so it filled the structure.
    let now = unsafe { now.assume_init() };
    now.sa_sigaction != libc::SIG_IGN
}

/// Writes without the signal that a broken pipe sends. It goes to the thread that writes, so this thread keeps it off
/// and takes it away.
#[cfg(target_os = "linux")]
pub(super) fn write_without_signal(
    descriptor: BorrowedFd<'_>,
    bytes: &[u8],
) -> rustix::io::Result<usize> {
    let mut pipe = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    let mut pending = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: each set is of the right type, and is filled before it is read: the first by `sigemptyset`, the others by
    // the calls that succeeded.
    unsafe {
        libc::sigemptyset(pipe.as_mut_ptr());
        libc::sigaddset(pipe.as_mut_ptr(), libc::SIGPIPE);
        if libc::sigpending(pending.as_mut_ptr()) != 0
            || libc::pthread_sigmask(libc::SIG_BLOCK, pipe.as_ptr(), before.as_mut_ptr()) != 0
        {
            return Err(Errno::INVAL);
        }
        let was_pending = libc::sigismember(pending.as_ptr(), libc::SIGPIPE) == 1;
        let wrote = rustix::io::write(descriptor, bytes);
        if wrote == Err(Errno::PIPE) && !was_pending {
            let now = libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            libc::sigtimedwait(pipe.as_ptr(), ptr::null_mut(), &raw const now);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut());
        wrote
    }
}

/// Elsewhere a signal cannot be taken away without waiting for it: the program must ignore it, as Rust programs do.
#[cfg(not(target_os = "linux"))]
pub(super) fn write_without_signal(
    descriptor: BorrowedFd<'_>,
    bytes: &[u8],
) -> rustix::io::Result<usize> {
    rustix::io::write(descriptor, bytes)
}

/// Makes broken pipes deadly for this program, as C programs have it.
#[cfg(all(test, target_os = "linux"))]
pub(super) fn let_broken_pipes_kill() {
    // SAFETY: the default action is a valid one, and no handler is involved.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}
