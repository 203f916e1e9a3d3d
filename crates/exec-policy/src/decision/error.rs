//! What can be wrong with the values that this crate reads; each error names the value.

use crate::decision::approval::AskForApproval;

/// A name that is no approval policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no approval policy; it is one of {}", .value.escape_debug(), Names)]
pub struct UnknownApprovalPolicy {
    value: String,
}

impl UnknownApprovalPolicy {
    pub(crate) fn new(value: &str) -> Self {
        Self {
            value: value.to_owned(),
        }
    }

    /// The name as it was given.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }
}

/// The names that would have been understood.
struct Names;

impl std::fmt::Display for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, policy) in AskForApproval::SIMPLE.into_iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            write!(f, "`{}`", policy.name())?;
        }
        Ok(())
    }
}

/// A prefix that cannot be kept as an amendment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AmendmentError {
    /// No token at all, which would match every command.
    #[error("the prefix is empty; it would match every command")]
    Empty,
    /// A first token that names no program.
    #[error("the program of the prefix is empty")]
    EmptyProgram,
    /// A token that no command line can hold.
    #[error("token {position} of the prefix contains a NUL")]
    Nul {
        /// Which token, counted from 0.
        position: usize,
    },
}
