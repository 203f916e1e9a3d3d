//! The directories that the user's programs share.

use std::path::Path;

/// What our directory is called below the user's.
pub(super) const NAME: &str = "palisade";

/// Whether a directory is the user's own and nobody else's, as the specification of `XDG_RUNTIME_DIR` demands. Under
/// `sudo` the variable often names that of somebody else.
#[cfg(unix)]
pub(super) fn is_private_to(path: &Path, uid: Option<u32>) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_dir() && Some(found.uid()) == uid && found.mode() & 0o077 == 0)
}

#[cfg(not(unix))]
pub(super) fn is_private_to(_: &Path, _: Option<u32>) -> bool {
    false
}
