//! Why a text is not a profile, and where.

use std::fmt;

/// A place in a text: lines and columns begin at 1, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A text that is not a profile, or not one that this model understands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {problem}")]
#[non_exhaustive]
pub struct ReadError {
    /// Where.
    pub at: Position,
    /// Why.
    pub problem: ReadProblem,
}

impl ReadError {
    pub(crate) const fn new(at: Position, problem: ReadProblem) -> Self {
        Self { at, problem }
    }
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadProblem {
    /// A list or a string that never ends.
    #[error("the text ends inside {0}")]
    Unfinished(&'static str),
    /// A `)` without a `(`.
    #[error("this closes nothing")]
    Unopened,
    /// A character that begins nothing.
    #[error("{0:?} begins nothing that is understood here")]
    Character(char),
    /// An escape in a string.
    #[error("\\{0} is no escape that is understood here")]
    Escape(char),
    /// A backslash before the quote that ends a raw string: readers differ in what that means.
    #[error(
        "a backslash before the closing quote of a raw string is read differently by different readers"
    )]
    RawQuote,
    /// Lists inside lists inside lists.
    #[error("lists are nested more than {0} deep")]
    TooDeep(usize),
    /// A text of more than a megabyte.
    #[error("the text has more than {0} bytes")]
    TooLong(usize),
    /// `(version 1)` is not the first form, or is there twice.
    #[error("a profile begins with (version 1), once")]
    Version,
    /// A form that is neither `version`, `allow` nor `deny`.
    #[error("{0} is no form that is understood here")]
    Form(String),
    /// An operation that is not known.
    #[error("{0} is no operation that is known")]
    Operation(String),
    /// A rule about nothing.
    #[error("the rule names no operation")]
    NoOperation,
    /// A filter that is not known.
    #[error("{0} is no filter that is understood here")]
    Filter(String),
    /// A modifier that is not known.
    #[error("{0} is no modifier that is understood here")]
    Modifier(String),
    /// Something else was expected here.
    #[error("expected {0}")]
    Expected(&'static str),
    /// The name of a parameter.
    #[error("{0:?} is no name for a parameter: upper-case letters, digits and _")]
    ParameterName(String),
    /// One end of a connection.
    #[error("{0:?} is no endpoint: the host is * or localhost, the port * or a number")]
    Endpoint(String),
    /// A regular expression.
    #[error("in the pattern: {0}")]
    Pattern(#[from] super::super::pattern::PatternProblem),
}
