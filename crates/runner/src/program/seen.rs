//! What a command led to when it was judged: its program and its directory.

use std::ffi::OsStr;
use std::path::PathBuf;

use palisade_policy::CommandSpec;
use rustix::fs::stat;

use super::judged::identity;
use super::{Judged, ProgramError, resolve};

/// What a command led to when it was judged. Between that and its start a person may think for hours, and somebody else
/// may use them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The file of its program; `None` if there was none that could be run.
    pub program: Option<Judged>,
    /// Its directory; `None` if there was none. One that only a sandbox has is not seen from here.
    pub directory: Option<SeenDirectory>,
}

/// A directory, and what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeenDirectory {
    /// Its path.
    pub path: PathBuf,
    /// The device that holds it.
    pub dev: u64,
    /// Its number on that device.
    pub ino: u64,
}

impl SeenDirectory {
    fn look(path: PathBuf) -> Option<Self> {
        // Files come and go in it: only which one it is counts.
        let (dev, ino, _) = identity(&stat(&path).ok()?);
        Some(Self { path, dev, ino })
    }
}

impl Seen {
    /// Looks at what a command leads to now.
    #[must_use]
    pub fn look(command: &CommandSpec) -> Self {
        let path = command.env.get(OsStr::new("PATH"));
        let path = path.map(|path| path.as_os_str());
        Self {
            program: resolve(&command.program, path, &command.cwd).ok(),
            directory: SeenDirectory::look(command.cwd.clone()),
        }
    }

    /// Whether both are what they were.
    ///
    /// # Errors
    /// The program or the directory is another.
    pub fn still_holds(&self) -> Result<(), ProgramError> {
        if let Some(program) = &self.program {
            program.still_same()?;
        }
        match &self.directory {
            Some(seen) if SeenDirectory::look(seen.path.clone()).as_ref() != Some(seen) => {
                Err(ProgramError::Changed {
                    path: seen.path.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    /// What tells this program from every other, for an approval that is for it alone.
    #[must_use]
    pub fn program_identity(&self) -> String {
        match &self.program {
            Some(found) => format!(
                "{:?} {} {} {}.{}",
                found.real, found.dev, found.ino, found.changed.0, found.changed.1
            ),
            None => String::new(),
        }
    }
}
