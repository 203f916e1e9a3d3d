//! The file that a command would execute, on Windows.

mod hold;
mod resolve;
mod sys;

use std::io;
use std::path::{Path, PathBuf};

use palisade_policy::{AbsolutePath, PathCase};

use super::ProgramError;
pub(crate) use hold::{HeldDirectory, HeldProgram};
pub use resolve::resolve;
pub(crate) use resolve::resolve_for;

/// The file that a program's name meant when it was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judged {
    /// Its path, absolute.
    pub path: PathBuf,
    /// The same with all links resolved: what is started.
    pub real: PathBuf,
    /// The serial number of the volume that holds the file.
    pub dev: u64,
    /// The file's number on that volume. Where numbers are longer than this, it is made of all of it.
    pub ino: u64,
    /// When the file was last changed, in seconds since 1601 and nanoseconds: another content under the same number shows
    /// here, unless whoever wrote it set the time back, which Windows lets them.
    pub changed: (i64, i64),
}

impl Judged {
    fn look(path: PathBuf) -> io::Result<Self> {
        let held = HeldProgram::open(&path)?;
        let (dev, ino) = held.identity();
        Ok(Self {
            real: held.real().to_owned(),
            dev,
            ino,
            changed: held.changed(),
            path,
        })
    }

    /// Whether the path still leads to the same file with the same content.
    ///
    /// # Errors
    /// It does not, or nobody can tell.
    pub fn still_same(&self) -> Result<(), ProgramError> {
        match Self::look(self.path.clone()) {
            Ok(found) if found == *self => Ok(()),
            _ => Err(ProgramError::Changed {
                path: self.path.clone(),
            }),
        }
    }

    /// Whether the file, or the name that leads to it, lies in one of these directories: a program in a writable root
    /// is whatever the last command made of it.
    #[must_use]
    pub fn lies_in<'r>(
        &self,
        directories: impl IntoIterator<Item = &'r AbsolutePath>,
        case: PathCase,
    ) -> bool {
        let paths = [AbsolutePath::new(&self.path), AbsolutePath::new(&self.real)];
        directories.into_iter().any(|directory| {
            paths.iter().any(|path| match path {
                Ok(path) => directory.covers(path, case),
                // It goes through `..`; where the real file is decides, and that is asked too.
                Err(_) => false,
            })
        })
    }
}

/// The serial number of the volume of a directory, and the directory's number on it.
pub(super) fn directory_identity(path: &Path) -> Option<(u64, u64)> {
    HeldDirectory::open(path).ok().map(|held| held.identity())
}

#[cfg(test)]
mod tests;
