//! Filters, and what a supervisor of one is asked.
#![expect(
    unsafe_code,
    reason = "filters and their supervisors have no safe interface"
)]

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

/// A system call that waits for an answer.
pub(super) struct Call<'a> {
    /// Its first arguments.
    pub(super) arguments: [u64; 3],
    /// Reads the caller's memory.
    pub(super) read: &'a dyn Fn(u64, u64) -> io::Result<Vec<u8>>,
}

/// What the caller gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// This value.
    Value(i64),
    /// This error.
    Error(i32),
    /// What the kernel says.
    Continue,
}

/// Installs a filter on this thread, for good. Needs `no_new_privs`.
pub(super) fn install(filter: &[libc::sock_filter]) -> io::Result<()> {
    set(filter, 0).map(drop)
}

/// The same for a filter that asks a supervisor.
pub(super) fn install_with_listener(filter: &[libc::sock_filter]) -> io::Result<OwnedFd> {
    let listener = set(filter, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER)?;
    let number = i32::try_from(listener).map_err(io::Error::other)?;
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

fn set(filter: &[libc::sock_filter], flags: libc::c_ulong) -> io::Result<libc::c_long> {
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).map_err(io::Error::other)?,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: the program and its instructions outlive the call, and the kernel only reads them.
    let result = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            &raw const program,
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// Takes one question and answers it. A caller that is gone by now needs no answer.
pub(super) fn answer(
    listener: &OwnedFd,
    decide: impl FnOnce(&Call<'_>) -> Answer,
) -> io::Result<()> {
    // SAFETY: all zeros is a valid value of this plain struct, and what the kernel asks for.
    let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one of these structs.
    let received = unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_RECV,
            &raw mut asked,
        )
    };
    if received < 0 {
        return gone(io::Error::last_os_error());
    }
    let pid = asked.pid.cast_signed();
    let [first, second, third, ..] = asked.data.args;
    let answer = decide(&Call {
        arguments: [first, second, third],
        read: &|address, length| read_memory(pid, address, length),
    });
    let (val, error, flags) = match answer {
        Answer::Value(value) => (value, 0, 0),
        Answer::Error(number) => (0, -number, 0),
        Answer::Continue => (0, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE),
    };
    let mut response = libc::seccomp_notif_resp {
        id: asked.id,
        val,
        error,
        flags: u32::try_from(flags).map_err(io::Error::other)?,
    };
    // SAFETY: the kernel reads one of these structs.
    let sent = unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_SEND,
            &raw mut response,
        )
    };
    if sent < 0 {
        return gone(io::Error::last_os_error());
    }
    Ok(())
}

fn gone(error: io::Error) -> io::Result<()> {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EINTR) => Ok(()),
        _ => Err(error),
    }
}

fn read_memory(pid: i32, address: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0_u8; usize::try_from(length).map_err(io::Error::other)?];
    let local = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    let remote = libc::iovec {
        iov_base: std::ptr::with_exposed_provenance_mut(
            usize::try_from(address).map_err(io::Error::other)?,
        ),
        iov_len: bytes.len(),
    };
    // SAFETY: the local vector names a buffer of ours of that length; the remote one is the kernel's to check.
    let count =
        unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    if count < 0 {
        return Err(io::Error::last_os_error());
    }
    bytes.truncate(usize::try_from(count).unwrap_or_default());
    Ok(bytes)
}
