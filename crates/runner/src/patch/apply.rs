//! Applying a patch through guarded files: everything is worked out in memory first, and then changed all at once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;

use palisade_policy::{AbsolutePath, RelativePath};

use super::error::{Conflict, ConflictProblem, PatchError};
use super::model::{FileChange, FilePatch, Patch};
use super::place::apply_hunks;
use crate::files::{Change, Expected, FileError, GuardedFiles, Snapshot, Step, TransactionError};

/// How many bytes of old files are held at once, at most.
const MOST_HELD: usize = 256 << 20;

/// What a patch did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// Each file, in the order of the patch.
    pub files: Vec<AppliedFile>,
    /// Files of ours that could not be removed afterwards. They hold old contents, and can be removed by hand.
    pub leftovers: Vec<AbsolutePath>,
}

/// What a patch did to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppliedFile {
    /// What happened to it.
    pub change: FileChange,
    /// Where each hunk went.
    pub hunks: Vec<HunkPlace>,
}

/// Where a hunk went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HunkPlace {
    /// The first line that it is about, in the old file, counted from one.
    pub line: usize,
    /// How many lines that is from where the patch says it is.
    pub offset: isize,
}

impl fmt::Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for file in &self.files {
            match &file.change {
                FileChange::Create(path) => write!(f, "A {}", Shown(path))?,
                FileChange::Modify(path) => write!(f, "M {}", Shown(path))?,
                FileChange::Delete(path) => write!(f, "D {}", Shown(path))?,
                FileChange::Rename { from, to } => {
                    write!(f, "R {} -> {}", Shown(from), Shown(to))?;
                }
                FileChange::Copy { from, to } => {
                    write!(f, "C {} -> {}", Shown(from), Shown(to))?;
                }
            }
            for (i, hunk) in file.hunks.iter().enumerate() {
                if hunk.offset != 0 {
                    let (number, line) = (i + 1, hunk.line);
                    write!(f, "; hunk {number} at line {line} ({:+})", hunk.offset)?;
                }
            }
            writeln!(f)?;
        }
        for left in &self.leftovers {
            writeln!(f, "left behind: {left}")?;
        }
        Ok(())
    }
}

/// A path on one line: a name must not read like another line of the summary.
struct Shown<'a>(&'a RelativePath);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        match text.contains(char::is_control) {
            true => write!(f, "{text:?}"),
            false => f.write_str(&text),
        }
    }
}

/// Whether a policy permits everything that a patch does, without touching anything. Whether it fits is another
/// question.
///
/// # Errors
/// The first path that the policy refuses, or that cannot be looked at.
pub fn check(patch: &Patch, files: &GuardedFiles, base: &AbsolutePath) -> Result<(), FileError> {
    for change in patch.changes() {
        if let FileChange::Copy { from, .. } = change {
            files.may_read(&base.join(from))?;
        }
        for path in change.result().into_iter().chain(change.removed()) {
            files.may_change(&base.join(path))?;
            files.may_read(&base.join(path))?;
        }
    }
    Ok(())
}

/// Applies a patch to the files below a directory: all of it or nothing.
///
/// # Errors
/// It does not fit, the policy does not permit it, or the system refuses. Nothing was changed then, except after
/// [`PatchError::NotUndone`].
pub fn apply(
    patch: &Patch,
    files: &GuardedFiles,
    base: &AbsolutePath,
) -> Result<Applied, PatchError> {
    apply_with(patch, files, base, &mut |_| Ok(()))
}

/// The same, asking before each step whether it may succeed.
pub(super) fn apply_with(
    patch: &Patch,
    files: &GuardedFiles,
    base: &AbsolutePath,
    hook: &mut dyn FnMut(Step) -> io::Result<()>,
) -> Result<Applied, PatchError> {
    let mut work = Work {
        patch,
        files,
        base,
        read: BTreeMap::new(),
        held: 0,
    };
    let results: BTreeSet<&RelativePath> = patch.changes().filter_map(FileChange::result).collect();
    let removed: BTreeSet<&RelativePath> =
        patch.changes().filter_map(FileChange::removed).collect();
    let mut changes = Vec::new();
    let mut applied = Vec::new();
    for file in &patch.files {
        applied.push(work.file(file, &removed, &mut changes)?);
    }
    for path in removed.difference(&results) {
        let (_, expected) = work.read(path)?;
        changes.push(Change::Remove {
            path: base.join(path),
            expected,
        });
    }
    match files.change_all(&changes, hook) {
        Ok(leftovers) => Ok(Applied {
            files: applied,
            leftovers,
        }),
        Err(TransactionError::Failed(error)) => Err(PatchError::File(error)),
        Err(TransactionError::NotUndone { why, left }) => Err(PatchError::NotUndone { why, left }),
    }
}

