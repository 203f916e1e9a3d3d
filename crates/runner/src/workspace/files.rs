//! Claims as files that other programs of the user see.
//!
//! `lock` is held by whoever looks and announces. Each claim is a file in the directory of its workspace, locked by its
//! owner for as long as it lives. One that nobody has locked is left over and removed.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::guards::Guards;
use super::{Conflict, Denied};

/// A claim that other programs see.
#[derive(Debug)]
pub(super) struct Announced {
    path: PathBuf,
    /// Locked until it is closed.
    _locked: File,
}

impl Drop for Announced {
    fn drop(&mut self) {
        // Whoever has it open already still finds it locked, and looks again.
        let _ = fs::remove_file(&self.path);
    }
}

/// What a file says.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    pid: u32,
    guards: Guards,
}

/// More than any policy comes to: what is larger is none of ours.
const MAX_RECORD: u64 = 4 * 1024 * 1024;

/// Announces a claim, unless another run guards more.
pub(super) fn announce(directory: &Path, guards: &Guards) -> Result<Announced, Denied> {
    let unusable = |error: io::Error| unusable(directory, &error.to_string());
    make_private(directory).map_err(unusable)?;
    check_private(directory)?;
    let master = open(&directory.join("lock"), true).map_err(unusable)?;
    match flock(&master, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Err(Denied::Busy(directory.to_owned())),
        Err(errno) => return Err(unusable(errno.into())),
    }
    let workspace = directory.join(name_of(guards.first_root()));
    for other in living(directory, &workspace)? {
        if let Some(missing) = guards.missing(&other.guards) {
            return Err(Denied::Weaker(Conflict::Weaker {
                root: missing.root,
                clause: missing.clause,
                pid: other.pid,
            }));
        }
    }
    write(&workspace, guards).map_err(unusable)
}

fn write(workspace: &Path, guards: &Guards) -> io::Result<Announced> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    make_private(workspace)?;
    let pid = std::process::id();
    let record = Record {
        pid,
        guards: guards.clone(),
    };
    let record = serde_json::to_vec(&record)?;
    // A file of the same name is one of a process that had our number and is gone.
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = workspace.join(format!("{pid}-{number}"));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        let mut file = match file {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            other => other?,
        };
        let announced = flock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(io::Error::from)
            .and_then(|()| file.write_all(&record));
        if let Err(error) = announced {
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        return Ok(Announced {
            path,
            _locked: file,
        });
    }
}

/// Every claim whose owner lives. Who calls this holds the lock; what is left over is removed, but for the directory that
/// is about to be used again.
fn living(directory: &Path, used: &Path) -> Result<Vec<Record>, Denied> {
    let failed = |path: &Path, error: &io::Error| unusable(path, &error.to_string());
    let mut records = Vec::new();
    for workspace in fs::read_dir(directory).map_err(|error| failed(directory, &error))? {
        let workspace = workspace.map_err(|error| failed(directory, &error))?.path();
        let Ok(claims) = fs::read_dir(&workspace) else {
            // The lock, or something that is none of ours.
            continue;
        };
        let mut empty = true;
        for claim in claims {
            let path = claim.map_err(|error| failed(&workspace, &error))?.path();
            match look_at(&path) {
                Ok(Some(record)) => {
                    empty = false;
                    records.push(record);
                }
                Ok(None) => {}
                Err(error) => return Err(failed(&path, &error)),
            }
        }
        if empty && workspace != used {
            let _ = fs::remove_dir(&workspace);
        }
    }
    Ok(records)
}

/// What a claim says, if its owner lives.
fn look_at(path: &Path) -> io::Result<Option<Record>> {
    let file = match open(path, false) {
        // It has just ended.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {
            fs::remove_file(path).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })?;
            return Ok(None);
        }
        Err(Errno::WOULDBLOCK) => {}
        Err(errno) => return Err(errno.into()),
    }
    let mut bytes = Vec::new();
    file.take(MAX_RECORD).read_to_end(&mut bytes)?;
    // Of another version, perhaps: what it guards is not known, so nothing may run beside it.
    let record = serde_json::from_slice(&bytes).map_err(|error| {
        let why = format!("a run that is still going announced something unreadable: {error}");
        io::Error::new(io::ErrorKind::InvalidData, why)
    })?;
    Ok(Some(record))
}

fn open(path: &Path, create: bool) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(create)
        .mode(0o600)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or(0))
        .open(path)
}

fn make_private(directory: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
}

/// Whoever else can write here could end claims, or make some up.
fn check_private(directory: &Path) -> Result<(), Denied> {
    let found =
        fs::symlink_metadata(directory).map_err(|error| unusable(directory, &error.to_string()))?;
    let own = rustix::process::geteuid().as_raw();
    let why = if !found.is_dir() {
        "it is not a directory"
    } else if found.uid() != own {
        "it belongs to another user; name a directory of your own"
    } else if found.mode() & 0o022 != 0 {
        "others can write it; make it yours alone: chmod 700"
    } else {
        return Ok(());
    };
    Err(unusable(directory, why))
}

fn unusable(path: &Path, why: &str) -> Denied {
    Denied::Unusable(Conflict::Unusable {
        path: path.to_owned(),
        why: why.to_owned(),
    })
}

/// A name for a workspace: short, and without what its path holds.
fn name_of(root: &[u8]) -> String {
    Sha256::digest(root)
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
