//! How the file system spells a path that exists: the kernel compares rules with that spelling.

use std::path::{Path, PathBuf};

/// The path as the file system spells it: `None` if it cannot be opened, so that nobody says. A command may still come to
/// open it: its owner changes its mode, or the user answers the system's question with yes.
#[cfg(target_os = "macos")]
pub(super) fn true_spelling(path: &Path) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;

    use rustix::fs::{Mode, OFlags};

    // Only to ask about it: a device is not started, a pipe not waited for.
    let flags = OFlags::from_bits_retain(libc::O_EVTONLY.cast_unsigned())
        | OFlags::NONBLOCK
        | OFlags::CLOEXEC
        | OFlags::NOFOLLOW;
    rustix::fs::open(path, flags, Mode::empty())
        .and_then(rustix::fs::getpath)
        .map(|spelled| PathBuf::from(std::ffi::OsString::from_vec(spelled.into_bytes())))
        .ok()
        .filter(|spelled| spelled.is_absolute())
}

/// The path as the file system spells it: elsewhere, names are bytes.
#[cfg(not(target_os = "macos"))]
#[expect(clippy::unnecessary_wraps, reason = "on macOS it is not always known")]
pub(super) fn true_spelling(path: &Path) -> Option<PathBuf> {
    Some(path.to_path_buf())
}
