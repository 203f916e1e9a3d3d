//! Mounts and what lists them.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::ptr;

use super::files::owned;
use super::{check, terminated};

/// Mounts what does not exist: whoever may mount is told so, and nobody gets a mount.
pub(crate) fn bind_nothing(source: &Path, target: &Path) -> io::Result<()> {
    let (source, target) = (terminated(source)?, terminated(target)?);
    // SAFETY: terminated strings that outlive the call.
    check(unsafe {
        libc::mount(
            source.as_ptr(),
            target.as_ptr(),
            ptr::null(),
            libc::MS_BIND,
            ptr::null(),
        )
    })?;
    Ok(())
}

/// Makes an existing mount writable.
pub(crate) fn remount_writable(target: &Path) -> io::Result<()> {
    let target = terminated(target)?;
    // SAFETY: a terminated string that outlives the call; a remount reads no source.
    check(unsafe {
        libc::mount(
            ptr::null(),
            target.as_ptr(),
            ptr::null(),
            libc::MS_REMOUNT | libc::MS_BIND,
            ptr::null(),
        )
    })?;
    Ok(())
}

/// Clears the read-only attribute of an existing mount.
pub(crate) fn set_writable(target: &Path) -> io::Result<()> {
    const CLEAR_READ_ONLY: [u64; 4] = [0, 1, 0, 0];
    let target = terminated(target)?;
    // SAFETY: a terminated string and the four words of `mount_attr`, which outlive the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            target.as_ptr(),
            0,
            CLEAR_READ_ONLY.as_ptr(),
            size_of_val(&CLEAR_READ_ONLY),
        )
    })?;
    Ok(())
}

/// Mounts an empty file system; only for a mount namespace of one's own.
pub(crate) fn mount_empty(target: &Path) -> io::Result<()> {
    let target = terminated(target)?;
    // SAFETY: terminated strings that outlive the call.
    check(unsafe {
        libc::mount(
            c"none".as_ptr(),
            target.as_ptr(),
            c"tmpfs".as_ptr(),
            0,
            ptr::null(),
        )
    })?;
    Ok(())
}

pub(crate) fn unmount(target: &Path) -> io::Result<()> {
    let target = terminated(target)?;
    // SAFETY: a terminated string that outlives the call.
    check(unsafe { libc::umount2(target.as_ptr(), libc::MNT_DETACH) })?;
    Ok(())
}

/// A file system in memory that is mounted nowhere, and gone with its descriptor.
pub(crate) fn detached() -> io::Result<OwnedFd> {
    const CREATE: u32 = 6;
    // SAFETY: a terminated string.
    let context = check(unsafe { libc::syscall(libc::SYS_fsopen, c"tmpfs".as_ptr(), 1) })?;
    let context = owned(context)?;
    // SAFETY: this command takes neither key nor value.
    check(unsafe {
        libc::syscall(
            libc::SYS_fsconfig,
            context.as_raw_fd(),
            CREATE,
            ptr::null::<u8>(),
            ptr::null::<u8>(),
            0,
        )
    })?;
    // SAFETY: no memory is passed.
    owned(check(unsafe {
        libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), 1, 0)
    })?)
}

/// How many mounts the kernel lists below the root; at most 16.
pub(crate) fn list() -> io::Result<i64> {
    const LISTMOUNT: libc::c_long = 458;
    const ROOT: u64 = u64::MAX;
    // `struct mnt_id_req`: size and a spare word, then the mount and where to go on.
    let request: [u64; 3] = [24, ROOT, 0];
    let mut ids = [0_u64; 16];
    // SAFETY: the request is as long as it says, and there is room for as many numbers as are asked for.
    check(unsafe { libc::syscall(LISTMOUNT, request.as_ptr(), ids.as_mut_ptr(), ids.len(), 0) })
}
