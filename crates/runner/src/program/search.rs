//! Where a name is looked for.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Where programs are looked for if the command has no search path.
pub const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A place where a program may be.
pub(super) struct Candidate {
    /// Absolute if its directory is, else below the directory of the command.
    pub(super) path: PathBuf,
    /// Whether where that is depends on the directory of the command.
    pub(super) relative: bool,
}

/// Whether a name is a path, which no search path is asked about.
pub(super) fn is_path(program: &OsStr) -> bool {
    program.as_encoded_bytes().contains(&b'/')
}

/// The places of a bare name, in order. An empty directory is that of the command.
pub(super) fn candidates(
    program: &OsStr,
    search_path: Option<&OsStr>,
) -> impl Iterator<Item = Candidate> {
    let search_path = search_path.unwrap_or(OsStr::new(DEFAULT_PATH));
    directories(search_path).map(move |directory| {
        let relative = !directory.as_encoded_bytes().starts_with(b"/");
        // Text, not `Path::join`: what is looked at must be what is executed, byte for byte.
        let mut path = directory;
        if !path.is_empty() {
            path.push("/");
        }
        path.push(program);
        Candidate {
            path: path.into(),
            relative,
        }
    })
}

#[cfg(unix)]
fn directories(search_path: &OsStr) -> impl Iterator<Item = OsString> {
    use std::os::unix::ffi::OsStrExt as _;
    let directories = search_path.as_bytes().split(|byte| *byte == b':');
    directories.map(|directory| OsStr::from_bytes(directory).to_owned())
}

#[cfg(not(unix))]
fn directories(search_path: &OsStr) -> impl Iterator<Item = OsString> {
    std::env::split_paths(search_path).map(PathBuf::into_os_string)
}
