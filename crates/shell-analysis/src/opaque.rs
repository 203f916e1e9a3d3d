//! Why a command is not plain.

use std::borrow::Cow;
use std::fmt;

/// The command could run something other than what its text seems to say, so nobody may allow it unseen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Opaque {
    reason: OpaqueReason,
    at: Option<usize>,
    detail: Cow<'static, str>,
}

impl Opaque {
    pub(crate) fn new(
        reason: OpaqueReason,
        at: impl Into<Option<usize>>,
        detail: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            reason,
            at: at.into(),
            detail: detail.into(),
        }
    }

    /// The class of the obstacle.
    #[must_use]
    pub fn reason(&self) -> OpaqueReason {
        self.reason
    }

    /// Byte offset in the script that was being read, if the obstacle has a place.
    ///
    /// For a nested script (`bash -c '...'`) the offset counts from the start of the inner text.
    #[must_use]
    pub fn at(&self) -> Option<usize> {
        self.at
    }

    /// What was found there, in words.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl fmt::Display for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reason)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        if let Some(at) = self.at {
            write!(f, " (byte {at})")?;
        }
        Ok(())
    }
}

/// The class of what made a command opaque.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OpaqueReason {
    /// A byte outside printable ASCII, tab and newline.
    HiddenCharacter,
    /// An expansion: `$`, backtick, brace, leading tilde, leading `=`.
    Expansion,
    /// A backslash, whose meaning differs by context.
    Backslash,
    /// A quote that never closes, or that shells close differently.
    Quoting,
    /// A glob where only a literal is safe: program, assignment or redirect target.
    Glob,
    /// A compound construct or reserved word: `if`, `(`, `{`, `!`, a function.
    Construct,
    /// `&`: the command would outlive the script.
    Background,
    /// A redirect whose target or form is not a literal path, `/dev/null` or a descriptor.
    Redirect,
    /// A here-document that is unquoted, unterminated or in a place shells disagree about.
    HereDocument,
    /// An assignment that is not a literal prefix, or whose value a shell may evaluate.
    Assignment,
    /// An empty command or a misplaced operator.
    Syntax,
    /// A program word that shells may not take literally.
    Program,
    /// A wrapper used with a flag or in a form that is not in its table.
    Wrapper,
    /// A builtin that evaluates its operands as code.
    EvaluatesOperands,
    /// A shell this analysis does not read.
    UnreadShell,
    /// Over a cap of [`Limits`](crate::Limits).
    Limit,
}

impl fmt::Display for OpaqueReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HiddenCharacter => "character outside printable ASCII",
            Self::Expansion => "shell expansion",
            Self::Backslash => "backslash",
            Self::Quoting => "quoting",
            Self::Glob => "glob in a literal position",
            Self::Construct => "shell construct",
            Self::Background => "background job",
            Self::Redirect => "redirect",
            Self::HereDocument => "here-document",
            Self::Assignment => "assignment",
            Self::Syntax => "syntax",
            Self::Program => "program word",
            Self::Wrapper => "wrapper",
            Self::EvaluatesOperands => "builtin evaluates its operands",
            Self::UnreadShell => "shell is not analysed",
            Self::Limit => "over a limit",
        })
    }
}
