//! git's own lock on a file: `NAME.lock`, made exclusively, written, and renamed over the file.

use std::fs::File;
use std::io::{self, Write as _};
use std::time::Duration;

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::session::{Tree, path};

/// A held lock; removed when it goes, if it was not committed.
#[derive(Debug)]
pub(super) struct Lock<'t> {
    parent: &'t Tree,
    name: String,
    file: File,
    held: bool,
}

impl<'t> Lock<'t> {
    /// Takes the lock of a file in a directory of the host; waits for a while if somebody holds it.
    pub(super) fn take(parent: &'t Tree, name: &str) -> io::Result<Self> {
        let lock = format!("{name}.lock");
        let mut tries = 30;
        loop {
            match create(parent, &lock) {
                Ok(file) => {
                    return Ok(Self {
                        parent,
                        name: name.to_owned(),
                        file,
                        held: true,
                    });
                }
                Err(Errno::EXIST) if tries > 0 => {
                    tries -= 1;
                    std::thread::sleep(Duration::from_millis(100));
                }
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Puts new content in place of the file, with the permissions that the file had.
    pub(super) fn commit(mut self, content: &[u8]) -> io::Result<()> {
        self.file.write_all(content)?;
        if let Ok((_, stat)) = self.parent.regular(path(self.name.as_bytes())) {
            rustix::fs::fchmod(&self.file, Mode::from_raw_mode(stat.st_mode & 0o777))?;
        }
        self.file.sync_all()?;
        let fd = self.parent.fd();
        rustix::fs::renameat(fd, self.lock_name(), fd, self.name.as_str())?;
        self.held = false;
        Ok(())
    }

    fn lock_name(&self) -> String {
        format!("{}.lock", self.name)
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        if self.held {
            // There is nobody to tell; git names the stale lock when it finds one.
            let _ = rustix::fs::unlinkat(self.parent.fd(), self.lock_name(), AtFlags::empty());
        }
    }
}

fn create(parent: &Tree, name: &str) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let mode = Mode::from_raw_mode(0o666);
    rustix::fs::openat2(parent.fd(), name, flags, mode, resolve).map(File::from)
}

/// Appends to a file of the host that exists.
pub(super) fn append(parent: &Tree, name: &str, text: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let file = rustix::fs::openat2(parent.fd(), name, flags, Mode::empty(), resolve)?;
    File::from(file).write_all(text)
}
