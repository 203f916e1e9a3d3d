//! A file of JSON lines that only the user can read.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::error::AuditError;
use super::record::{AuditRecord, AuditSink};

/// When the file is put aside, and how many old ones are kept as `audit.jsonl.1`, `.2` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rotation {
    /// A record that would make the file longer goes into a new one; 0 is never.
    pub bytes: u64,
    /// How many old files are kept, at least one.
    pub files: u32,
}

impl Rotation {
    /// At this size, keeping this many.
    #[must_use]
    pub const fn new(bytes: u64, files: u32) -> Self {
        Self { bytes, files }
    }
}

impl Default for Rotation {
    /// 16 MiB each, eight old ones.
    fn default() -> Self {
        Self::new(16 * 1024 * 1024, 8)
    }
}

/// Records as JSON lines in a file: mode 0600, in a directory that others cannot write.
///
/// Each record is one `write` at the end of the file, on a line of its own even after a writer that died in the middle
/// of one. Several processes can write at once; rotation is done by whoever holds the lock next to the file. The file
/// is opened anew for each record, so removing it by hand is fine. Recording waits for the disk and, at most half a
/// second, for the lock.
#[derive(Debug)]
pub struct JsonLines {
    path: PathBuf,
    /// Whether the directory is ours alone, so that its mode is ours to set.
    own_directory: bool,
    rotation: Rotation,
    lost: AtomicU64,
    reported: AtomicBool,
}

impl JsonLines {
    /// Where records are kept unless somebody says otherwise.
    #[must_use]
    pub fn default_path(state_dir: &Path) -> PathBuf {
        state_dir.join("audit").join("audit.jsonl")
    }

    /// The default file, made if it is not there, in a directory of mode 0700.
    ///
    /// # Errors
    /// The file or its directory cannot be made, or is not what it must be.
    pub fn in_state_dir(state_dir: &Path, rotation: Rotation) -> Result<Self, AuditError> {
        Self::new(Self::default_path(state_dir), true, rotation)
    }

    /// A file of the caller's choice, made if it is not there. See [`check_unwritable`](super::check_unwritable).
    ///
    /// # Errors
    /// The file or its directory cannot be made, or is a symbolic link, somebody else's, or writable by others.
    pub fn open(path: impl Into<PathBuf>, rotation: Rotation) -> Result<Self, AuditError> {
        Self::new(path.into(), false, rotation)
    }

    fn new(path: PathBuf, own_directory: bool, rotation: Rotation) -> Result<Self, AuditError> {
        let sink = Self {
            path,
            own_directory,
            rotation,
            lost: AtomicU64::new(0),
            reported: AtomicBool::new(false),
        };
        sink.prepare()?;
        Ok(sink)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps a record, or says why not. [`AuditSink::record`] counts instead.
    ///
    /// # Errors
    /// The record was not kept, or only a part of it.
    pub fn try_record(&self, record: &AuditRecord) -> Result<(), AuditError> {
        let mut line =
            serde_json::to_vec(record).map_err(|error| AuditError::Encode(error.to_string()))?;
        line.push(b'\n');
        self.append(line)
    }

    #[cfg(unix)]
    fn prepare(&self) -> Result<(), AuditError> {
        super::rotate::Directory::make(&self.path, self.own_directory)?.prepare()
    }

    #[cfg(unix)]
    fn append(&self, line: Vec<u8>) -> Result<(), AuditError> {
        super::rotate::Directory::make(&self.path, self.own_directory)?.append(line, self.rotation)
    }

    #[cfg(not(unix))]
    fn prepare(&self) -> Result<(), AuditError> {
        let _ = (self.own_directory, self.rotation);
        Err(AuditError::Unsupported)
    }

    #[cfg(not(unix))]
    fn append(&self, _: Vec<u8>) -> Result<(), AuditError> {
        Err(AuditError::Unsupported)
    }
}

impl AuditSink for JsonLines {
    fn record(&self, record: &AuditRecord) {
        if let Err(error) = self.try_record(record) {
            self.lost.fetch_add(1, Ordering::Relaxed);
            if !self.reported.swap(true, Ordering::Relaxed) {
                tracing::warn!(target: super::trace::TARGET, %error, "audit records are being lost");
            }
        }
    }

    fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }
}
