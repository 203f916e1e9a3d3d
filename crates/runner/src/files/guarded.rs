//! Files beneath a policy: every operation is resolved, judged, done by descriptor, and checked against what was judged.

use std::fs::File;
use std::io::{Read as _, Write as _};

use palisade_policy::{AbsolutePath, Access, ResolvedPolicy};

use super::content::{Content, FileInfo, FileKind, NewFile, Written};
use super::directory::{Found, Making, is_race, strongest};
use super::error::FileError;
use super::judge::{Anchor, Judge, anchors};
use super::resolve::{Last, Resolved, resolve};
use super::stage::{Staged, own_name};
use super::strength::Strength;

/// How often an operation is begun again because the tree changed meanwhile.
const ATTEMPTS: usize = 32;

const NOT_SPECIAL: &str = "only regular files are read and written";

/// Files, as far as a policy permits. Paths may lead through links; what they lead to is judged.
#[derive(Clone, Debug)]
pub struct GuardedFiles {
    policy: ResolvedPolicy,
    anchors: Vec<Anchor>,
    strength: Strength,
    limit: u64,
}

impl GuardedFiles {
    /// The largest file that is read, unless the caller says otherwise.
    pub const DEFAULT_LIMIT: u64 = 64 << 20;

    /// Files beneath this policy. Where its roots lie behind links, they are looked up now.
    #[must_use]
    pub fn new(policy: ResolvedPolicy) -> Self {
        let strength = strongest();
        let anchors = anchors(&policy, strength);
        Self {
            policy,
            anchors,
            strength,
            limit: Self::DEFAULT_LIMIT,
        }
    }

    /// With this as the largest file that is read.
    #[must_use]
    pub const fn with_limit(mut self, limit: u64) -> Self {
        self.limit = limit;
        self
    }

    /// As on a system that is not as strong, so that what happens there can be tried here. It is never made stronger.
    #[must_use]
    pub fn at_most(mut self, strength: Strength) -> Self {
        self.strength = self.strength.min(strength);
        self
    }

    /// The policy that judges.
    #[must_use]
    pub const fn policy(&self) -> &ResolvedPolicy {
        &self.policy
    }

    /// How sure it is that what is touched is what was judged.
    #[must_use]
    pub const fn strength(&self) -> Strength {
        self.strength
    }

    /// The largest file that is read.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// Opens a file for reading. Links are followed, and what they lead to is judged.
    ///
    /// # Errors
    /// The policy does not permit it, or it is no file, or the system refuses.
    pub fn open(&self, path: &AbsolutePath) -> Result<(File, FileInfo), FileError> {
        self.settled(path, || {
            let resolved = self.resolve(path, Last::Follow)?;
            let (file, found) = self.open_resolved(path, &resolved)?;
            Ok((file, info(&resolved.path, &found)))
        })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`open`](Self::open), and for a file that is larger than [`limit`](Self::limit).
    pub fn read(&self, path: &AbsolutePath) -> Result<Content, FileError> {
        let (file, info) = self.open(path)?;
        let bytes = self.read_all(path, file, info.len)?;
        Ok(Content { bytes, info })
    }

    /// What is there; a link at the end is not followed.
    ///
    /// # Errors
    /// The policy does not permit reading it, or there is nothing, or the system refuses.
    pub fn metadata(&self, path: &AbsolutePath) -> Result<FileInfo, FileError> {
        self.settled(path, || {
            let resolved = self.resolve(path, Last::Keep)?;
            self.judge().one(path, &resolved, Access::Read)?;
            let found = resolved.found.as_ref().ok_or_else(|| missing(path))?;
            self.check_place(path, &resolved)?;
            Ok(info(&resolved.path, found))
        })
    }

    /// Makes a new file. It appears with its whole content or not at all.
    ///
    /// # Errors
    /// The policy does not permit it, or something is there already, or the system refuses.
    pub fn create(
        &self,
        path: &AbsolutePath,
        content: &[u8],
        kind: NewFile,
    ) -> Result<(), FileError> {
        self.settled(path, || {
            let resolved = self.resolve(path, Last::Keep)?;
            self.judge().one(path, &resolved, Access::Create)?;
            if resolved.found.is_some() {
                return Err(FileError::Exists { path: path.clone() });
            }
            self.place_new(path, &resolved, content, kind)
        })
    }

