//! A patch that was understood.

use std::ops::Range;
use std::sync::Arc;

use palisade_policy::RelativePath;

use super::error::ParseError;
use super::parse;

/// A patch that was understood. It says nothing about files yet: whether it fits is found out when it is applied.
#[derive(Clone, Debug)]
pub struct Patch {
    pub(super) source: Arc<[u8]>,
    pub(super) files: Vec<FilePatch>,
}

impl Patch {
    /// The largest patch, in bytes.
    pub const MAX_BYTES: usize = 16 << 20;
    /// The most files in a patch.
    pub const MAX_FILES: usize = 10_000;

    /// Understands a unified diff. Text before, between and after the files is skipped, as long as it is no hunk.
    ///
    /// # Errors
    /// It is no patch, it is damaged, it needs something that is not supported, or it is too large. The error says in
    /// which line.
    pub fn parse(patch: &[u8]) -> Result<Self, ParseError> {
        parse::parse(patch)
    }

    /// What happens to each file.
    pub fn changes(&self) -> impl Iterator<Item = &FileChange> {
        self.files.iter().map(|file| &file.change)
    }

    /// Every path that the patch reads or changes, once, relative to its base.
    pub fn paths(&self) -> impl Iterator<Item = &RelativePath> {
        let mut paths: Vec<&RelativePath> =
            self.changes().flat_map(|change| change.paths()).collect();
        paths.sort();
        paths.dedup();
        paths.into_iter()
    }
}

/// What happens to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileChange {
    /// It is made.
    Create(RelativePath),
    /// Its content or its executable bit changes. A plain diff that begins with nothing may also make it.
    Modify(RelativePath),
    /// It is removed.
    Delete(RelativePath),
    /// It gets another name, and perhaps another content.
    Rename {
        /// The old name.
        from: RelativePath,
        /// The new name.
        to: RelativePath,
    },
    /// A second file is made from it.
    Copy {
        /// The file that stays.
        from: RelativePath,
        /// The new one.
        to: RelativePath,
    },
}

impl FileChange {
    /// The paths that it reads or changes.
    pub fn paths(&self) -> impl Iterator<Item = &RelativePath> {
        let (first, second) = match self {
            Self::Create(path) | Self::Modify(path) | Self::Delete(path) => (path, None),
            Self::Rename { from, to } | Self::Copy { from, to } => (from, Some(to)),
        };
        [first].into_iter().chain(second)
    }

    /// The path that it leaves a file at; `None` for one that is removed.
    pub(super) const fn result(&self) -> Option<&RelativePath> {
        match self {
            Self::Create(path) | Self::Modify(path) => Some(path),
            Self::Rename { to, .. } | Self::Copy { to, .. } => Some(to),
            Self::Delete(_) => None,
        }
    }

    /// The path that it takes a file from.
    pub(super) const fn removed(&self) -> Option<&RelativePath> {
        match self {
            Self::Delete(path) | Self::Rename { from: path, .. } => Some(path),
            Self::Create(_) | Self::Modify(_) | Self::Copy { .. } => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct FilePatch {
    pub(super) change: FileChange,
    /// Whether the result is executable, where the patch says so.
    pub(super) executable: Option<bool>,
    pub(super) hunks: Vec<Hunk>,
}

/// Some lines of a file, before and after.
#[derive(Clone, Debug)]
pub(super) struct Hunk {
    /// Where it is in the patch.
    pub(super) patch_line: usize,
    /// The first line before, counted from one; with no lines, the line that it follows.
    pub(super) old_start: usize,
    pub(super) old_count: usize,
    pub(super) new_count: usize,
    pub(super) lines: Vec<Line>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Both,
    Old,
    New,
}

/// A line of a hunk, as a part of the patch: with its end, unless it has none in the file.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) side: Side,
    pub(super) text: Range<u32>,
}

impl Line {
    pub(super) fn text<'a>(&self, source: &'a [u8]) -> &'a [u8] {
        let bound = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
        source
            .get(bound(self.text.start)..bound(self.text.end))
            .unwrap_or_default()
    }
}
