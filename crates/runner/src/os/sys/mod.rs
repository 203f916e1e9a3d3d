//! What has no safe wrapper: making a process that becomes a command, and asking for the end of one child and no other.
#![expect(
    unsafe_code,
    reason = "clone, fork, exec and waitid with usage have no safe wrapper"
)]

#[cfg(any(target_os = "macos", test))]
mod fork;
#[cfg(target_os = "linux")]
mod inherit_linux;
#[cfg(target_os = "macos")]
mod inherit_macos;
pub(super) mod spawn;
#[cfg(target_os = "linux")]
mod vfork;
pub(super) mod wait;
#[cfg(any(target_os = "macos", test))]
pub(super) mod wait_pid;
#[cfg(target_os = "linux")]
pub(super) mod wait_pidfd;

use rustix::io::Errno;

fn check(result: libc::c_long) -> Result<libc::c_long, Errno> {
    match result {
        -1 => Err(last_error()),
        other => Ok(other),
    }
}

/// Allocates nothing: children between fork and exec ask too.
fn last_error() -> Errno {
    let last = std::io::Error::last_os_error().raw_os_error();
    last.map_or(Errno::IO, Errno::from_raw_os_error)
}
