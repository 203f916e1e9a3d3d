//! The directory that a session has for temporary files, and nobody else.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use palisade_policy::AbsolutePath;

use super::error::ApplyError;

/// How often another name is tried.
const TRIES: usize = 16;

/// How deep below it what cannot be removed is looked for.
#[cfg(unix)]
const DEPTH: usize = 64;

/// A directory that only its owner enters. It is removed with everything in it when the value is dropped.
#[derive(Debug)]
pub struct SessionTmp {
    path: AbsolutePath,
    removed: bool,
}

impl SessionTmp {
    /// Makes one below this directory, such as the user's own for temporary files.
    ///
    /// # Errors
    /// It could not be made, or what was made is not private.
    pub fn create(base: &Path) -> Result<Self, ApplyError> {
        let failed = |why: &str, source: Option<io::Error>| ApplyError::Temporary {
            base: base.to_owned(),
            why: source
                .as_ref()
                .map_or_else(|| why.to_owned(), |source| format!("{why}: {source}")),
            source,
        };
        if !base.is_absolute() {
            return Err(failed("the path is not absolute", None));
        }
        // Without links: the kernel compares where things are.
        let real =
            fs::canonicalize(base).map_err(|error| failed("finding it failed", Some(error)))?;
        for _ in 0..TRIES {
            let name =
                random_name().map_err(|error| failed("finding a name failed", Some(error)))?;
            let path = real.join(name);
            match make_private(&path) {
                Ok(()) => {
                    let path = AbsolutePath::new(&path)
                        .map_err(|error| failed(&error.to_string(), None))?;
                    let made = Self {
                        path,
                        removed: false,
                    };
                    return match is_private(made.path.as_path()) {
                        Ok(true) => Ok(made),
                        Ok(false) => Err(failed("others can enter what was made there", None)),
                        Err(error) => Err(failed("looking at it failed", Some(error))),
                    };
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed("making one failed", Some(error))),
            }
        }
        Err(failed("every name is taken", None))
    }

    /// Where it is, without links.
    #[must_use]
    pub const fn path(&self) -> &AbsolutePath {
        &self.path
    }

    /// Removes it with everything in it. Call it when nothing of the session runs any more.
    ///
    /// # Errors
    /// Something in it cannot be removed; it stays.
    pub fn remove(mut self) -> io::Result<()> {
        self.removed = true;
        remove(self.path.as_path())
    }
}

impl Drop for SessionTmp {
    fn drop(&mut self) {
        if !self.removed {
            // Nobody is left to tell.
            let _ = remove(self.path.as_path());
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            // Tools make directories that their owner cannot write, such as caches of modules.
            unlock(path);
            fs::remove_dir_all(path)
        }
        other => other,
    }
}

fn random_name() -> io::Result<PathBuf> {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("palisade-{:032x}", u128::from_le_bytes(bytes)).into())
}

#[cfg(unix)]
fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make_private(_: &Path) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// Whether it is a directory of ours that nobody else enters.
#[cfg(unix)]
fn is_private(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs::symlink_metadata(path)?;
    let own = found.uid() == rustix::process::geteuid().as_raw();
    Ok(found.is_dir() && own && found.mode() & 0o077 == 0)
}

#[cfg(not(unix))]
fn is_private(_: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Lets the owner write every directory below, through no link.
#[cfg(unix)]
fn unlock(path: &Path) {
    use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, fchmod, openat};
    use std::os::fd::{AsFd, OwnedFd};

    fn open(at: impl AsFd, name: impl rustix::path::Arg) -> Option<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(at, name, flags, Mode::empty()).ok()
    }
    fn below(directory: &OwnedFd, depth: usize) {
        let _ = fchmod(directory, Mode::RWXU);
        let Ok(entries) = Dir::read_from(directory) else {
            return;
        };
        for entry in entries.flatten() {
            let is_directory = matches!(entry.file_type(), FileType::Directory | FileType::Unknown);
            let name = entry.file_name();
            if !is_directory || depth == 0 || [&b"."[..], b".."].contains(&name.to_bytes()) {
                continue;
            }
            if let Some(inner) = open(directory, name) {
                below(&inner, depth - 1);
            }
        }
    }
    if let Some(directory) = open(CWD, path) {
        below(&directory, DEPTH);
    }
}

#[cfg(not(unix))]
const fn unlock(_: &Path) {}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn it_is_private_and_goes_with_everything_in_it() {
        let base = tempfile::tempdir().unwrap();
        let session = SessionTmp::create(base.path()).unwrap();
        let path = session.path().as_path().to_owned();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let other = SessionTmp::create(base.path()).unwrap();
        assert_ne!(other.path(), session.path());
        drop(other);
        fs::create_dir_all(path.join("a/b")).unwrap();
        fs::write(path.join("a/b/c"), "").unwrap();
        session.remove().unwrap();
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_nobody_may_write_goes_too_and_what_a_link_leads_to_stays() {
        let base = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "").unwrap();
        let locked = fs::Permissions::from_mode(0o555);
        fs::set_permissions(outside.path(), locked.clone()).unwrap();
        let session = SessionTmp::create(base.path()).unwrap();
        let inner = session.path().as_path().join("mod/cache");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("file"), "").unwrap();
        symlink(outside.path(), inner.join("link")).unwrap();
        fs::set_permissions(&inner, locked.clone()).unwrap();
        // Root removes without it; the walk is tried all the same.
        unlock(session.path().as_path());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&inner), 0o700);
        assert_eq!(mode(outside.path()), 0o555);
        drop(session);
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
        assert!(outside.path().join("kept").exists());
        fs::set_permissions(outside.path(), fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn where_it_is_is_without_links_and_not_relative() {
        let base = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(base.path()).unwrap();
        fs::create_dir(real.join("private")).unwrap();
        symlink(real.join("private"), real.join("tmp")).unwrap();
        let session = SessionTmp::create(&real.join("tmp")).unwrap();
        assert!(session.path().as_path().starts_with(real.join("private")));
        assert!(SessionTmp::create(Path::new("tmp")).is_err());
        assert!(SessionTmp::create(&real.join("none")).is_err());
    }
}
