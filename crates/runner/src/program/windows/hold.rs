//! Files that are kept open so that nobody can change them meanwhile.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_GENERIC_EXECUTE, FILE_SHARE_READ, FILE_SHARE_WRITE,
};

use super::sys::{Identity, identify, is_on_disk};
use crate::host::real_path;

/// A program that is open to be run. While it is, nobody can write it, move it or put another in its place.
#[derive(Debug)]
pub(crate) struct HeldProgram {
    _file: File,
    real: PathBuf,
    identity: Identity,
}

impl HeldProgram {
    /// Opens it as one that may run it does.
    ///
    /// # Errors
    /// It is not there, is no file, may not be run, or somebody has it open for writing.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .access_mode(FILE_GENERIC_EXECUTE)
            .share_mode(FILE_SHARE_READ)
            .open(path)?;
        if !is_on_disk(&file) || !file.metadata()?.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it is no file",
            ));
        }
        let identity = identify(&file)?;
        let real = real_path(path)?;
        // A link may have been turned in between: then this is another file.
        let again = OpenOptions::new()
            .access_mode(FILE_GENERIC_EXECUTE)
            .share_mode(FILE_SHARE_READ)
            .open(&real)?;
        match identify(&again)? == identity {
            true => Ok(Self {
                _file: file,
                real,
                identity,
            }),
            false => Err(io::Error::other("it changes while it is looked at")),
        }
    }

    /// Where it is, without links.
    pub(crate) fn real(&self) -> &Path {
        &self.real
    }

    /// The volume's number and the file's.
    pub(crate) const fn identity(&self) -> (u64, u64) {
        (self.identity.volume, self.identity.file)
    }

    pub(super) const fn changed(&self) -> (i64, i64) {
        self.identity.changed
    }
}

/// A directory that is open to be entered. While it is, nobody can move it or put another in its place.
#[derive(Debug)]
pub(crate) struct HeldDirectory {
    _file: File,
    path: PathBuf,
    identity: Identity,
}

impl HeldDirectory {
    /// Opens it.
    ///
    /// # Errors
    /// It is not there, is no directory, or may not be entered.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        if !path.is_absolute() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is not absolute",
            ));
        }
        let open = |path: &Path| {
            OpenOptions::new()
                .access_mode(FILE_GENERIC_EXECUTE)
                .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
                .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
                .open(path)
        };
        let file = open(path)?;
        if !file.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let identity = identify(&file)?;
        let real = real_path(path)?;
        let again = open(&real)?;
        match identify(&again)?.is_same_file(&identity) {
            true => Ok(Self {
                _file: file,
                path: real,
                identity,
            }),
            false => Err(io::Error::other("it changes while it is looked at")),
        }
    }

    /// Where it is, without links.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The volume's number and the directory's.
    pub(crate) const fn identity(&self) -> (u64, u64) {
        (self.identity.volume, self.identity.file)
    }
}
