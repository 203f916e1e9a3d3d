//! One argument of a plain command.

use crate::plain::Plain;

/// A byte range of the script that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a half-open range is complete; callers build it in tests"
)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// One argument.
///
/// Text is kept as bytes. From a script it is ASCII; from an argument list it is the platform's own encoding as
/// given by [`OsStr::as_encoded_bytes`](std::ffi::OsStr::as_encoded_bytes), so that no two arguments become equal by
/// conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Word {
    /// The program receives exactly these bytes.
    Literal(Vec<u8>),
    /// The shell replaces this by the names of matching files, each an argument in this position.
    Pattern(Pattern),
    /// `<(...)`: the program receives the path of a pipe that these commands write.
    ProcessSubstitution(Plain),
}

impl Word {
    /// The exact bytes, if the word is literal.
    #[must_use]
    pub fn literal(&self) -> Option<&[u8]> {
        match self {
            Self::Literal(bytes) => Some(bytes),
            Self::Pattern(_) | Self::ProcessSubstitution(_) => None,
        }
    }
}

/// A glob: literal text with unquoted metacharacters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: Vec<u8>,
    /// Ascending indices into `text` of the bytes that are metacharacters.
    metas: Vec<usize>,
}

impl Pattern {
    pub(crate) fn new(text: Vec<u8>, metas: Vec<usize>) -> Self {
        Self { text, metas }
    }

    /// The text with quotes removed; quoted metacharacters cannot be told from active ones here.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Each byte, and whether it is an active metacharacter (`*`, `?`, `[`, `]`).
    pub fn bytes(&self) -> impl Iterator<Item = (u8, bool)> + '_ {
        let mut metas = self.metas.iter().copied().peekable();
        self.text.iter().enumerate().map(move |(at, &byte)| {
            let active = metas.next_if_eq(&at).is_some();
            (byte, active)
        })
    }

    /// What every expansion starts with.
    ///
    /// Empty for `*.rs`, whose matches may include a file named like an option (`-f.rs`).
    #[must_use]
    pub fn literal_prefix(&self) -> &[u8] {
        let end = self.metas.first().copied().unwrap_or(self.text.len());
        self.text.get(..end).unwrap_or(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_knows_its_prefix_and_its_active_bytes() {
        let pattern = Pattern::new(b"src/*?.rs".to_vec(), vec![5]);
        assert_eq!(pattern.literal_prefix(), b"src/*");
        let active: Vec<u8> = pattern
            .bytes()
            .filter(|(_, active)| *active)
            .map(|(byte, _)| byte)
            .collect();
        assert_eq!(active, b"?");
    }
}
