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

/// What events are written to, where it has a name by which a command could write there, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// A file, which a sandbox can keep from being written.
    File(PathBuf),
    /// A pipe, which no read-only mount keeps: it must be out of reach.
    #[cfg_attr(
        not(unix),
        expect(dead_code, reason = "pipes have no such names there")
    )]
    Pipe(PathBuf),
    /// A pipe without a name, a terminal, a device.
    Nothing,
}

/// Opens what is named, and says what it is.
pub(super) fn open(named: &OsStr, cwd: &Path) -> Result<(Sink, Named), String> {
    let descriptor = named
        .to_str()
        .and_then(|named| named.strip_prefix(DESCRIPTOR));
    let (file, path) = match descriptor {
        Some(number) => of_descriptor(number)?,
        None => of_file(&cwd.join(named))?,
    };
    let named = examined(&file, path)?;
    Ok((Sink(file), named))
}

fn of_file(path: &Path) -> Result<(File, Option<PathBuf>), String> {
    let file = opened(path)?;
    Ok((file, std::fs::canonicalize(path).ok()))
}

/// What is open, if no command could write it by another name or by a stream of its own.
#[cfg(unix)]
fn examined(file: &File, path: Option<PathBuf>) -> Result<Named, String> {
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    let found = file.metadata().map_err(|error| error.to_string())?;
    let kind = found.file_type();
    if kind.is_char_device() {
        return Ok(Named::Nothing);
    }
    if kind.is_file() && found.nlink() > 1 {
        return Err("it has another name, by which a command could write it".to_owned());
    }
    let streams = [
        ("standard input", rustix::stdio::stdin()),
        ("standard output", rustix::stdio::stdout()),
        ("standard error", rustix::stdio::stderr()),
    ];
    for (name, stream) in streams {
        // The numbers are of different types on different systems; those of the same call are not.
        let same = rustix::fs::fstat(stream).is_ok_and(|stream| {
            rustix::fs::fstat(file)
                .is_ok_and(|own| (stream.st_dev, stream.st_ino) == (own.st_dev, own.st_ino))
        });
        if same {
            return Err(format!(
                "it is the same as {name}, where the command writes what it likes"
            ));
        }
    }
    Ok(match path {
        Some(path) if kind.is_file() => Named::File(path),
        Some(path) if kind.is_fifo() && path.is_absolute() && path.exists() => Named::Pipe(path),
        _ => Named::Nothing,
    })
}

#[cfg(not(unix))]
fn examined(file: &File, path: Option<PathBuf>) -> Result<Named, String> {
    let regular = file.metadata().is_ok_and(|found| found.is_file());
    Ok(match path {
        Some(path) if regular => Named::File(path),
        _ => Named::Nothing,
    })
}

/// How long a pipe is waited for that nobody reads.
#[cfg(unix)]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// Opens a file to add to it. A link may lead to a pipe or a device, as `/dev/fd/63` does, but not to a file: a command that
/// ran before could have put it there, to have this program write somewhere else.
#[cfg(unix)]
fn opened(path: &Path) -> Result<File, String> {
    let (file, linked) = match read_soon(path, libc::O_NOFOLLOW, true) {
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
            (read_soon(path, 0, false).map_err(told)?, true)
        }
        other => (other.map_err(told)?, false),
    };
    // A reader that is slow is waited for.
    rustix::io::ioctl_fionbio(&file, false).map_err(|errno| errno.to_string())?;
    let found = file.metadata().map_err(|error| error.to_string())?;
    match found.is_file() && linked {
        true => Err("it is a link to a file; name the file itself".to_owned()),
        false => Ok(file),
    }
}

/// Opens what is there. A pipe has a moment to find somebody who reads it, not longer: a command that ran before could have
/// put it there, to have this program wait for ever.
#[cfg(unix)]
fn read_soon(path: &Path, flags: i32, create: bool) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let begin = std::time::Instant::now();
    loop {
        let opened = OpenOptions::new()
            .append(true)
            .create(create)
            .mode(0o600)
            .custom_flags(flags | libc::O_NONBLOCK)
            .open(path);
        match opened {
            Err(error)
                if error.raw_os_error() == Some(libc::ENXIO) && begin.elapsed() < PATIENCE =>
            {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

#[cfg(unix)]
fn told(error: io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENXIO) => "nobody reads from this pipe".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(not(unix))]
fn opened(path: &Path) -> Result<File, String> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    options.open(path).map_err(|error| error.to_string())
}

#[cfg(unix)]
fn of_descriptor(number: &str) -> Result<(File, Option<PathBuf>), String> {
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
    Ok((file, named))
}

#[cfg(not(unix))]
fn of_descriptor(_: &str) -> Result<(File, Option<PathBuf>), String> {
    Err("descriptors are for Unix; name a file".to_owned())
}
