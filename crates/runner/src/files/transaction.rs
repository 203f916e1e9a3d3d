//! Changes to several files, of which all happen or none.
//!
//! Everything that can fail is done first: every change is judged, directories are made, new contents are written beside
//! their targets. Then each target is exchanged for its new file by one rename, and the old one is kept under a name of
//! ours. Where a rename fails, those before it are undone, last first. Only when all are done are the old files removed.
//! Where names cannot be exchanged, the old file is moved away first, and for a moment there is none.
//!
//! The journal is in memory. A process that is killed in the middle leaves each file either old or new, never half
//! written; some may be new while others are old, and files named `.palisade-*.tmp` hold the new or the old contents of
//! their neighbours. Where names cannot be exchanged, one file can be missing: its old content has such a name.

use std::ffi::{OsStr, OsString};
use std::io;

use palisade_policy::{AbsolutePath, Access};

use super::content::FileKind;
use super::directory::{Directory, Found, Making};
use super::error::FileError;
use super::guarded::{GuardedFiles, check_writable, missing, unstable};
use super::resolve::{Last, Resolved, split};
use super::stage::{Staged, own_name};
use super::strength::Strength;

/// A file as it was when it was read.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot(Found);

/// What must be at a path for a change to happen.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    Absent,
    /// This file, not changed since.
    Is(Snapshot),
}

/// One change.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// The file gets this content.
    Write {
        path: AbsolutePath,
        content: Vec<u8>,
        /// The file that it has its permissions and owner from; `None` is the one that it replaces, if there is one.
        like: Option<Snapshot>,
        /// `None` leaves it as it was, or not executable if it is new.
        executable: Option<bool>,
        expected: Expected,
    },
    /// The file goes.
    Remove {
        path: AbsolutePath,
        expected: Snapshot,
    },
}

impl Change {
    const fn path(&self) -> &AbsolutePath {
        match self {
            Self::Write { path, .. } | Self::Remove { path, .. } => path,
        }
    }
}

/// Something that a transaction is about to do; a test makes it fail there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    MakeDirectory,
    Stage,
    /// A rename that changes what a name means.
    Commit,
    /// One that changes it back.
    Undo,
    /// Removing the old file, after everything is done.
    Forget,
}

/// Why nothing was changed, or, in one case, what could not be changed back.
#[derive(Debug)]
pub(crate) enum TransactionError {
    /// Nothing was changed.
    Failed(FileError),
    /// Something failed, and then these could not be put back: their old contents have the second name.
    NotUndone {
        why: FileError,
        left: Vec<(AbsolutePath, AbsolutePath)>,
    },
}

impl From<FileError> for TransactionError {
    fn from(error: FileError) -> Self {
        Self::Failed(error)
    }
}

type Hook<'a> = &'a mut dyn FnMut(Step) -> io::Result<()>;

/// A change that is judged, with its new file beside the target.
struct Ready {
    path: AbsolutePath,
    resolved: Resolved,
    staged: Option<Staged>,
    expected: Option<Found>,
}

/// A directory that was made for a new file.
struct Made {
    parent: Directory,
    name: OsString,
}

/// Something that was done to a name, so that it can be undone.
struct Done {
    change: usize,
    /// Where the old file is, if there was one.
    kept: Option<OsString>,
    how: How,
}

#[derive(Clone, Copy)]
enum How {
    /// Old and new file have exchanged their names.
    Exchanged,
    /// The old file has the kept name, and nothing has its own.
    MovedAway,
    /// The new file has the name, where nothing was.
    Placed,
}

impl GuardedFiles {
    /// Reads a file that is about to be changed; a link at the end is not followed.
    pub(crate) fn snapshot(&self, path: &AbsolutePath) -> Result<(Vec<u8>, Snapshot), FileError> {
        self.settled(path, || {
            let resolved = self.resolve(path, Last::Keep)?;
            if let Some(found) = &resolved.found
                && found.kind == FileKind::Link
            {
                self.judge().one(path, &resolved, Access::Read)?;
                check_writable(path, &resolved, found)?;
            }
            let (file, found) = self.open_resolved(path, &resolved)?;
            let bytes = self.read_all(path, file, found.len)?;
            Ok((bytes, Snapshot(found)))
        })
    }

    /// Whether a file could be moved: what must not be read must not get another name either.
    pub(crate) fn check_move(
        &self,
        from: &AbsolutePath,
        to: &AbsolutePath,
    ) -> Result<(), FileError> {
        self.settled(from, || {
            let source = self.resolve(from, Last::Keep)?;
            let target = self.resolve_unmade(to)?;
            self.judge().rename(from, &source, &target)
        })
    }

