//! Why a patch was not applied.

use std::fmt;

use palisade_policy::{AbsolutePath, RelativePath};

use crate::files::FileError;

/// Why a patch is no patch that can be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the patch: {problem}")]
#[non_exhaustive]
pub struct ParseError {
    /// The line, counted from one.
    pub line: usize,
    /// What is wrong there.
    pub problem: ParseProblem,
}

/// What is wrong with a patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseProblem {
    /// Nothing in it changes a file.
    #[error("the patch changes nothing")]
    Empty,
    /// It has more bytes or more files than are taken.
    #[error("the patch is too large: more than {limit} {of}")]
    TooLarge {
        /// How many there may be.
        limit: usize,
        /// Of what.
        of: &'static str,
    },
    /// A binary patch.
    #[error("binary patches are not supported: write the file instead")]
    Binary,
    /// Something that only git can apply.
    #[error("{what} cannot be patched")]
    Unsupported {
        /// What it is.
        what: &'static str,
    },
    /// A name that is no path below the base.
    #[error("the name {name:?} is not a path inside: {why}")]
    BadName {
        /// The name, made readable.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// A header line that nobody understands.
    #[error("a damaged header: {what}")]
    BadHeader {
        /// What is wrong with it.
        what: &'static str,
    },
    /// Lines of a hunk that belong to no file.
    #[error("a hunk without a file: --- and +++ lines are missing before it")]
    StrayHunk,
    /// A hunk that says how many lines it has, and has others.
    #[error("the hunk has {0} lines than its @@ line says: count them again")]
    Counts(&'static str),
    /// A line that begins with none of the signs.
    #[error("a line of a hunk must begin with a space, + or -")]
    BadLine,
    /// A marker for a missing end of line where there is a next line.
    #[error("only the last line of a file can be without its end")]
    MisplacedMarker,
    /// Hunks of one file that are not in order.
    #[error("the hunks of a file must be in order and apart")]
    Order,
    /// The same path twice.
    #[error("{0} is changed twice")]
    Twice(RelativePath),
}

/// Where a patch does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: hunk {hunk} (line {line} of the patch) {problem}")]
#[non_exhaustive]
pub struct Conflict {
    /// The file.
    pub path: RelativePath,
    /// Which of its hunks, counted from one.
    pub hunk: usize,
    /// Where the hunk is in the patch.
    pub line: usize,
    /// Why it does not fit.
    pub problem: ConflictProblem,
}

/// Why a hunk does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConflictProblem {
    /// Its lines are nowhere in the file (after the hunk before it).
    NotFound,
    /// Its lines are at two places that are equally far from where it says.
    Ambiguous {
        /// The line of one place.
        first: usize,
        /// The line of the other.
        second: usize,
    },
    /// It has no context to look for, and the file is shorter than it says.
    PastEnd,
    /// It would put a line behind a last line that has no end.
    JoinsLines,
    /// The patch removes the file, and the file has more in it.
    NotEmptied,
    /// Looking for it took more than a patch may take.
    TooCostly,
}

impl fmt::Display for ConflictProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("does not fit: its lines are not in the file"),
            Self::Ambiguous { first, second } => write!(
                f,
                "fits equally well at line {first} and line {second}: give it more context"
            ),
            Self::PastEnd => f.write_str("is behind the end of the file"),
            Self::JoinsLines => {
                f.write_str("would join lines: the last line of the file has no end")
            }
            Self::NotEmptied => f.write_str("removes the file, which has more in it"),
            Self::TooCostly => f.write_str("takes too long to find: its line numbers are far off"),
        }
    }
}

/// Why a patch was not applied. Nothing was changed, but in the last case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// It is no patch.
    #[error(transparent)]
    Malformed(#[from] ParseError),
    /// It does not fit.
    #[error(transparent)]
    Conflict(Box<Conflict>),
    /// A file cannot be touched.
    #[error(transparent)]
    File(#[from] FileError),
    /// Something failed in the middle, and then not everything could be put back.
    #[error("{why}; and these could not be put back: {}", Listed(left))]
    NotUndone {
        /// What failed.
        why: FileError,
        /// Each file that is not as before, and where its old content is (its own path if it was not there before).
        left: Vec<(AbsolutePath, AbsolutePath)>,
    },
}

struct Listed<'a>(&'a [(AbsolutePath, AbsolutePath)]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (path, old)) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{path} (was {old})")?;
        }
        Ok(())
    }
}
