//! Jobs and processes: the calls into Windows for a command without a sandbox.

#![expect(
    unsafe_code,
    reason = "Windows offers jobs, and processes with a list of handles, through C only"
)]

pub(super) mod job;
pub(super) mod spawn;

use std::io;
use std::os::windows::io::{FromRawHandle as _, OwnedHandle};

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::core::BOOL;

/// What a call that answers yes or no has to say.
fn check(answer: BOOL) -> io::Result<()> {
    match answer {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Owns a handle that a call returned.
///
/// # Safety
/// The handle is the caller's own, and is closed by `CloseHandle`; or it is null.
unsafe fn own(handle: HANDLE) -> io::Result<OwnedHandle> {
    match handle.is_null() {
        true => Err(io::Error::last_os_error()),
        // SAFETY: it is a real handle, and nobody else closes it, as the caller says.
        false => Ok(unsafe { OwnedHandle::from_raw_handle(handle) }),
    }
}

/// The size of a structure, as Windows counts.
fn size_of_structure<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap_or(u32::MAX)
}
