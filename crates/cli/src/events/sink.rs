//! Where events go.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// What a descriptor is named with.
const DESCRIPTOR: &str = "fd:";

/// A file or a descriptor, open for writing.
#[derive(Debug)]
pub(super) struct Sink(File);

impl Sink {
    /// Writes a line in one go, so that those of several runs in one file stay whole.
    pub(super) fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.0.write_all(line)
    }
}

/// Opens what is named, and says which file it is, if it is one.
pub(super) fn open(named: &OsStr, cwd: &Path) -> Result<(Sink, Option<PathBuf>), String> {
    let descriptor = named
        .to_str()
        .and_then(|named| named.strip_prefix(DESCRIPTOR));
    match descriptor {
        Some(number) => of_descriptor(number),
        None => of_file(&cwd.join(named)),
    }
}

fn of_file(path: &Path) -> Result<(Sink, Option<PathBuf>), String> {
    let file = opened(path)?;
    let regular = file.metadata().is_ok_and(|found| found.is_file());
    let path = regular.then(|| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()));
    Ok((Sink(file), path))
}

/// Opens a file to add to it. A link may lead to a pipe or a device, as `/dev/fd/63` does, but not to a file: a command that
/// ran before could have put it there, to have this program write somewhere else.
#[cfg(unix)]
fn opened(path: &Path) -> Result<File, String> {
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    let (file, linked) = match options.clone().custom_flags(libc::O_NOFOLLOW).open(path) {
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
            let file = options.create(false).open(path);
            (file.map_err(|error| error.to_string())?, true)
        }
        other => (other.map_err(|error| error.to_string())?, false),
    };
    let found = file.metadata().map_err(|error| error.to_string())?;
    match found.is_file() {
        true if linked => Err("it is a link to a file; name the file itself".to_owned()),
        true if found.nlink() != 1 => {
            Err("it has another name, by which a command could write it".to_owned())
        }
        _ => Ok(file),
    }
}

#[cfg(not(unix))]
fn opened(path: &Path) -> Result<File, String> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    options.open(path).map_err(|error| error.to_string())
}

#[cfg(unix)]
fn of_descriptor(number: &str) -> Result<(Sink, Option<PathBuf>), String> {
    let number: i32 = number
        .parse()
        .ok()
        .filter(|number| *number > 2)
        .ok_or("a descriptor is a number above 2: the first three belong to the command")?;
    // Named before it is taken, while it has this number.
    let named = std::fs::read_link(format!("/proc/self/fd/{number}")).ok();
    let file = super::sys::take(number).map_err(|error| match error.raw_os_error() {
        Some(libc::EBADF) => format!("descriptor {number} is not open for writing"),
        _ => error.to_string(),
    })?;
    let regular = file.metadata().is_ok_and(|found| found.is_file());
    Ok((Sink(file), named.filter(|_| regular)))
}

#[cfg(not(unix))]
fn of_descriptor(_: &str) -> Result<(Sink, Option<PathBuf>), String> {
    Err("descriptors are for Unix; name a file".to_owned())
}