    /// A path whose directory may be missing. Making that is judged when it is made; until then the path is judged as
    /// it would be.
    pub(super) fn resolve_unmade(&self, path: &AbsolutePath) -> Result<Resolved, FileError> {
        match self.resolve(path, Last::Keep) {
            Err(FileError::Missing { .. }) => {}
            done => return done,
        }
        let (above, names) = self.deepest_existing(path)?;
        let below = names.iter().collect::<std::path::PathBuf>();
        Ok(Resolved {
            path: AbsolutePath::new(above.path.as_path().join(below))
                .map_err(|_| unstable(path))?,
            parent: Directory::open(&above.path, self.strength()).map_err(|_| unstable(path))?,
            parent_path: above.path,
            name: OsString::new(),
            found: None,
            links: above.links,
        })
    }

    /// The deepest directory above a path that exists, links resolved, and the names that are missing below it.
    fn deepest_existing(
        &self,
        path: &AbsolutePath,
    ) -> Result<(Resolved, Vec<OsString>), FileError> {
        let mut names = Vec::new();
        let mut at = path.clone();
        while let Some((above, name)) = split(&at) {
            names.insert(0, name);
            match self.resolve(&above, Last::Follow) {
                Ok(resolved) if resolved.found.is_some() => return Ok((resolved, names)),
                Ok(_) | Err(FileError::Missing { .. }) => at = above,
                Err(error) => return Err(error),
            }
        }
        Err(missing(path))
    }

    /// Makes all changes or none. Returns what of ours could not be removed afterwards, which changes nothing.
    pub(crate) fn change_all(
        &self,
        changes: &[Change],
        hook: Hook<'_>,
    ) -> Result<Vec<AbsolutePath>, TransactionError> {
        let mut made = Vec::new();
        let mut ready = Vec::new();
        let prepared = changes.iter().try_for_each(|change| {
            ready.push(self.prepare(change, &mut made, hook)?);
            Ok(())
        });
        let mut done = Vec::new();
        let committed = prepared.and_then(|()| {
            let all = 0..ready.len();
            all.into_iter()
                .try_for_each(|change| self.commit(change, &mut ready, &mut done, hook))
        });
        match committed {
            Ok(()) => Ok(finish(&mut ready, &done, hook)),
            Err(why) => {
                let left = undo(&mut ready, &done, hook);
                drop(ready);
                for directory in made.iter().rev() {
                    // What somebody else has put there meanwhile keeps it.
                    let _ = directory.parent.remove_dir(&directory.name);
                }
                match left.is_empty() {
                    true => Err(TransactionError::Failed(why)),
                    false => Err(TransactionError::NotUndone { why, left }),
                }
            }
        }
    }

    fn prepare(
        &self,
        change: &Change,
        made: &mut Vec<Made>,
        hook: Hook<'_>,
    ) -> Result<Ready, FileError> {
        let path = change.path();
        if let Change::Write {
            expected: Expected::Absent,
            ..
        } = change
        {
            self.make_directories(path, made, hook)?;
        }
        self.settled(path, || {
            let resolved = self.resolve(path, Last::Keep)?;
            let temporary = own_name();
            self.may_stage(path, &resolved, &temporary)?;
            let (staged, expected) = match change {
                Change::Remove { expected, .. } => {
                    self.judge().one(path, &resolved, Access::Delete)?;
                    check_expected(path, &resolved, &expected.0)?;
                    (None, Some(expected.0.clone()))
                }
                Change::Write {
                    content,
                    like,
                    executable,
                    expected,
                    ..
                } => {
                    let old = match expected {
                        Expected::Absent => {
                            self.judge().one(path, &resolved, Access::Create)?;
                            if resolved.found.is_some() {
                                return Err(FileError::Exists { path: path.clone() });
                            }
                            None
                        }
                        Expected::Is(Snapshot(old)) => {
                            self.judge().one(path, &resolved, Access::Write)?;
                            check_expected(path, &resolved, old)?;
                            Some(old.clone())
                        }
                    };
                    let executable = *executable;
                    let making = match like.as_ref().map(|like| &like.0).or(old.as_ref()) {
                        Some(old) => Making::Like { old, executable },
                        None => Making::New {
                            executable: executable.unwrap_or(false),
                        },
                    };
                    let staged = hook(Step::Stage)
                        .and_then(|()| Staged::make(&resolved.parent, temporary, content, making));
                    (
                        Some(staged.map_err(|error| FileError::io("write", path, error))?),
                        old,
                    )
                }
            };
            self.check_place(path, &resolved)?;
            Ok(Ready {
                path: path.clone(),
                resolved,
                staged,
                expected,
            })
        })
    }

    /// Makes the directories above a new file that are not there.
    fn make_directories(
        &self,
        path: &AbsolutePath,
        made: &mut Vec<Made>,
        hook: Hook<'_>,
    ) -> Result<(), FileError> {
        let (_, names) = self.deepest_existing(path)?;
        let missing = names.len().saturating_sub(1);
        let above: Vec<AbsolutePath> = std::iter::successors(path.parent(), AbsolutePath::parent)
            .take(missing)
            .collect();
        for directory in above.iter().rev() {
            self.settled(directory, || {
                let resolved = self.resolve(directory, Last::Keep)?;
                self.judge().one(directory, &resolved, Access::Create)?;
                self.check_place(directory, &resolved)?;
                hook(Step::MakeDirectory)
                    .and_then(|()| resolved.parent.create_dir(&resolved.name))
                    .map_err(|error| FileError::io("make", directory, error))?;
                made.push(Made {
                    parent: resolved.parent,
                    name: resolved.name,
                });
                Ok(())
            })?;
        }
        Ok(())
    }

