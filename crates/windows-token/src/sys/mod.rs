//! The calls into Windows, and the only unsafe code of the crate. What comes out of here is owned and safe: handles close
//! themselves, identifiers and access lists are our own values.

#![expect(
    unsafe_code,
    reason = "Windows offers tokens, access lists, jobs and desktops through C only"
)]

mod buffer;
pub(crate) mod desktop;
pub(crate) mod file;
pub(crate) mod job;
pub(crate) mod process;
pub(crate) mod random;
pub(crate) mod security;
pub(crate) mod text;
pub(crate) mod thread;
pub(crate) mod token;

#[cfg(test)]
pub(crate) mod for_tests;
#[cfg(test)]
pub(crate) mod tests;

use std::io;
use std::os::windows::io::{AsRawHandle as _, BorrowedHandle, FromRawHandle as _, OwnedHandle};

use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::core::BOOL;

/// What a call that answers yes or no has to say.
fn check(answer: BOOL) -> io::Result<()> {
    match answer {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// What a call that answers with an error code has to say.
fn status(code: u32) -> io::Result<()> {
    match code {
        0 => Ok(()),
        // The codes of Windows are small; the cast keeps their bits in any case.
        code => Err(io::Error::from_raw_os_error(code.cast_signed())),
    }
}

/// Owns a handle that a call returned.
///
/// # Safety
/// The handle is the caller's own, and is closed by `CloseHandle`; or it is null or `INVALID_HANDLE_VALUE`.
unsafe fn own(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is a real handle, and nobody else closes it, as the caller says.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// The number of a handle, for a call that only looks at it.
fn raw(handle: BorrowedHandle<'_>) -> HANDLE {
    handle.as_raw_handle()
}

/// A length as Windows counts.
fn length(bytes: usize) -> io::Result<u32> {
    u32::try_from(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
}
