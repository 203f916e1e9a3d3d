//! A directory that is held by its path, for systems without the calls that hold it better. Links are looked for before
//! a path is used, and whoever is fast enough can put one in between: [`Strength::Checked`].

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use palisade_policy::AbsolutePath;

use super::content::FileKind;
use super::strength::Strength;

/// What tells two files apart: here nothing does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity;

/// What is known about a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) kind: FileKind,
    pub(super) identity: Identity,
    pub(super) len: u64,
    pub(super) links: u64,
    modified: Option<SystemTime>,
}

impl Found {
    fn of(metadata: &Metadata) -> Self {
        let kind = match metadata.file_type() {
            kind if kind.is_symlink() => FileKind::Link,
            kind if kind.is_dir() => FileKind::Directory,
            kind if kind.is_file() => FileKind::File,
            _ => FileKind::Other,
        };
        Self {
            kind,
            identity: Identity,
            len: metadata.len(),
            links: 1,
            modified: metadata.modified().ok(),
        }
    }

    pub(super) const fn executable(&self) -> bool {
        false
    }

    pub(super) fn unchanged(&self, now: &Self) -> bool {
        self == now
    }
}

/// What a file that is made has of another: here nothing.
#[derive(Clone, Copy, Debug)]
#[expect(dead_code, reason = "permissions are taken over where there are some")]
pub(super) enum Making<'a> {
    New {
        executable: bool,
    },
    Like {
        old: &'a Found,
        executable: Option<bool>,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Directory(PathBuf);

pub(super) fn strongest() -> Strength {
    Strength::Checked
}

impl Directory {
    pub(super) fn open(path: &AbsolutePath, _: Strength) -> io::Result<Self> {
        for above in path.as_path().ancestors() {
            let metadata = fs::symlink_metadata(above)?;
            if !metadata.is_dir() {
                return Err(io::ErrorKind::NotADirectory.into());
            }
        }
        Ok(Self(path.as_path().to_path_buf()))
    }

    pub(super) fn identity(&self) -> io::Result<Identity> {
        fs::symlink_metadata(&self.0).map(|_| Identity)
    }

    pub(super) fn look(&self, name: &OsStr) -> io::Result<Option<Found>> {
        match fs::symlink_metadata(self.0.join(name)) {
            Ok(metadata) => Ok(Some(Found::of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn read_link(&self, name: &OsStr) -> io::Result<PathBuf> {
        fs::read_link(self.0.join(name))
    }

    pub(super) fn is_magic(&self, _: &OsStr) -> io::Result<bool> {
        Ok(false)
    }

    pub(super) fn is_of_processes(&self) -> io::Result<bool> {
        Ok(false)
    }

    pub(super) fn open_file(&self, name: &OsStr) -> io::Result<(File, Found)> {
        self.open_with(name, OpenOptions::new().read(true))
    }

    pub(super) fn open_in_place(&self, name: &OsStr) -> io::Result<(File, Found)> {
        self.open_with(name, OpenOptions::new().write(true))
    }

    fn open_with(&self, name: &OsStr, options: &OpenOptions) -> io::Result<(File, Found)> {
        let file = options.open(self.0.join(name))?;
        let found = Found::of(&file.metadata()?);
        Ok((file, found))
    }

    pub(super) fn create_file(&self, name: &OsStr, _: Making<'_>) -> io::Result<(File, bool)> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(self.0.join(name))?;
        Ok((file, true))
    }

    pub(super) fn create_dir(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub(super) fn rename_over(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    pub(super) fn rename_new(&self, from: &OsStr, target: &Self, to: &OsStr) -> io::Result<()> {
        if target.look(to)?.is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::rename(self.0.join(from), target.0.join(to))
    }

    pub(super) fn exchange(&self, _: &OsStr, _: &OsStr) -> io::Result<bool> {
        Ok(false)
    }

    pub(super) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub(super) fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }

    pub(super) fn sync(&self) {}
}

pub(super) fn is_link_error(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotADirectory
}

pub(super) fn is_race(_: &io::Error) -> bool {
    false
}

/// Nothing tells files apart here.
pub(super) fn identity_behind(_: &AbsolutePath) -> Option<Identity> {
    None
}
