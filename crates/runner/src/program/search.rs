//! Where a name is looked for.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use palisade_policy::Environment;

/// Where programs are looked for if the command has no search path.
#[cfg(not(windows))]
pub const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Where programs are looked for if the command has no search path.
#[cfg(windows)]
pub const DEFAULT_PATH: &str = r"C:\Windows\System32;C:\Windows";

/// The search path of a command with this environment.
pub(super) fn search_path(env: &Environment) -> Option<&OsStr> {
    let found = match cfg!(windows) {
        // Windows does not tell `Path` from `PATH`.
        true => env
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("PATH"))
            .map(|(_, value)| value),
        false => env.get(OsStr::new("PATH")),
    };
    found.map(|path| path.as_os_str())
}

/// A place where a program may be.
pub(super) struct Candidate {
    /// Absolute if its directory is, else below the directory of the command.
    pub(super) path: PathBuf,
    /// Whether where that is depends on the directory of the command.
    pub(super) relative: bool,
}

/// Whether a name is a path, which no search path is asked about.
pub(super) fn is_path(program: &OsStr) -> bool {
    let means_path = |byte: &u8| match cfg!(windows) {
        true => matches!(byte, b'/' | b'\\' | b':'),
        false => *byte == b'/',
    };
    program.as_encoded_bytes().iter().any(means_path)
}

/// The places of a bare name, in order. An empty directory is that of the command.
pub(super) fn candidates(
    program: &OsStr,
    search_path: Option<&OsStr>,
) -> impl Iterator<Item = Candidate> {
    let search_path = search_path.unwrap_or(OsStr::new(DEFAULT_PATH));
    directories(search_path).map(move |directory| {
        let relative = match cfg!(windows) {
            true => !Path::new(&directory).is_absolute(),
            false => !directory.as_encoded_bytes().starts_with(b"/"),
        };
        // Text, not `Path::join`: what is looked at must be what is executed, byte for byte.
        let mut path = directory;
        if !path.is_empty() {
            path.push(if cfg!(windows) { "\\" } else { "/" });
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
