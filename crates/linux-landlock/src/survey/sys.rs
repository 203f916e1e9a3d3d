//! The one system call of the survey that nobody wraps.
#![expect(unsafe_code, reason = "Landlock has no wrapper in libc")]

use std::io;

/// `LANDLOCK_CREATE_RULESET_VERSION`.
const VERSION: u32 = 1;

/// The ABI of Landlock; nothing is created or restricted.
pub(super) fn landlock_abi() -> io::Result<u32> {
    // SAFETY: with the version flag the kernel takes a null pointer and a size of 0, and reads nothing.
    let abi = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            VERSION,
        )
    };
    u32::try_from(abi).map_err(|_| io::Error::last_os_error())
}
