//! A child by a plain fork: its memory is a copy of ours, in which it makes system calls only.

use std::mem;
use std::ptr;

use rustix::io::Errno;

use super::check;

/// Runs `child` in a new process. `child` must not return, allocate, lock or panic: another thread may have held any lock
/// of this program when it was copied.
pub(super) fn fork<F: Fn()>(child: &F) -> Result<i32, Errno> {
    // A handler of ours must not run in the child before signals have their default meaning there.
    // SAFETY: all-zero sets are valid storage.
    let (mut all, mut old): (libc::sigset_t, libc::sigset_t) =
        unsafe { (mem::zeroed(), mem::zeroed()) };
    // SAFETY: both sets are ours.
    let blocked = unsafe {
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old)
    };
    if blocked != 0 {
        return Err(Errno::from_raw_os_error(blocked));
    }
    // SAFETY: the child makes system calls only, and ends or becomes another program.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        child();
        // SAFETY: nothing of this program runs at its end.
        unsafe { libc::_exit(127) };
    }
    let result = check(libc::c_long::from(pid));
    // SAFETY: `old` was filled in above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, ptr::null_mut()) };
    result.map(|_| pid)
}
