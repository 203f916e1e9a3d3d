//! Files: what the standard library cannot make, and descriptors known only by number.

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, FromRawFd as _, OwnedFd};
use std::path::Path;

use super::{check, terminated, text};

pub(crate) fn make_fifo(path: &Path) -> io::Result<()> {
    let path = terminated(path)?;
    // SAFETY: a terminated string that outlives the call.
    check(unsafe { libc::mkfifo(path.as_ptr(), 0o600) })?;
    Ok(())
}

/// A node of the null device, which is harmless to have.
pub(crate) fn make_device(path: &Path) -> io::Result<()> {
    let path = terminated(path)?;
    // SAFETY: a terminated string that outlives the call.
    check(unsafe { libc::mknod(path.as_ptr(), libc::S_IFCHR | 0o600, libc::makedev(1, 3)) })?;
    Ok(())
}

pub(crate) fn truncate(path: &Path) -> io::Result<()> {
    let path = terminated(path)?;
    // SAFETY: a terminated string that outlives the call.
    check(unsafe { libc::truncate(path.as_ptr(), 1) })?;
    Ok(())
}

/// Sets both times to the first second of the epoch.
pub(crate) fn set_times(path: &Path) -> io::Result<()> {
    let path = terminated(path)?;
    let times = [libc::timespec {
        tv_sec: 1,
        tv_nsec: 0,
    }; 2];
    // SAFETY: a terminated string and an array of two times, both outliving the call.
    check(unsafe { libc::utimensat(libc::AT_FDCWD, path.as_ptr(), times.as_ptr(), 0) })?;
    Ok(())
}

/// Opens a file for writing by its handle.
pub(crate) fn open_by_handle(path: &Path, mount: &File) -> io::Result<File> {
    const ROOM: u32 = 128;
    #[repr(C)]
    struct Handle {
        bytes: u32,
        kind: c_int,
        body: [u8; ROOM as usize],
    }
    let path = terminated(path)?;
    let mut handle = Handle {
        bytes: ROOM,
        kind: 0,
        body: [0; ROOM as usize],
    };
    let mut mount_id: c_int = 0;
    // SAFETY: a terminated string; the handle has the room that it claims; all outlive the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_name_to_handle_at,
            libc::AT_FDCWD,
            path.as_ptr(),
            &raw mut handle,
            &raw mut mount_id,
            0,
        )
    })?;
    // SAFETY: the kernel filled the handle above.
    let fd = check(unsafe {
        libc::syscall(
            libc::SYS_open_by_handle_at,
            mount.as_raw_fd(),
            &raw mut handle,
            libc::O_RDWR | libc::O_CLOEXEC,
        )
    })?;
    owned(fd).map(File::from)
}

/// A number that the kernel just returned as a new descriptor.
pub(super) fn owned(fd: i64) -> io::Result<OwnedFd> {
    let fd = c_int::try_from(fd).map_err(|_| io::Error::from_raw_os_error(libc::EBADF))?;
    if fd < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: the callers pass only what the kernel just returned as a new descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A copy of a descriptor that is known only by number, as a leaked one is.
pub(crate) fn copy_of(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed, and a number that is no descriptor is refused.
    let fd = check(unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 0) })?;
    owned(fd.into())
}

/// A copy that children inherit, with a number that is high enough to be nothing else in them.
pub(crate) fn leak(fd: impl AsFd) -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed, and the descriptor is open.
    let fd = check(unsafe { libc::fcntl(fd.as_fd().as_raw_fd(), libc::F_DUPFD, 200) })?;
    owned(fd.into())
}

/// A file in memory.
pub(crate) fn memory_file(name: &str, inherited: bool) -> io::Result<File> {
    let name = text(name)?;
    let flags = if inherited { 0 } else { libc::MFD_CLOEXEC };
    // SAFETY: a terminated string that outlives the call.
    let fd = check(unsafe { libc::memfd_create(name.as_ptr(), flags) })?;
    owned(fd.into()).map(File::from)
}

/// Writes one byte through a shared mapping of the first page.
pub(crate) fn write_mapped(file: &File, byte: u8) -> io::Result<()> {
    const PAGE: usize = 4096;
    // SAFETY: a new shared mapping; no existing memory is touched.
    let at = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            PAGE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    if at == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // The callers pass files of at least one byte that nobody truncates, so the page is backed.
    // SAFETY: the mapping is writable and at least one byte long; it is used only here.
    unsafe {
        at.cast::<u8>().write(byte);
        libc::munmap(at, PAGE);
    }
    Ok(())
}

/// An inotify instance that watches this directory, if one is given.
pub(crate) fn watch(directory: Option<&Path>) -> io::Result<File> {
    // SAFETY: no memory is passed.
    let fd = check(unsafe { libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK) })?;
    let file = owned(fd.into()).map(File::from)?;
    if let Some(directory) = directory {
        let directory = terminated(directory)?;
        // SAFETY: a terminated string that outlives the call.
        check(unsafe {
            libc::inotify_add_watch(file.as_raw_fd(), directory.as_ptr(), libc::IN_CREATE)
        })?;
    }
    Ok(file)
}

/// Asks to type a character into a terminal.
pub(crate) fn type_into(file: &File) -> io::Result<()> {
    let byte = b' ';
    // SAFETY: the request reads one byte, which outlives the call.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TIOCSTI, &raw const byte) })?;
    Ok(())
}

/// Asks a console to paste.
pub(crate) fn paste(file: &File) -> io::Result<()> {
    let request = 3_u8;
    // SAFETY: the request reads one byte, which outlives the call.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TIOCLINUX, &raw const request) })?;
    Ok(())
}
