//! Exit codes, in one place. `docs/exit-codes.md` says what they mean.

use std::process::ExitCode;

/// What this program exits with when it is not the code of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// The answer is yes, or all is well.
    Fine,
    /// The answer is no, or something is not as it should be.
    No,
    /// The arguments or a policy make no sense.
    Usage,
    /// `check`: a person would be asked.
    Prompt,
    /// `check`: it never runs.
    Forbid,
    /// `run`: its time was up.
    TimedOut,
    /// `run`: Palisade itself failed.
    Failed,
    /// `run`: refused, or the program cannot be executed.
    Refused,
    /// `run`: there is no such program.
    NotFound,
}

impl Code {
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::Prompt => 3,
            Self::Forbid => 4,
            Self::TimedOut => 124,
            Self::Failed => 125,
            Self::Refused => 126,
            Self::NotFound => 127,
        }
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code.number())
    }
}
