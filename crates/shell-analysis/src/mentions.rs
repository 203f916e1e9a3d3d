//! The forbid side's answer: every command that appears anywhere, however it is wrapped.

use std::fmt;

use crate::plain::RedirectKind;

/// All commands found, in no promised order.
///
/// This over-approximates: a command in a branch never taken is mentioned, and so is one in a string that only might
/// be run. It is meant for rules that forbid; no allow may be based on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mentions {
    /// What was found.
    pub commands: Vec<Mention>,
    /// A cap was reached: there may be more. The analysis is opaque in that case.
    pub truncated: bool,
}

/// One command, as far as its words are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mention {
    /// Program and arguments; empty for a bare redirect or assignment.
    pub words: Vec<MentionWord>,
    /// Variables set for the command.
    pub assignments: Vec<(Vec<u8>, MentionWord)>,
    /// Files it would open.
    pub redirects: Vec<(RedirectKind, MentionWord)>,
    /// The constructs around it, outermost first; empty at the top of the script.
    pub found: Vec<Construct>,
}

/// One word of a mention.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MentionWord {
    /// The program would receive these bytes.
    Known(Vec<u8>),
    /// A glob, quotes removed: any of the files it matches.
    Pattern(Vec<u8>),
    /// Decided at run time.
    Unknown,
}

impl MentionWord {
    /// The bytes, if known.
    #[must_use]
    pub fn known(&self) -> Option<&[u8]> {
        match self {
            Self::Known(bytes) => Some(bytes),
            Self::Pattern(_) | Self::Unknown => None,
        }
    }
}

/// Where a mention was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Construct {
    /// `$(...)`, backticks or `${...}`.
    Substitution,
    /// `<(...)` or `>(...)`.
    ProcessSubstitution,
    /// `(...)`, `{ ... }`, a loop, `if`, `case`, `[[ ]]`, `(( ))`, a coprocess.
    Compound,
    /// A function body.
    Function,
    /// A background job.
    Background,
    /// A here-document that a shell reads.
    HereDocument,
    /// Behind a wrapper such as `nice` or `sudo`.
    Wrapper,
    /// Behind a wrapper whose options are not known: a guess.
    Guess,
    /// The argument of `sh -c` and the like.
    InlineScript,
    /// A string that a builtin or program runs: `eval`, `trap`, `alias`, `git -c`.
    Evaluated,
    /// A variable whose value is run by programs: `PAGER`, `GIT_SSH_COMMAND`.
    Variable,
    /// Text piped into a shell.
    PipedIntoShell,
    /// `find -exec` and the like.
    FindAction,
    /// Found by the loose scan, because the text did not parse or was over a cap.
    TextScan,
}

impl fmt::Display for Mention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, word) in self.words.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            match word {
                MentionWord::Known(bytes) => write!(f, "{}", bytes.escape_ascii())?,
                MentionWord::Pattern(bytes) => write!(f, "glob:{}", bytes.escape_ascii())?,
                MentionWord::Unknown => f.write_str("<?>")?,
            }
        }
        for (kind, target) in &self.redirects {
            match target.known() {
                Some(bytes) => write!(f, " {kind:?}={}", bytes.escape_ascii())?,
                None => write!(f, " {kind:?}=<?>")?,
            }
        }
        if !self.found.is_empty() {
            write!(f, "  in {:?}", self.found)?;
        }
        Ok(())
    }
}
