//! A descriptor that the caller left open, named by its number.
#![expect(
    unsafe_code,
    reason = "a number that a person typed can only be looked at by the raw call"
)]

use std::fs::File;
use std::io;
use std::os::fd::FromRawFd as _;

/// Takes the descriptor with this number: a copy of it that no child inherits. Neither is the original inherited any more.
///
/// # Errors
/// There is none, or it is not open for writing.
pub(super) fn take(number: i32) -> io::Result<File> {
    // SAFETY: F_GETFL only looks, at whatever the number is.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFL) };
    if flags < 0 {
        return Err(io::Error::last_os_error());
    }
    if flags & libc::O_ACCMODE == libc::O_RDONLY {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: the number was open a moment ago, and nothing else runs yet; setting the flag takes nothing from anybody.
    let marked = unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
    if marked < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: copies the descriptor to a new number.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call above returned it just now, and nobody else knows it.
    Ok(unsafe { File::from_raw_fd(copy) })
}