    fn commit(
        &self,
        change: usize,
        ready: &mut [Ready],
        done: &mut Vec<Done>,
        hook: Hook<'_>,
    ) -> Result<(), FileError> {
        let Some(this) = ready.get_mut(change) else {
            return Ok(());
        };
        let path = this.path.clone();
        let failed = |error| FileError::io("replace", &path, error);
        self.check_place(&path, &this.resolved)?;
        let (parent, name) = (&this.resolved.parent, this.resolved.name.as_os_str());
        let Some(expected) = &this.expected else {
            hook(Step::Commit).map_err(failed)?;
            let staged = this.staged.as_mut().ok_or_else(|| unstable(&path))?;
            parent
                .rename_new(staged.name(), parent, name)
                .map_err(failed)?;
            staged.release();
            done.push(Done {
                change,
                kept: None,
                how: How::Placed,
            });
            return Ok(());
        };
        hook(Step::Commit).map_err(failed)?;
        let exchanges = self.strength() > Strength::Checked;
        let kept = match &mut this.staged {
            Some(staged)
                if exchanges && parent.exchange(staged.name(), name).map_err(failed)? =>
            {
                // The name of the staged file is now that of the old one, which must not be removed yet.
                staged.release();
                let kept = staged.name().to_owned();
                done.push(Done {
                    change,
                    kept: Some(kept.clone()),
                    how: How::Exchanged,
                });
                kept
            }
            _ => {
                let kept = own_name();
                parent.rename_new(name, parent, &kept).map_err(failed)?;
                done.push(Done {
                    change,
                    kept: Some(kept.clone()),
                    how: How::MovedAway,
                });
                kept
            }
        };
        // What was taken away must be what was read: somebody could have changed it meanwhile.
        match parent.look(&kept).map_err(failed)? {
            Some(old) if expected.unchanged(&old) => {}
            _ => return Err(unstable(&path)),
        }
        let moved_away = matches!(
            done.last(),
            Some(Done {
                how: How::MovedAway,
                ..
            })
        );
        if moved_away && let Some(staged) = &mut this.staged {
            hook(Step::Commit).map_err(failed)?;
            parent
                .rename_new(staged.name(), parent, name)
                .map_err(failed)?;
            staged.release();
            done.push(Done {
                change,
                kept: None,
                how: How::Placed,
            });
        }
        Ok(())
    }
}

fn check_expected(
    path: &AbsolutePath,
    resolved: &Resolved,
    expected: &Found,
) -> Result<(), FileError> {
    let found = resolved.found.as_ref().ok_or_else(|| missing(path))?;
    check_writable(path, resolved, found)?;
    match expected.unchanged(found) {
        true => Ok(()),
        false => Err(unstable(path)),
    }
}

/// Removes the old files. From here on nothing is undone.
fn finish(ready: &mut [Ready], done: &[Done], hook: Hook<'_>) -> Vec<AbsolutePath> {
    let mut left = Vec::new();
    for step in done {
        let Some(this) = ready.get(step.change) else {
            continue;
        };
        let parent = &this.resolved.parent;
        if let Some(kept) = &step.kept
            && hook(Step::Forget)
                .and_then(|()| parent.remove_file(kept))
                .is_err()
        {
            left.extend(beside(this, kept));
        }
    }
    for this in ready {
        this.resolved.parent.sync();
    }
    left
}

/// Undoes what was done, last first. What cannot be undone is returned with where its old content is.
fn undo(ready: &mut [Ready], done: &[Done], hook: Hook<'_>) -> Vec<(AbsolutePath, AbsolutePath)> {
    let mut left = Vec::new();
    for step in done.iter().rev() {
        let Some(this) = ready.get(step.change) else {
            continue;
        };
        let (parent, name) = (&this.resolved.parent, this.resolved.name.as_os_str());
        let undone = hook(Step::Undo).and_then(|()| match (step.how, &step.kept) {
            (How::Placed, _) | (_, None) => parent.remove_file(name),
            (How::Exchanged, Some(kept)) => match parent.exchange(kept, name)? {
                true => parent.remove_file(kept),
                false => parent.rename_over(kept, name),
            },
            (How::MovedAway, Some(kept)) => parent.rename_new(kept, parent, name),
        });
        if undone.is_err() {
            let kept = step.kept.as_deref().unwrap_or(name);
            left.extend(beside(this, kept).map(|kept| (this.path.clone(), kept)));
        }
    }
    left
}

fn beside(ready: &Ready, name: &OsStr) -> Option<AbsolutePath> {
    AbsolutePath::new(ready.resolved.parent_path.as_path().join(name)).ok()
}
