//! What can be wrong with the approvals file and with an edit of it.

use palisade_policy::PathError;

use super::offering::Refused;
use crate::decision::AmendmentError;

/// A time that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MomentError {
    /// No date with time and offset.
    #[error("not a date with time and offset, such as 2026-03-01T12:00:00Z")]
    NotAMoment,
    /// Before 1970 or after 9999.
    #[error("the time is before 1970 or after 9999")]
    OutOfRange,
}

/// An approvals file that cannot be read. Nothing of it is used, and nothing of it is changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("approvals, line {line}: {problem}")]
pub struct ApprovalError {
    line: usize,
    problem: ApprovalProblem,
}

impl ApprovalError {
    pub(super) fn new(line: usize, problem: ApprovalProblem) -> Self {
        Self { line, problem }
    }

    /// The line, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// What is wrong there.
    #[must_use]
    pub fn problem(&self) -> &ApprovalProblem {
        &self.problem
    }
}

/// What is wrong with an approvals file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalProblem {
    /// Larger than any such file needs to be.
    #[error("the file is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// Not TOML.
    #[error("not TOML: {0}")]
    Syntax(String),
    /// No `version`, or one that this program does not know.
    #[error("`version = 1` is missing or another version")]
    Version,
    /// A key that means nothing here.
    #[error("unknown key `{}`", .0.escape_debug())]
    UnknownKey(String),
    /// A key that every approval needs.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A value of the wrong type.
    #[error("`{key}` must be {expected}")]
    WrongType {
        /// Which key.
        key: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// An empty rule id.
    #[error("`rule` is empty")]
    EmptyRule,
    /// A prefix that no command can begin with.
    #[error("`prefix`: {0}")]
    Prefix(#[from] AmendmentError),
    /// A project that is no absolute path.
    #[error("`project`: {0}")]
    Project(#[from] PathError),
    /// A time that cannot be used.
    #[error("`{key}`: {error}")]
    Moment {
        /// Which key.
        key: &'static str,
        /// What is wrong with it.
        error: MomentError,
    },
}

/// An approval that cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The prefix would grant everything.
    #[error("this prefix is not kept: {0}")]
    Refused(#[from] Refused),
    /// Nothing asked that an approval could answer.
    #[error("nothing was asked here that an approval could answer")]
    NothingToAnswer,
    /// A rule id that is empty.
    #[error("the rule has no id")]
    EmptyRule,
    /// The project's path is not Unicode, so that no file can name it.
    #[error("the project's path is not Unicode; the approval can be kept for this session only")]
    ProjectNotUnicode,
    /// It would expire before it begins.
    #[error("the approval would expire before it begins")]
    ExpiresBeforeDate,
    /// The time cannot be written.
    #[error("the time of the approval: {0}")]
    Moment(#[from] MomentError),
    /// The edited text would not read as what was meant, so the file is left alone.
    #[error("the edit cannot be written into this file; change it by hand")]
    NotFaithful,
    /// The file as it is cannot be read, so it is left alone.
    #[error(transparent)]
    File(#[from] ApprovalError),
}
