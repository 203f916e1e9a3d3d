//! `mount_setattr`, which rustix does not have.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

use super::check;

/// What happens to mounts. The bits are the kernel's.
#[derive(Clone, Copy)]
pub(crate) struct Change {
    pub(crate) set: u64,
    pub(crate) private: bool,
}

/// Not writable through this mount.
pub(crate) const READ_ONLY: u64 = 0x1;
/// Set-user-id bits mean nothing here.
pub(crate) const NO_SUID: u64 = 0x2;
/// Device nodes cannot be opened here.
pub(crate) const NO_DEV: u64 = 0x4;

#[repr(C)]
struct MountAttr {
    attr_set: u64,
    attr_clr: u64,
    propagation: u64,
    userns_fd: u64,
}

/// Changes the mount at a path below a descriptor and every mount below it; an empty path means the descriptor's own.
pub(crate) fn change_recursively(
    at: BorrowedFd<'_>,
    path: &CStr,
    change: Change,
) -> Result<(), Errno> {
    mount_setattr(at, path, libc::AT_RECURSIVE, change)
}

/// Changes the descriptor's own mount and no other.
pub(crate) fn change_one(at: BorrowedFd<'_>, set: u64) -> Result<(), Errno> {
    mount_setattr(
        at,
        c"",
        0,
        Change {
            set,
            private: false,
        },
    )
}

fn mount_setattr(
    at: BorrowedFd<'_>,
    path: &CStr,
    flags: libc::c_int,
    change: Change,
) -> Result<(), Errno> {
    let attr = MountAttr {
        attr_set: change.set,
        attr_clr: 0,
        propagation: if change.private { libc::MS_PRIVATE } else { 0 },
        userns_fd: 0,
    };
    let flags = flags
        | if path.is_empty() {
            libc::AT_EMPTY_PATH
        } else {
            0
        };
    // SAFETY: path and attribute outlive the call, and the size is the attribute's.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            at.as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const attr,
            size_of::<MountAttr>(),
        )
    })
    .map(drop)
}
