//! How the file system spells a path that exists: the kernel compares rules with that spelling.

use std::path::{Path, PathBuf};

/// The path as the file system spells it. One that cannot be opened cannot be reached by a command of the same user
/// either: it stays as it is.
#[cfg(target_os = "macos")]
pub(super) fn true_spelling(path: &Path) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;

    use rustix::fs::{Mode, OFlags};

    // Only to ask about it: a device is not started, a pipe not waited for.
    let flags = OFlags::from_bits_retain(libc::O_EVTONLY.cast_unsigned())
        | OFlags::NONBLOCK
        | OFlags::CLOEXEC
        | OFlags::NOFOLLOW;
    let spelled = rustix::fs::open(path, flags, Mode::empty())
        .and_then(rustix::fs::getpath)
        .map(|spelled| PathBuf::from(std::ffi::OsString::from_vec(spelled.into_bytes())));
    match spelled {
        Ok(spelled) if spelled.is_absolute() => spelled,
        _ => path.to_path_buf(),
    }
}

/// The path as the file system spells it: elsewhere, names are bytes.
#[cfg(not(target_os = "macos"))]
pub(super) fn true_spelling(path: &Path) -> PathBuf {
    path.to_path_buf()
}
