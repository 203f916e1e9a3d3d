//! Files by descriptor, by flag and by attribute: the rarer ways to change one.

use std::ffi::{CStr, c_int};
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::Path;
use std::ptr;

use super::files::owned;
use super::{check, terminated};

/// Exchanges both names at once.
pub(crate) const EXCHANGE: u32 = libc::RENAME_EXCHANGE;
/// Leaves a whiteout behind, as a layer of an overlay does.
pub(crate) const WHITEOUT: u32 = libc::RENAME_WHITEOUT;
/// Keeps the walk below the directory, as if that were the root.
pub(crate) const IN_ROOT: u64 = 0x10;
/// Lets the walk follow no link of `/proc`.
pub(crate) const NO_MAGIC_LINKS: u64 = 0x02;

/// Opens with flags that the standard library does not have.
pub(crate) fn open(path: &Path, flags: c_int) -> io::Result<OwnedFd> {
    let path = terminated(path)?;
    // SAFETY: a terminated string that outlives the call; the mode is for flags that make a file.
    let fd = check(unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, 0o600) })?;
    owned(fd.into())
}

/// Opens below a directory.
pub(crate) fn open_at(directory: &OwnedFd, path: &Path, flags: c_int) -> io::Result<OwnedFd> {
    let path = terminated(path)?;
    // SAFETY: a terminated string that outlives the call; the mode is for flags that make a file.
    let fd = check(unsafe {
        libc::openat(
            directory.as_raw_fd(),
            path.as_ptr(),
            flags | libc::O_CLOEXEC,
            0o600,
        )
    })?;
    owned(fd.into())
}

/// Opens for writing below a directory, with limits on how the path is walked.
pub(crate) fn open_resolved(directory: &OwnedFd, path: &Path, resolve: u64) -> io::Result<OwnedFd> {
    let path = terminated(path)?;
    let flags = u64::from(libc::O_WRONLY.cast_unsigned() | libc::O_CLOEXEC.cast_unsigned());
    // `struct open_how`: flags, mode, resolve.
    let how: [u64; 3] = [flags, 0, resolve];
    // SAFETY: a terminated string, and three words of the length that is said; both outlive the call.
    owned(check(unsafe {
        libc::syscall(
            libc::SYS_openat2,
            directory.as_raw_fd(),
            path.as_ptr(),
            how.as_ptr(),
            size_of_val(&how),
        )
    })?)
}

/// Renames with flags.
pub(crate) fn rename(from: &Path, to: &Path, flags: u32) -> io::Result<()> {
    let (from, to) = (terminated(from)?, terminated(to)?);
    // SAFETY: terminated strings that outlive the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            libc::AT_FDCWD,
            from.as_ptr(),
            libc::AT_FDCWD,
            to.as_ptr(),
            flags,
        )
    })?;
    Ok(())
}

