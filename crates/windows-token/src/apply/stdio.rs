//! The three standard handles of a command.

use std::fs::File;
use std::io;
use std::os::windows::io::{AsHandle as _, BorrowedHandle, OwnedHandle};

use super::error::LaunchError;
use crate::sys::file::{HandleKind, kind};

/// The standard handles of a command: input, output and errors. They are not closed here: the command gets copies.
#[derive(Debug)]
pub struct Stdio {
    handles: [OwnedHandle; 3],
}

impl Stdio {
    /// These three: pipes, a console, or files that the user redirected. A command can do with each what the handle was
    /// opened for, whatever access lists say; a directory is refused when it is started.
    #[must_use]
    pub const fn new(stdin: OwnedHandle, stdout: OwnedHandle, stderr: OwnedHandle) -> Self {
        Self {
            handles: [stdin, stdout, stderr],
        }
    }

    /// The null device, three times.
    ///
    /// # Errors
    /// The device cannot be opened.
    pub fn null() -> io::Result<Self> {
        let null = OwnedHandle::from(File::options().read(true).write(true).open("NUL")?);
        Ok(Self::new(null.try_clone()?, null.try_clone()?, null))
    }

    pub(super) fn handles(&self) -> [BorrowedHandle<'_>; 3] {
        self.handles.each_ref().map(|handle| handle.as_handle())
    }

    /// Refuses what a command could use to reach beyond its sandbox.
    pub(super) fn check(&self) -> Result<(), LaunchError> {
        for (number, handle) in (0..).zip(self.handles()) {
            let what = match kind(handle) {
                HandleKind::Character | HandleKind::Pipe => continue,
                HandleKind::Disk => {
                    let file = File::from(handle.try_clone_to_owned()?);
                    match file.metadata() {
                        Ok(found) if found.is_dir() => "a directory",
                        Ok(_) => continue,
                        // Opened for writing only, as a log is; a directory could be asked all the same.
                        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => continue,
                        Err(_) => "something that nobody can look at",
                    }
                }
                HandleKind::Unknown => "neither a file, a pipe nor a console",
            };
            return Err(LaunchError::Handle { number, what });
        }
        Ok(())
    }
}
