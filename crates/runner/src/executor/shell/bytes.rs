//! Between words of a command and bytes, never lossily.

use std::ffi::{OsStr, OsString};

/// The bytes of a word; elsewhere than on Unix only of one that is text.
#[cfg(unix)]
pub(super) fn of(word: &OsStr) -> Option<&[u8]> {
    use std::os::unix::ffi::OsStrExt;
    Some(word.as_bytes())
}

/// The word of these bytes.
#[cfg(unix)]
pub(super) fn as_os(bytes: &[u8]) -> Option<&OsStr> {
    use std::os::unix::ffi::OsStrExt;
    Some(OsStr::from_bytes(bytes))
}

/// The word of these bytes.
#[cfg(unix)]
pub(super) fn into_os(bytes: Vec<u8>) -> Option<OsString> {
    use std::os::unix::ffi::OsStringExt;
    Some(OsString::from_vec(bytes))
}

/// The bytes of a word; elsewhere than on Unix only of one that is text.
#[cfg(not(unix))]
pub(super) fn of(word: &OsStr) -> Option<&[u8]> {
    word.to_str().map(str::as_bytes)
}

/// The word of these bytes.
#[cfg(not(unix))]
pub(super) fn as_os(bytes: &[u8]) -> Option<&OsStr> {
    std::str::from_utf8(bytes).ok().map(OsStr::new)
}

/// The word of these bytes.
#[cfg(not(unix))]
pub(super) fn into_os(bytes: Vec<u8>) -> Option<OsString> {
    String::from_utf8(bytes).ok().map(OsString::from)
}