    /// Gives a file new content: at once, by replacing it. Makes it if it is not there.
    ///
    /// # Errors
    /// The policy does not permit it, or something other than a file is there, or the system refuses.
    pub fn write(&self, path: &AbsolutePath, content: &[u8]) -> Result<Written, FileError> {
        self.settled(path, || {
            let resolved = self.resolve(path, Last::Keep)?;
            let Some(old) = &resolved.found else {
                self.judge().one(path, &resolved, Access::Create)?;
                self.place_new(path, &resolved, content, NewFile::Plain)?;
                return Ok(Written::Created);
            };
            self.judge().one(path, &resolved, Access::Write)?;
            check_writable(path, &resolved, old)?;
            let temporary = own_name();
            if self.may_stage(path, &resolved, &temporary).is_err() {
                return self.write_in_place(path, &resolved, old, content);
            }
            let making = Making::Like {
                old,
                executable: None,
            };
            let mut staged = Staged::make(&resolved.parent, temporary, content, making)
                .map_err(|error| FileError::io("write", path, error))?;
            self.check_place(path, &resolved)?;
            self.check_same(path, &resolved, old)?;
            resolved
                .parent
                .rename_over(staged.name(), &resolved.name)
                .map_err(|error| FileError::io("replace", path, error))?;
            staged.release();
            resolved.parent.sync();
            Ok(Written::Replaced {
                owner_kept: staged.owner_kept,
            })
        })
    }

    /// Makes a directory.
    ///
    /// # Errors
    /// The policy does not permit it, or something is there already, or the system refuses.
    pub fn create_dir(&self, path: &AbsolutePath) -> Result<(), FileError> {
        self.settled(path, || {
            let resolved = self.resolve(path, Last::Keep)?;
            self.judge().one(path, &resolved, Access::Create)?;
            self.check_place(path, &resolved)?;
            resolved
                .parent
                .create_dir(&resolved.name)
                .map_err(|error| FileError::io("make", path, error))
        })
    }

    /// Gives a file, a link or a directory another name. It never replaces what is there.
    ///
    /// # Errors
    /// The policy does not permit it, or something has the new name already, or the system refuses.
    pub fn rename(&self, from: &AbsolutePath, to: &AbsolutePath) -> Result<(), FileError> {
        self.settled(from, || {
            let source = self.resolve(from, Last::Keep)?;
            let target = self.resolve(to, Last::Keep)?;
            self.judge().rename(from, &source, &target)?;
            let found = source.found.as_ref().ok_or_else(|| missing(from))?;
            if target.found.is_some() {
                return Err(FileError::Exists { path: to.clone() });
            }
            check_known_kind(from, found)?;
            self.check_place(from, &source)?;
            self.check_place(to, &target)?;
            self.check_same(from, &source, found)?;
            source
                .parent
                .rename_new(&source.name, &target.parent, &target.name)
                .map_err(|error| FileError::io("rename", from, error))?;
            source.parent.sync();
            target.parent.sync();
            Ok(())
        })
    }

    /// Removes a file, a link (not what it leads to) or an empty directory.
    ///
    /// # Errors
    /// The policy does not permit it, or there is nothing, or the directory is not empty, or the system refuses.
    pub fn remove(&self, path: &AbsolutePath) -> Result<(), FileError> {
        self.settled(path, || {
            let resolved = self.resolve(path, Last::Keep)?;
            self.judge().one(path, &resolved, Access::Delete)?;
            let found = resolved.found.as_ref().ok_or_else(|| missing(path))?;
            check_known_kind(path, found)?;
            self.check_place(path, &resolved)?;
            self.check_same(path, &resolved, found)?;
            let removed = match found.kind {
                FileKind::Directory => resolved.parent.remove_dir(&resolved.name),
                _ => resolved.parent.remove_file(&resolved.name),
            };
            removed.map_err(|error| FileError::io("remove", path, error))?;
            resolved.parent.sync();
            Ok(())
        })
    }

    /// Does it again while the tree changes under its hands.
    pub(super) fn settled<T>(
        &self,
        path: &AbsolutePath,
        mut attempt: impl FnMut() -> Result<T, FileError>,
    ) -> Result<T, FileError> {
        for _ in 0..ATTEMPTS {
            match attempt() {
                Err(FileError::Unstable { .. }) => {}
                Err(FileError::Io { source, .. }) if is_race(&source) => {}
                done => return done,
            }
        }
        Err(unstable(path))
    }

    pub(super) fn resolve(&self, path: &AbsolutePath, last: Last) -> Result<Resolved, FileError> {
        resolve(path, last, self.strength)
    }

