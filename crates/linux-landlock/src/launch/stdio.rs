//! The three descriptors of a command.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, fstat};

use super::error::LaunchError;

/// Descriptors 0, 1 and 2 of a command. They are not closed here: the command gets copies.
#[derive(Debug)]
pub struct Stdio {
    descriptors: [OwnedFd; 3],
}

impl Stdio {
    /// These three: pipes, a terminal, or files that the user redirected. A directory is refused when the command is
    /// started, because a command could reach beyond the sandbox through it.
    #[must_use]
    pub const fn new(stdin: OwnedFd, stdout: OwnedFd, stderr: OwnedFd) -> Self {
        Self {
            descriptors: [stdin, stdout, stderr],
        }
    }

    /// `/dev/null`, three times.
    ///
    /// # Errors
    /// The device cannot be opened.
    pub fn null() -> io::Result<Self> {
        let null = OwnedFd::from(File::options().read(true).write(true).open("/dev/null")?);
        Ok(Self::new(null.try_clone()?, null.try_clone()?, null))
    }

    pub(super) fn descriptors(&self) -> [BorrowedFd<'_>; 3] {
        self.descriptors.each_ref().map(AsFd::as_fd)
    }

    /// Refuses what a command could use to reach beyond its sandbox.
    ///
    /// A regular file can be opened again through `/proc`, with more rights than the descriptor has: Landlock judges
    /// that, so without Landlock only pipes, sockets and devices pass.
    pub(super) fn check(&self, landlock: bool) -> Result<(), LaunchError> {
        for (number, descriptor) in (0..).zip(self.descriptors()) {
            let what = match FileType::from_raw_mode(fstat(descriptor)?.st_mode) {
                FileType::Directory => "a directory",
                FileType::RegularFile if !landlock => "a file where the kernel has no Landlock",
                _ => continue,
            };
            return Err(LaunchError::Descriptor { number, what });
        }
        Ok(())
    }
}
