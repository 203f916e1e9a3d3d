//! Every unsafe block of the crate: system calls that have no safe wrapper elsewhere.
//!
//! What runs in a child between fork and exec is here or in [`rustix`], which makes the calls without allocating. Calls
//! through libc store their error in the thread's `errno`; a child that shares its parent's memory does so while the
//! parent waits, and the parent restores it ([`process::vfork`]).
#![expect(unsafe_code, reason = "this is where the crate speaks to the kernel")]

pub(crate) mod landlock;
pub(crate) mod mount;
pub(crate) mod net;
pub(crate) mod process;
pub(crate) mod reap;
pub(crate) mod seccomp;
pub(crate) mod signals;

use rustix::io::Errno;

/// The result of a system call made through libc.
fn check(result: libc::c_long) -> Result<libc::c_long, Errno> {
    if result == -1 {
        Err(last_error())
    } else {
        Ok(result)
    }
}

fn last_error() -> Errno {
    // SAFETY: the location of this thread's errno is always valid to read.
    Errno::from_raw_os_error(unsafe { *libc::__errno_location() })
}

/// Takes over a descriptor that whoever started this process has passed by number, if there is one.
pub(crate) fn adopt(number: i32) -> Result<std::os::fd::OwnedFd, Errno> {
    // SAFETY: borrowed for one call, which fails if the descriptor is not open.
    let there = unsafe { std::os::fd::BorrowedFd::borrow_raw(number.max(0)) };
    rustix::io::fcntl_setfd(there, rustix::io::FdFlags::CLOEXEC)?;
    // A copy, so that nobody else's idea of who owns the number matters.
    rustix::io::fcntl_dupfd_cloexec(there, 3)
}
