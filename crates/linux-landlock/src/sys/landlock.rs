//! The three Landlock calls.

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use rustix::io::Errno;

use super::check;
use crate::plan::{FsRights, NetRights, Scopes};

#[repr(C)]
struct RulesetAttr {
    handled_access_fs: u64,
    handled_access_net: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneathAttr {
    allowed_access: u64,
    parent_fd: i32,
}

#[repr(C)]
struct NetPortAttr {
    allowed_access: u64,
    port: u64,
}

const RULE_PATH_BENEATH: libc::c_int = 1;
const RULE_NET_PORT: libc::c_int = 2;

/// Makes a ruleset. Kernels refuse an attribute that is longer than they know unless the rest is zero, so the
/// attribute is as short as its content allows.
pub(crate) fn create_ruleset(
    fs: FsRights,
    net: NetRights,
    scopes: Scopes,
) -> Result<OwnedFd, Errno> {
    let attr = RulesetAttr {
        handled_access_fs: fs.bits(),
        handled_access_net: net.bits(),
        scoped: scopes.bits(),
    };
    let size: usize = match (attr.handled_access_net, attr.scoped) {
        (0, 0) => 8,
        (_, 0) => 16,
        _ => 24,
    };
    // SAFETY: the attribute outlives the call, and `size` does not exceed it.
    let fd = check(unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            &raw const attr,
            size,
            0_u32,
        )
    })?;
    let fd = libc::c_int::try_from(fd).map_err(|_| Errno::BADF)?;
    // SAFETY: the kernel has just given us this descriptor; nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Grants rights on what a descriptor stands for and everything below it.
pub(crate) fn add_path_rule(
    ruleset: BorrowedFd<'_>,
    at: BorrowedFd<'_>,
    rights: FsRights,
) -> Result<(), Errno> {
    let attr = PathBeneathAttr {
        allowed_access: rights.bits(),
        parent_fd: at.as_raw_fd(),
    };
    // SAFETY: the attribute has the kernel's packed layout and outlives the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            RULE_PATH_BENEATH,
            ptr::from_ref(&attr),
            0_u32,
        )
    })
    .map(drop)
}

/// Grants rights on a TCP port.
pub(crate) fn add_port_rule(
    ruleset: BorrowedFd<'_>,
    port: u16,
    rights: NetRights,
) -> Result<(), Errno> {
    let attr = NetPortAttr {
        allowed_access: rights.bits(),
        port: u64::from(port),
    };
    // SAFETY: the attribute has the kernel's layout and outlives the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            RULE_NET_PORT,
            ptr::from_ref(&attr),
            0_u32,
        )
    })
    .map(drop)
}

/// Puts the calling thread into the domain of a ruleset, for good.
pub(crate) fn restrict_self(ruleset: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0_u32) })
        .map(drop)
}
