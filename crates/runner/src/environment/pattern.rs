//! Names of variables, with a star at the end for any rest.

use std::ffi::OsStr;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A name, or the beginning of names, as in `[env] keep` of a policy file: `NAME` or `NAME*`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NamePattern {
    stem: String,
    open: bool,
}

impl NamePattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// The text is empty, holds `=` or a NUL, or has a star that is not its last character.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let (stem, open) = match text.strip_suffix('*') {
            Some(stem) => (stem, true),
            None => (text, false),
        };
        let problem = if text.is_empty() {
            "it is empty"
        } else if stem.contains('*') {
            "a star can only be its last character"
        } else if stem.contains('=') {
            "no variable has `=` in its name"
        } else if stem.contains('\0') {
            "no variable has a NUL in its name"
        } else {
            return Ok(Self {
                stem: stem.to_owned(),
                open,
            });
        };
        Err(PatternError {
            text: text.to_owned(),
            problem,
        })
    }

    /// Whether it stands for exactly one name.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        !self.open
    }

    /// Whether it stands for this name.
    #[must_use]
    pub fn matches(&self, name: &OsStr) -> bool {
        let name = name.as_encoded_bytes();
        let stem = self.stem.as_bytes();
        match (self.open, name.get(..stem.len())) {
            (_, None) => false,
            (false, Some(head)) => name.len() == stem.len() && same(head, stem),
            (true, Some(head)) => same(head, stem),
        }
    }
}

/// Windows does not tell `Path` from `PATH`.
fn same(a: &[u8], b: &[u8]) -> bool {
    match cfg!(windows) {
        true => a.eq_ignore_ascii_case(b),
        false => a == b,
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.stem)?;
        f.write_str(if self.open { "*" } else { "" })
    }
}

impl TryFrom<String> for NamePattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        Self::parse(&text)
    }
}

impl From<NamePattern> for String {
    fn from(pattern: NamePattern) -> Self {
        pattern.to_string()
    }
}

/// A text that is not the pattern of a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a name or NAME*: {problem}", .text.escape_debug())]
pub struct PatternError {
    text: String,
    problem: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_beginnings_of_names() {
        let matches = |pattern: &str, name: &str| {
            NamePattern::parse(pattern)
                .unwrap()
                .matches(OsStr::new(name))
        };
        assert!(matches("LC_*", "LC_ALL") && matches("LC_*", "LC_") && matches("*", "X"));
        assert!(matches("PATH", "PATH"));
        assert!(!matches("PATH", "PATHS") && !matches("PATH", "PAT") && !matches("LC_*", "LC"));
    }

    #[test]
    fn what_can_be_no_name_is_refused() {
        for text in ["", "A=B", "A=*", "*A", "A**", "A\0"] {
            assert!(NamePattern::parse(text).is_err(), "{text:?}");
        }
    }
}
