//! A small file of the user that several processes read and change.
//!
//! Whoever changes it holds the lock of a file beside it, writes the new text to a third file and puts that in place of
//! the old one. So a reader needs no lock and sees the old text or the new one, whatever happens to the writer; and a
//! lock ends with the process that held it.

use std::path::{Path, PathBuf};

use super::error::{ConfigError, FileProblem};

/// How long a lock is waited for.
#[cfg(unix)]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// Such a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeptFile {
    directory: PathBuf,
    name: &'static str,
    max: usize,
}

impl KeptFile {
    pub(super) fn new(directory: &Path, name: &'static str, max: usize) -> Self {
        Self {
            directory: directory.to_owned(),
            name,
            max,
        }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.directory.join(self.name)
    }

    fn error(&self, problem: impl Into<FileProblem>) -> ConfigError {
        ConfigError::file(self.path(), problem)
    }

    /// A text that nobody understands.
    pub(super) fn corrupt(&self, why: impl std::fmt::Display) -> ConfigError {
        self.error(FileProblem::Corrupt(why.to_string()))
    }
}

#[cfg(unix)]
mod on_unix {
    use std::fs::File;
    use std::io::Write as _;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::DirBuilderExt as _;
    use std::time::{Duration, Instant};

    use rustix::fs::{
        AtFlags, FlockOperation, Mode, OFlags, flock, fsync, openat, renameat, unlinkat,
    };
    use rustix::io::Errno;

    use super::super::disk::{Directory, own_uid};
    use super::super::error::{ConfigError, FileProblem};
    use super::{KeptFile, PATIENCE};

    const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

    impl KeptFile {
        /// The text; empty if there is no file.
        pub(in super::super) fn read(&self) -> Result<String, ConfigError> {
            match Directory::open(&self.directory)? {
                Some(directory) => self.read_in(&directory),
                None => Ok(String::new()),
            }
        }

        /// Replaces the text by what `edit` makes of it. Says whether that is another text.
        pub(in super::super) fn update(
            &self,
            edit: impl FnOnce(&str) -> Result<String, ConfigError>,
        ) -> Result<bool, ConfigError> {
            let mut builder = std::fs::DirBuilder::new();
            let made = builder.recursive(true).mode(0o700).create(&self.directory);
            made.map_err(|error| ConfigError::file(&self.directory, error))?;
            let directory = Directory::open(&self.directory)?;
            let directory = directory.ok_or_else(|| self.error(FileProblem::NotADirectory))?;
            let _lock = self.lock(&directory)?;
            let old = self.read_in(&directory)?;
            let new = edit(&old)?;
            if new == old {
                return Ok(false);
            }
            if new.len() > self.max {
                return Err(self.error(FileProblem::TooLarge { max: self.max }));
            }
            self.replace(&directory, &new)?;
            Ok(true)
        }

        fn read_in(&self, directory: &Directory) -> Result<String, ConfigError> {
            let owners = [own_uid()];
            directory.check(&owners)?;
            let text = directory.read_itself(self.name, &owners, self.max)?;
            let text = String::from_utf8(text.unwrap_or_default());
            text.map_err(|_| self.corrupt("it is not Unicode"))
        }

        fn lock(&self, directory: &Directory) -> Result<Lock, ConfigError> {
            directory.check(&[own_uid()])?;
            let name = format!(".{}.lock", self.name);
            let failed = |errno: Errno| match errno {
                Errno::LOOP => ConfigError::file(directory.path.join(&name), FileProblem::Link),
                errno => ConfigError::file(directory.path.join(&name), std::io::Error::from(errno)),
            };
            let flags = OFlags::CREATE
                | OFlags::RDWR
                | OFlags::NOFOLLOW
                | OFlags::CLOEXEC
                | OFlags::NONBLOCK;
            let fd = openat(&directory.fd, name.as_str(), flags, PRIVATE).map_err(failed)?;
            let begin = Instant::now();
            let mut pause = Duration::from_millis(1);
            loop {
                match flock(&fd, FlockOperation::NonBlockingLockExclusive) {
                    Ok(()) => return Ok(Lock(fd)),
                    Err(Errno::INTR) => {}
                    Err(Errno::WOULDBLOCK) if begin.elapsed() < PATIENCE => {
                        std::thread::sleep(pause);
                        pause = (pause * 2).min(Duration::from_millis(16));
                    }
                    Err(Errno::WOULDBLOCK) => {
                        let seconds = PATIENCE.as_secs();
                        return Err(self.error(FileProblem::Busy { seconds }));
                    }
                    Err(errno) => return Err(failed(errno)),
                }
            }
        }

        /// Puts a text in place of the old one. The lock is held, so what is left of another attempt is nobody's.
        fn replace(&self, directory: &Directory, text: &str) -> Result<(), ConfigError> {
            let new = format!(".{}.new", self.name);
            let failed = |error: std::io::Error| self.error(error);
            let errno = |errno: Errno| failed(errno.into());
            match unlinkat(&directory.fd, new.as_str(), AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(other) => return Err(errno(other)),
            }
            let flags =
                OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let fd = openat(&directory.fd, new.as_str(), flags, PRIVATE).map_err(errno)?;
            let mut file = File::from(fd);
            let written = file
                .write_all(text.as_bytes())
                .and_then(|()| file.sync_all());
            let placed = written.and_then(|()| {
                renameat(&directory.fd, new.as_str(), &directory.fd, self.name)?;
                Ok(())
            });
            if let Err(error) = placed {
                // Nothing was changed; the half-written file goes, and if it does not, the next attempt removes it.
                let _ = unlinkat(&directory.fd, new.as_str(), AtFlags::empty());
                return Err(failed(error));
            }
            fsync(&directory.fd).map_err(errno)
        }
    }

    /// Held until it is dropped, or the process ends.
    struct Lock(OwnedFd);

    impl Drop for Lock {
        fn drop(&mut self) {
            // Explicit: a child that was forked meanwhile has the same open file, and closing ours would not unlock it.
            let _ = flock(&self.0, FlockOperation::Unlock);
        }
    }
}

#[cfg(not(unix))]
impl KeptFile {
    pub(super) fn read(&self) -> Result<String, ConfigError> {
        match self.path().exists() {
            true => Err(self.error(FileProblem::Unsupported)),
            false => Ok(String::new()),
        }
    }

    pub(super) fn update(
        &self,
        _: impl FnOnce(&str) -> Result<String, ConfigError>,
    ) -> Result<bool, ConfigError> {
        Err(self.error(FileProblem::Unsupported))
    }
}
