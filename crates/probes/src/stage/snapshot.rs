//! How a tree of files looks at one moment.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Larger files are known by their metadata only.
const MOST_CONTENT: u64 = 64 << 10;

/// What there is at each path.
#[derive(Debug, Default)]
pub(super) struct Snapshot(BTreeMap<PathBuf, Seen>);

#[derive(Debug, PartialEq, Eq)]
struct Seen {
    mode: u32,
    owner: (u32, u32),
    /// Not for directories: their entries are in the snapshot themselves.
    of_file: Option<OfFile>,
}

#[derive(Debug, PartialEq, Eq)]
struct OfFile {
    size: u64,
    inode: u64,
    links: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    content: Option<Vec<u8>>,
}

impl Snapshot {
    /// Adds a tree; what is not there is not added.
    pub(super) fn add(&mut self, path: &Path) {
        let Ok(about) = fs::symlink_metadata(path) else {
            return;
        };
        let content = if about.is_file() && about.len() <= MOST_CONTENT {
            fs::read(path).ok()
        } else if about.is_symlink() {
            fs::read_link(path)
                .ok()
                .map(|target| target.as_os_str().as_bytes().to_vec())
        } else {
            None
        };
        let of_file = (!about.is_dir()).then(|| OfFile {
            size: about.size(),
            inode: about.ino(),
            links: about.nlink(),
            modified: (about.mtime(), about.mtime_nsec()),
            changed: (about.ctime(), about.ctime_nsec()),
            content,
        });
        let seen = Seen {
            mode: about.mode(),
            owner: (about.uid(), about.gid()),
            of_file,
        };
        self.0.insert(path.to_owned(), seen);
        if about.is_dir() {
            for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                self.add(&entry.path());
            }
        }
    }

    /// What is another way in the later one.
    pub(super) fn differences(&self, later: &Self) -> Vec<String> {
        let mut all = Vec::new();
        for (path, seen) in &self.0 {
            match later.0.get(path) {
                None => all.push(format!("{} is gone", path.display())),
                Some(now) if now != seen => all.push(format!("{} changed", path.display())),
                Some(_) => {}
            }
        }
        for path in later.0.keys() {
            if !self.0.contains_key(path) {
                all.push(format!("{} is new", path.display()));
            }
        }
        all
    }
}
