//! Writing a file for somebody: never over what is there unless they say so, and never half of it.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use crate::complaint::Complaint;
use crate::say::shown;

/// Makes a file that was not there.
///
/// # Errors
/// Something is there, or it cannot be made.
pub(super) fn fresh(path: &Path, text: &str) -> Result<(), Complaint> {
    if let Some(directory) = path.parent() {
        make_directory(directory)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    readable(&mut options);
    let written = options
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Complaint::refused(format!("{} is there already", shown(path)))
            .help("--force writes over it"),
        _ => failed(path, &error),
    })
}

/// Writes a file as a whole, over what is there.
///
/// # Errors
/// It cannot be written; what was there is untouched.
pub(super) fn over(path: &Path, text: &str) -> Result<(), Complaint> {
    if let Some(directory) = path.parent() {
        make_directory(directory)?;
    }
    // A link is followed: what it leads to is what is meant.
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut beside = real.clone().into_os_string();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = Path::new(&beside);
    let write = || {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        readable(&mut options);
        options.open(beside)?.write_all(text.as_bytes())?;
        if let Ok(there) = fs::metadata(&real) {
            fs::set_permissions(beside, there.permissions())?;
        }
        fs::rename(beside, &real)
    };
    write().map_err(|error| {
        // It may not be there.
        let _ = fs::remove_file(beside);
        failed(path, &error)
    })
}

fn make_directory(directory: &Path) -> Result<(), Complaint> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        // A policy in a directory that others can write is refused when it is read.
        builder.mode(0o755);
    }
    builder
        .create(directory)
        .map_err(|error| failed(directory, &error))
}

/// A policy that others can write is refused when it is read, whatever the umask.
fn readable(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o644);
    }
    #[cfg(not(unix))]
    let _ = options;
}

fn failed(path: &Path, error: &std::io::Error) -> Complaint {
    Complaint::failed(format!("{} cannot be written: {error}", shown(path)))
}
