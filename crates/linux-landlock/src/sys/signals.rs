//! Signals as descriptors for the helper, and as they should be for a command.

use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use rustix::io::Errno;

use super::check;

/// Blocks the signals and gives a descriptor that is readable when one is pending.
pub(crate) fn signal_descriptor(signals: &[i32]) -> Result<OwnedFd, Errno> {
    // SAFETY: an all-zero set is valid storage for sigemptyset.
    let mut set: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: the set is ours.
    unsafe { libc::sigemptyset(&raw mut set) };
    for signal in signals {
        // SAFETY: the set is initialised; a bad number is refused.
        check(libc::c_long::from(unsafe {
            libc::sigaddset(&raw mut set, *signal)
        }))?;
    }
    // SAFETY: the set is initialised, and the old mask is not asked for.
    check(libc::c_long::from(unsafe {
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut())
    }))?;
    // SAFETY: the set is initialised.
    let fd = check(libc::c_long::from(unsafe {
        libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    }))?;
    let fd = libc::c_int::try_from(fd).map_err(|_| Errno::BADF)?;
    // SAFETY: the kernel has just given us this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Reads one pending signal; `None` if there is none.
pub(crate) fn next_signal(descriptor: &OwnedFd) -> Option<i32> {
    // SAFETY: an all-zero record is valid storage.
    let mut info: libc::signalfd_siginfo = unsafe { mem::zeroed() };
    let size = size_of::<libc::signalfd_siginfo>();
    // SAFETY: the record is ours and as large as we say.
    let read = unsafe { libc::read(descriptor.as_raw_fd(), (&raw mut info).cast(), size) };
    (usize::try_from(read) == Ok(size))
        .then(|| i32::try_from(info.ssi_signo).ok())
        .flatten()
}

/// Gives every signal that the caller of the helper ignores its default meaning again; `SIGPIPE` stays ignored here.
///
/// What is ignored stays so across exec: with `SIGCHLD` ignored the kernel would reap our children, and how they ended
/// would be lost; with `SIGXFSZ` ignored a limit would end nothing.
pub(crate) fn heed_ignored() {
    for signal in 1..=64 {
        if signal == libc::SIGPIPE {
            continue;
        }
        // SAFETY: an all-zero action is the default one; signals that cannot be changed are refused, which is fine.
        unsafe {
            let mut now: libc::sigaction = mem::zeroed();
            if libc::sigaction(signal, ptr::null(), &raw mut now) == 0
                && now.sa_sigaction == libc::SIG_IGN
            {
                let default: libc::sigaction = mem::zeroed();
                libc::sigaction(signal, &raw const default, ptr::null_mut());
            }
        }
    }
}

/// Makes signals what a program expects to find: nothing blocked, `SIGPIPE` deadly again (the Rust runtime ignores
/// it). Only system calls, so that it can run between fork and exec.
pub(crate) fn reset_for_exec() -> Result<(), Errno> {
    // SAFETY: `SIG_DFL` is a valid disposition for SIGPIPE.
    if unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) } == libc::SIG_ERR {
        return Err(super::last_error());
    }
    // SAFETY: an all-zero set is valid storage for sigemptyset.
    let mut none: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: the set is ours and initialised by the first call.
    check(libc::c_long::from(unsafe {
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut())
    }))
    .map(drop)
}
