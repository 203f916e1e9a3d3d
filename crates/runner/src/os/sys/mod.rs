//! What has no safe wrapper: making a process that shares this one's memory until exec, and asking for the end of one
//! child and no other.
#![expect(
    unsafe_code,
    reason = "clone, exec and waitid with usage have no safe wrapper"
)]

#[cfg(target_os = "linux")]
pub(super) mod spawn;
#[cfg(target_os = "linux")]
pub(super) mod wait;

#[cfg(target_os = "linux")]
use rustix::io::Errno;

#[cfg(target_os = "linux")]
fn check(result: libc::c_long) -> Result<libc::c_long, Errno> {
    match result {
        -1 => Err(last_error()),
        other => Ok(other),
    }
}

#[cfg(target_os = "linux")]
fn last_error() -> Errno {
    // SAFETY: the location of this thread's errno is always valid.
    Errno::from_raw_os_error(unsafe { *libc::__errno_location() })
}