struct Work<'a> {
    patch: &'a Patch,
    files: &'a GuardedFiles,
    base: &'a AbsolutePath,
    /// Every file that was read, as it was.
    read: BTreeMap<RelativePath, (Vec<u8>, Snapshot)>,
    /// How many bytes that are.
    held: usize,
}

impl Work<'_> {
    fn file(
        &mut self,
        file: &FilePatch,
        removed: &BTreeSet<&RelativePath>,
        changes: &mut Vec<Change>,
    ) -> Result<AppliedFile, PatchError> {
        let base = self.base;
        let (to, content, like, hunks) = match &file.change {
            FileChange::Create(path) => {
                let (content, hunks) = self.fit(file, path, &[])?;
                (path, content, None, hunks)
            }
            FileChange::Modify(path) => match self.read(path) {
                Ok((old, snapshot)) => {
                    let (content, hunks) = self.fit(file, path, &old)?;
                    (path, content, Some(snapshot), hunks)
                }
                // `diff -N` writes a file that was not there like one that was empty.
                Err(FileError::Missing { .. }) if begins_with_nothing(file) => {
                    let (content, hunks) = self.fit(file, path, &[])?;
                    (path, content, None, hunks)
                }
                Err(error) => return Err(error.into()),
            },
            FileChange::Delete(path) => {
                let (old, _) = self.read(path)?;
                let (content, hunks) = self.fit(file, path, &old)?;
                if !content.is_empty() {
                    return Err(conflict(file, path, 0, ConflictProblem::NotEmptied));
                }
                let change = file.change.clone();
                return Ok(AppliedFile { change, hunks });
            }
            FileChange::Rename { from, to } => {
                let (old, snapshot) = self.read(from)?;
                self.files.check_move(&base.join(from), &base.join(to))?;
                let (content, hunks) = self.fit(file, to, &old)?;
                (to, content, Some(snapshot), hunks)
            }
            FileChange::Copy { from, to } => {
                let (old, snapshot) = self.read(from)?;
                let (content, hunks) = self.fit(file, to, &old)?;
                (to, content, Some(snapshot), hunks)
            }
        };
        let replaces = match file.change {
            FileChange::Modify(_) => like.is_some(),
            _ => removed.contains(to),
        };
        let expected = match replaces {
            true => Expected::Is(self.read(to)?.1),
            false => Expected::Absent,
        };
        changes.push(Change::Write {
            path: base.join(to),
            content,
            like,
            executable: file.executable,
            expected,
        });
        let change = file.change.clone();
        Ok(AppliedFile { change, hunks })
    }

    /// A file as it is before the patch.
    fn read(&mut self, path: &RelativePath) -> Result<(Vec<u8>, Snapshot), FileError> {
        if let Some(known) = self.read.get(path) {
            return Ok(known.clone());
        }
        let whole = self.base.join(path);
        let read = self.files.snapshot(&whole)?;
        self.held = self.held.saturating_add(read.0.len());
        if self.held > MOST_HELD {
            return Err(FileError::TooLarge {
                path: whole,
                limit: u64::try_from(MOST_HELD).unwrap_or(u64::MAX),
            });
        }
        self.read.insert(path.clone(), read.clone());
        Ok(read)
    }

    fn fit(
        &self,
        file: &FilePatch,
        path: &RelativePath,
        old: &[u8],
    ) -> Result<(Vec<u8>, Vec<HunkPlace>), PatchError> {
        apply_hunks(old, &file.hunks, &self.patch.source)
            .map_err(|(hunk, problem)| conflict(file, path, hunk, problem))
    }
}

fn begins_with_nothing(file: &FilePatch) -> bool {
    matches!(file.hunks.as_slice(), [only] if only.old_start == 0 && only.old_count == 0)
}

fn conflict(
    file: &FilePatch,
    path: &RelativePath,
    hunk: usize,
    problem: ConflictProblem,
) -> PatchError {
    PatchError::Conflict(Box::new(Conflict {
        path: path.clone(),
        hunk: hunk + 1,
        line: file.hunks.get(hunk).map_or(0, |hunk| hunk.patch_line),
        problem,
    }))
}
