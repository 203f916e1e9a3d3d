//! What a command led to when it was judged: its program and its directory.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use palisade_policy::{CommandSpec, Environment};

use super::search::search_path;
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
        let (dev, ino) = identity(&path)?;
        Some(Self { path, dev, ino })
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let found = std::fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(windows)]
use super::windows::directory_identity as identity;

impl Seen {
    /// Looks at what a command leads to now.
    #[must_use]
    pub fn look(command: &CommandSpec) -> Self {
        Self::look_at(&command.program, &command.env, &command.cwd)
    }

    /// Looks at what a program with this environment, in this directory, leads to now.
    #[must_use]
    pub fn look_at(program: &OsStr, env: &Environment, cwd: &Path) -> Self {
        Self {
            program: resolve(program, search_path(env), cwd).ok(),
            directory: SeenDirectory::look(cwd.to_owned()),
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