    pub(super) fn judge(&self) -> Judge<'_> {
        Judge {
            policy: &self.policy,
            anchors: &self.anchors,
            strength: self.strength,
        }
    }

    /// Opens what was looked at, after it was judged.
    pub(super) fn open_resolved(
        &self,
        path: &AbsolutePath,
        resolved: &Resolved,
    ) -> Result<(File, Found), FileError> {
        self.judge().one(path, resolved, Access::Read)?;
        let found = resolved.found.as_ref().ok_or_else(|| missing(path))?;
        check_regular(path, found)?;
        let (file, opened) = resolved
            .parent
            .open_file(&resolved.name)
            .map_err(|error| FileError::io("open", path, error))?;
        if opened.identity != found.identity || opened.kind != FileKind::File {
            return Err(unstable(path));
        }
        self.check_place(path, resolved)?;
        Ok((file, opened))
    }

    pub(super) fn read_all(
        &self,
        path: &AbsolutePath,
        file: File,
        len: u64,
    ) -> Result<Vec<u8>, FileError> {
        let too_large = || FileError::TooLarge {
            path: path.clone(),
            limit: self.limit,
        };
        if len > self.limit {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        // It can grow while it is read, and files of the kernel do not tell their size.
        file.take(self.limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| FileError::io("read", path, error))?;
        match u64::try_from(bytes.len()) {
            Ok(len) if len <= self.limit => Ok(bytes),
            _ => Err(too_large()),
        }
    }

    /// Whether a name of ours may be made beside a file.
    pub(super) fn may_stage(
        &self,
        path: &AbsolutePath,
        resolved: &Resolved,
        name: &std::ffi::OsStr,
    ) -> Result<(), FileError> {
        let beside = AbsolutePath::new(resolved.parent_path.as_path().join(name));
        let beside = Resolved {
            path: beside.map_err(|_| unstable(path))?,
            parent_path: resolved.parent_path.clone(),
            parent: resolved.parent.clone(),
            name: name.to_owned(),
            found: None,
            links: resolved.links.clone(),
        };
        self.judge().one(path, &beside, Access::Create)
    }

    fn place_new(
        &self,
        path: &AbsolutePath,
        resolved: &Resolved,
        content: &[u8],
        kind: NewFile,
    ) -> Result<(), FileError> {
        let temporary = own_name();
        self.may_stage(path, resolved, &temporary)?;
        let making = Making::New {
            executable: kind == NewFile::Executable,
        };
        let mut staged = Staged::make(&resolved.parent, temporary, content, making)
            .map_err(|error| FileError::io("write", path, error))?;
        self.check_place(path, resolved)?;
        resolved
            .parent
            .rename_new(staged.name(), &resolved.parent, &resolved.name)
            .map_err(|error| FileError::io("make", path, error))?;
        staged.release();
        resolved.parent.sync();
        Ok(())
    }

    fn write_in_place(
        &self,
        path: &AbsolutePath,
        resolved: &Resolved,
        old: &Found,
        content: &[u8],
    ) -> Result<Written, FileError> {
        let failed = |error| FileError::io("write", path, error);
        let (mut file, opened) = resolved
            .parent
            .open_in_place(&resolved.name)
            .map_err(failed)?;
        if opened.identity != old.identity || opened.kind != FileKind::File {
            return Err(unstable(path));
        }
        if opened.links > 1 {
            return Err(FileError::OtherNames {
                path: path.clone(),
                links: opened.links,
            });
        }
        self.check_place(path, resolved)?;
        file.set_len(0).map_err(failed)?;
        file.write_all(content).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        Ok(Written::InPlace)
    }

    /// The directory that is held is the one that was judged.
    pub(super) fn check_place(
        &self,
        path: &AbsolutePath,
        resolved: &Resolved,
    ) -> Result<(), FileError> {
        match resolved.still_there(self.strength) {
            true => Ok(()),
            false => Err(unstable(path)),
        }
    }

    /// The name still means what was judged.
    fn check_same(
        &self,
        path: &AbsolutePath,
        resolved: &Resolved,
        found: &Found,
    ) -> Result<(), FileError> {
        let now = resolved.parent.look(&resolved.name);
        match now.map_err(|error| FileError::io("look at", path, error))? {
            Some(now) if now.identity == found.identity && now.kind == found.kind => Ok(()),
            _ => Err(unstable(path)),
        }
    }
}

pub(super) fn info(path: &AbsolutePath, found: &Found) -> FileInfo {
    FileInfo {
        path: path.clone(),
        kind: found.kind,
        len: found.len,
        executable: found.executable(),
        links: found.links,
    }
}

pub(super) fn check_writable(
    path: &AbsolutePath,
    resolved: &Resolved,
    found: &Found,
) -> Result<(), FileError> {
    if found.kind == FileKind::Link {
        let target = resolved.parent.read_link(&resolved.name);
        return Err(FileError::LinkAtEnd {
            path: path.clone(),
            target: target.map_err(|_| unstable(path))?,
        });
    }
    check_regular(path, found)
}

fn check_regular(path: &AbsolutePath, found: &Found) -> Result<(), FileError> {
    match found.kind {
        FileKind::File => Ok(()),
        kind => Err(FileError::WrongKind {
            path: path.clone(),
            kind,
            needed: NOT_SPECIAL,
        }),
    }
}

/// Files, links and directories are moved and removed; what else there is belongs to somebody who runs.
fn check_known_kind(path: &AbsolutePath, found: &Found) -> Result<(), FileError> {
    match found.kind {
        FileKind::File | FileKind::Link | FileKind::Directory => Ok(()),
        kind => Err(FileError::WrongKind {
            path: path.clone(),
            kind,
            needed: "only files, links and directories are renamed and removed",
        }),
    }
}

pub(super) fn missing(path: &AbsolutePath) -> FileError {
    FileError::Missing { path: path.clone() }
}

pub(super) fn unstable(path: &AbsolutePath) -> FileError {
    FileError::Unstable { path: path.clone() }
}
