//! The three handles of a command.

use std::fs::File;
use std::io;
use std::os::windows::io::{AsHandle as _, BorrowedHandle, OwnedHandle};

use crate::launch::Descriptor;
use crate::outcome::SetupFailure;

/// The standard handles of a command. It gets copies; these are closed when the value is dropped.
#[derive(Debug)]
pub(crate) struct Stdio {
    /// Standard input.
    pub(crate) stdin: OwnedHandle,
    /// Standard output.
    pub(crate) stdout: OwnedHandle,
    /// Standard error.
    pub(crate) stderr: OwnedHandle,
}

impl Stdio {
    pub(super) fn each(&self) -> [BorrowedHandle<'_>; 3] {
        [
            self.stdin.as_handle(),
            self.stdout.as_handle(),
            self.stderr.as_handle(),
        ]
    }
}

/// The device that swallows everything.
pub(crate) fn null() -> Result<OwnedHandle, SetupFailure> {
    File::options()
        .read(true)
        .write(true)
        .open(r"\\.\NUL")
        .map(OwnedHandle::from)
        .map_err(|error| failure("opening NUL", &error))
}

/// A pipe for a stream that the command writes: our end, and the command's.
pub(crate) fn pipe_from_child() -> Result<(OwnedHandle, OwnedHandle), SetupFailure> {
    let (reader, writer) = pipe()?;
    Ok((reader, writer))
}

/// A pipe for what the command reads: our end, and the command's.
pub(crate) fn pipe_to_child() -> Result<(OwnedHandle, OwnedHandle), SetupFailure> {
    let (reader, writer) = pipe()?;
    Ok((writer, reader))
}

/// Neither end is inherited by anybody.
fn pipe() -> Result<(OwnedHandle, OwnedHandle), SetupFailure> {
    let (reader, writer) = io::pipe().map_err(|error| failure("making a pipe", &error))?;
    Ok((reader.into(), writer.into()))
}

/// Pipes block here, and threads wait for them.
pub(crate) fn never_block(_: &Descriptor) -> io::Result<()> {
    Ok(())
}

pub(super) fn failure(step: &str, error: &io::Error) -> SetupFailure {
    SetupFailure::new(
        step,
        error.raw_os_error(),
        format!("{step} failed: {error}"),
    )
}