/// Gives an open file a name.
pub(crate) fn link_open(file: &OwnedFd, to: &Path) -> io::Result<()> {
    let from = super::text(&format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let to = terminated(to)?;
    // SAFETY: terminated strings that outlive the call.
    check(unsafe {
        libc::linkat(
            libc::AT_FDCWD,
            from.as_ptr(),
            libc::AT_FDCWD,
            to.as_ptr(),
            libc::AT_SYMLINK_FOLLOW,
        )
    })?;
    Ok(())
}

pub(crate) fn unlink_at(directory: &OwnedFd, name: &CStr) -> io::Result<()> {
    // SAFETY: a terminated string that outlives the call.
    check(unsafe { libc::unlinkat(directory.as_raw_fd(), name.as_ptr(), 0) })?;
    Ok(())
}

pub(crate) fn make_directory_at(directory: &OwnedFd, name: &CStr) -> io::Result<()> {
    // SAFETY: a terminated string that outlives the call.
    check(unsafe { libc::mkdirat(directory.as_raw_fd(), name.as_ptr(), 0o700) })?;
    Ok(())
}

/// Writes to a descriptor in the ways that take no address of memory: room, a copy, a transfer, another size.
pub(crate) fn fill(file: &OwnedFd, from: &OwnedFd) -> [(&'static str, io::Result<i64>); 5] {
    let (to, from) = (file.as_raw_fd(), from.as_raw_fd());
    let none = ptr::null_mut::<libc::off64_t>();
    // SAFETY: no memory is passed: where a position could be given, there is none.
    unsafe {
        [
            (
                "fallocate",
                check(i64::from(libc::fallocate(to, 0, 0, 8192))),
            ),
            (
                "copy_file_range",
                check(libc::copy_file_range(from, none, to, none, 4, 0) as i64),
            ),
            ("sendfile", check(libc::sendfile(to, from, none, 4) as i64)),
            ("ftruncate", check(i64::from(libc::ftruncate(to, 1)))),
            (
                "clone",
                check(i64::from(libc::ioctl(to, libc::FICLONE, from))),
            ),
        ]
    }
}

/// Sets an attribute of the user's on a file.
pub(crate) fn set_attribute(path: &Path, name: &CStr, value: &[u8]) -> io::Result<()> {
    let path = terminated(path)?;
    // SAFETY: terminated strings and a value of the length that is said; all outlive the call.
    check(unsafe {
        libc::setxattr(
            path.as_ptr(),
            name.as_ptr(),
            value.as_ptr().cast(),
            value.len(),
            0,
        )
    })?;
    Ok(())
}

/// The same by descriptor, which only has to be readable.
pub(crate) fn set_attribute_of(file: impl AsFd, name: &CStr, value: &[u8]) -> io::Result<()> {
    let file = file.as_fd().as_raw_fd();
    // SAFETY: a terminated string and a value of the length that is said; both outlive the call.
    check(unsafe { libc::fsetxattr(file, name.as_ptr(), value.as_ptr().cast(), value.len(), 0) })?;
    Ok(())
}

pub(crate) fn remove_attribute(path: &Path, name: &CStr) -> io::Result<()> {
    let path = terminated(path)?;
    // SAFETY: terminated strings that outlive the call.
    check(unsafe { libc::removexattr(path.as_ptr(), name.as_ptr()) })?;
    Ok(())
}

/// Marks a file as not to be dumped, which changes nothing else about it.
pub(crate) fn set_flags(file: impl AsFd) -> io::Result<()> {
    const NO_DUMP: libc::c_long = 0x40;
    let file = file.as_fd().as_raw_fd();
    let mut flags: libc::c_long = 0;
    // SAFETY: both requests read or write one number, which outlives them.
    unsafe {
        check(libc::ioctl(file, libc::FS_IOC_GETFLAGS, &raw mut flags))?;
        flags ^= NO_DUMP;
        check(libc::ioctl(file, libc::FS_IOC_SETFLAGS, &raw const flags))?;
    }
    Ok(())
}

/// The same by the system call of newer kernels.
pub(crate) fn set_flags_by_call(path: &Path) -> io::Result<()> {
    const FILE_SETATTR: libc::c_long = 469;
    const NO_DUMP: u64 = 0x80;
    let path = terminated(path)?;
    // `struct file_attr`: the flags, then four numbers that stay.
    let attributes: [u64; 3] = [NO_DUMP, 0, 0];
    // SAFETY: a terminated string and three words of the length that is said; both outlive the call.
    check(unsafe {
        libc::syscall(
            FILE_SETATTR,
            libc::AT_FDCWD,
            path.as_ptr(),
            attributes.as_ptr(),
            size_of_val(&attributes),
            0,
        )
    })?;
    Ok(())
}

/// Takes the mode bits by a descriptor that is open for nothing.
pub(crate) fn set_mode_of(file: &OwnedFd) -> io::Result<()> {
    const FCHMODAT2: libc::c_long = 452;
    // SAFETY: an empty terminated string.
    check(unsafe {
        libc::syscall(
            FCHMODAT2,
            file.as_raw_fd(),
            c"".as_ptr(),
            0,
            libc::AT_EMPTY_PATH,
        )
    })?;
    Ok(())
}

/// Sets both times to the first second of the epoch, by a descriptor that only has to be readable.
pub(crate) fn set_times_of(file: &OwnedFd) -> io::Result<()> {
    let times = [libc::timespec {
        tv_sec: 1,
        tv_nsec: 0,
    }; 2];
    // SAFETY: an array of two times that outlives the call.
    check(unsafe { libc::futimens(file.as_raw_fd(), times.as_ptr()) })?;
    Ok(())
}

/// Asks for the handle of a file. A file system may have none: that is an answer too.
pub(crate) fn handle(path: &Path) -> io::Result<i64> {
    let path = terminated(path)?;
    // `struct file_handle` with no room: the kernel says how much it wants.
    let mut handle = [0_u32; 2];
    let mut mount_id: c_int = 0;
    // SAFETY: a terminated string, a handle that says that it has no room, and a number; all outlive the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_name_to_handle_at,
            libc::AT_FDCWD,
            path.as_ptr(),
            handle.as_mut_ptr(),
            &raw mut mount_id,
            0,
        )
    })
}

/// Takes a lease on a file that was opened for reading.
pub(crate) fn lease(file: &OwnedFd) -> io::Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) })?;
    Ok(())
}

/// The size of a file, by the newer call.
pub(crate) fn size_by_statx(path: &Path) -> io::Result<u64> {
    let path = terminated(path)?;
    // SAFETY: all zeros is a description with nothing in it.
    let mut about: libc::statx = unsafe { mem::zeroed() };
    // SAFETY: a terminated string and a description that the kernel fills in; both outlive the call.
    check(unsafe {
        libc::statx(
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::AT_SYMLINK_NOFOLLOW,
            libc::STATX_SIZE,
            &raw mut about,
        )
    })?;
    Ok(about.stx_size)
}
