//! Every unsafe block of the crate: system calls that the standard library does not make.
#![expect(
    unsafe_code,
    reason = "system calls without a safe form in the standard library"
)]

pub(crate) mod at;
pub(crate) mod files;
pub(crate) mod harmless;
#[cfg(target_arch = "x86_64")]
pub(crate) mod i386;
pub(crate) mod ipc;
pub(crate) mod mounts;
pub(crate) mod net;
pub(crate) mod privilege;
pub(crate) mod process;
pub(crate) mod sockets;
pub(crate) mod terminal;

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The result of a system call as a value: minus one means that the error is in `errno`.
fn check<T: Copy + Into<i64>>(result: T) -> io::Result<T> {
    if result.into() == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn terminated(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}

fn text(name: &str) -> io::Result<CString> {
    terminated(Path::new(name))
}

/// The name of an error.
pub(crate) fn error_name(error: &io::Error) -> String {
    let Some(number) = error.raw_os_error() else {
        return format!("{:?}", error.kind());
    };
    let names = [
        (libc::EPERM, "EPERM"),
        (libc::ENOENT, "ENOENT"),
        (libc::ESRCH, "ESRCH"),
        (libc::EINTR, "EINTR"),
        (libc::EIO, "EIO"),
        (libc::ENXIO, "ENXIO"),
        (libc::E2BIG, "E2BIG"),
        (libc::ENOEXEC, "ENOEXEC"),
        (libc::EBADF, "EBADF"),
        (libc::EAGAIN, "EAGAIN"),
        (libc::ENOMEM, "ENOMEM"),
        (libc::EACCES, "EACCES"),
        (libc::EFAULT, "EFAULT"),
        (libc::EBUSY, "EBUSY"),
        (libc::ETXTBSY, "ETXTBSY"),
        (libc::EEXIST, "EEXIST"),
        (libc::EXDEV, "EXDEV"),
        (libc::ENODEV, "ENODEV"),
        (libc::ENOTDIR, "ENOTDIR"),
        (libc::EISDIR, "EISDIR"),
        (libc::EINVAL, "EINVAL"),
        (libc::EMFILE, "EMFILE"),
        (libc::ENOTTY, "ENOTTY"),
        (libc::EFBIG, "EFBIG"),
        (libc::ENOSPC, "ENOSPC"),
        (libc::EROFS, "EROFS"),
        (libc::EPIPE, "EPIPE"),
        (libc::ENOSYS, "ENOSYS"),
        (libc::ELOOP, "ELOOP"),
        (libc::ENAMETOOLONG, "ENAMETOOLONG"),
        (libc::ENOTEMPTY, "ENOTEMPTY"),
        (libc::ENODATA, "ENODATA"),
        (libc::ENOTSOCK, "ENOTSOCK"),
        (libc::ENOPROTOOPT, "ENOPROTOOPT"),
        (libc::EPROTONOSUPPORT, "EPROTONOSUPPORT"),
        (libc::ESOCKTNOSUPPORT, "ESOCKTNOSUPPORT"),
        (libc::EOPNOTSUPP, "EOPNOTSUPP"),
        (libc::EAFNOSUPPORT, "EAFNOSUPPORT"),
        (libc::EADDRNOTAVAIL, "EADDRNOTAVAIL"),
        (libc::ENETUNREACH, "ENETUNREACH"),
        (libc::EHOSTUNREACH, "EHOSTUNREACH"),
        (libc::EISCONN, "EISCONN"),
        (libc::ECONNREFUSED, "ECONNREFUSED"),
        (libc::ECONNRESET, "ECONNRESET"),
        (libc::ETIMEDOUT, "ETIMEDOUT"),
        (libc::ENOKEY, "ENOKEY"),
        (libc::EDQUOT, "EDQUOT"),
    ];
    names
        .iter()
        .find(|(known, _)| *known == number)
        .map_or_else(|| format!("E{number}"), |(_, name)| (*name).to_owned())
}
