//! A terminal, and requests to one with bits set that the kernel ignores.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use super::check;
use super::files::owned;

/// A new terminal: the side of whoever shows it, which never waits, and the path of the other one.
pub(crate) fn make() -> io::Result<(OwnedFd, PathBuf)> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_NONBLOCK | libc::O_CLOEXEC;
    // SAFETY: no memory is passed.
    let shown = owned(check(unsafe { libc::posix_openpt(flags) })?.into())?;
    let mut name = [0; 128];
    // SAFETY: the descriptor is of a new terminal; the name has the room that is said.
    let failed = unsafe {
        check(libc::grantpt(shown.as_raw_fd()))?;
        check(libc::unlockpt(shown.as_raw_fd()))?;
        libc::ptsname_r(shown.as_raw_fd(), name.as_mut_ptr(), name.len())
    };
    if failed != 0 {
        return Err(io::Error::from_raw_os_error(failed));
    }
    // SAFETY: the kernel's library terminated the name.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) };
    Ok((shown, OsStr::from_bytes(name.to_bytes()).into()))
}

/// Asks to type a character into a terminal, in a request with a bit set that the kernel does not read.
pub(crate) fn type_into_wide(file: &File) -> io::Result<()> {
    const HIGH: u64 = 1 << 32;
    let byte = b' ';
    // SAFETY: the request reads one byte, which outlives the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_ioctl,
            file.as_raw_fd(),
            libc::TIOCSTI | HIGH,
            &raw const byte,
        )
    })?;
    Ok(())
}
