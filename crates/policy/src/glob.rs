//! Path globs: `*` and `?` within a name, `**` for any number of names, `[x]` to quote one character.
//!
//! Matching is linear in the number of names times the number of parts, so that no pattern is slow.

use std::ffi::OsStr;

use crate::error::GlobProblem;

const MAX_BYTES: usize = 1024;
const MAX_PARTS: usize = 32;

/// A compiled glob: one part for each name of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Glob(Vec<Part>);

/// What a glob says about the names of a path, in their order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a backend that translates globs must know every part"
)]
pub enum Part {
    /// `**`: any number of names, also none.
    AnyNames,
    /// One name.
    Name(Vec<Token>),
}

/// What a glob says about the characters of a name, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a backend that translates globs must know every token"
)]
pub enum Token {
    /// `*`: any characters, also none.
    Any,
    /// `?`: one character.
    One,
    /// A byte of the name.
    Byte(u8),
}

impl Token {
    const fn byte(self) -> Option<u8> {
        match self {
            Self::Byte(byte) => Some(byte),
            Self::Any | Self::One => None,
        }
    }
}

impl Glob {
    /// What it says, name by name.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.0
    }

    /// Reads a pattern without a leading separator; empty and `.` parts are dropped.
    pub(crate) fn parse(pattern: &str) -> Result<Self, GlobProblem> {
        if pattern.len() > MAX_BYTES {
            return Err(GlobProblem::TooLong);
        }
        let mut parts = Vec::new();
        for part in split_parts(pattern) {
            let part = match part {
                "**" => Part::AnyNames,
                _ => Part::Name(parse_name(part)?),
            };
            // Two neighbouring `**` mean the same as one.
            if part != Part::AnyNames || parts.last() != Some(&Part::AnyNames) {
                parts.push(part);
            }
        }
        if parts.len() > MAX_PARTS {
            return Err(GlobProblem::TooLong);
        }
        Ok(Self(parts))
    }

    /// The path that a pattern without `*` and `?` stands for.
    pub(crate) fn literal(&self) -> Option<String> {
        let mut names = Vec::new();
        for part in &self.0 {
            let Part::Name(tokens) = part else {
                return None;
            };
            let bytes: Option<Vec<u8>> = tokens.iter().map(|token| token.byte()).collect();
            names.push(String::from_utf8(bytes?).ok()?);
        }
        Some(names.join("/"))
    }

    /// The same pattern in lower case, for names that are folded before they are compared.
    pub(crate) fn to_lowercase(&self) -> Self {
        let fold = |tokens: &Vec<Token>| {
            let mut folded = Vec::with_capacity(tokens.len());
            for run in tokens.chunk_by(|a, b| a.byte().is_some() && b.byte().is_some()) {
                let bytes: Vec<u8> = run.iter().filter_map(|token| token.byte()).collect();
                match String::from_utf8(bytes) {
                    Ok(text) if !text.is_empty() => {
                        folded.extend(text.to_lowercase().bytes().map(Token::Byte));
                    }
                    _ => folded.extend_from_slice(run),
                }
            }
            folded
        };
        let parts = self.0.iter().map(|part| match part {
            Part::AnyNames => Part::AnyNames,
            Part::Name(tokens) => Part::Name(fold(tokens)),
        });
        Self(parts.collect())
    }

    /// Whether the names of a path match, all of them.
    #[cfg(test)]
    fn matches(&self, names: &[&OsStr], fold_case: bool) -> bool {
        let start = self.start();
        let reached = names
            .iter()
            .fold(start, |reached, name| self.step(reached, name, fold_case));
        self.is_whole(reached)
    }

    /// How many of the first names match, all parts of the glob, at most: a directory that matches stands for what is
    /// in it. No name at all is not a match.
    pub(crate) fn longest_match<'a>(
        &self,
        names: impl Iterator<Item = &'a OsStr>,
        fold_case: bool,
    ) -> Option<usize> {
        let mut reached = self.start();
        let mut longest = None;
        for (i, name) in names.enumerate() {
            reached = self.step(reached, name, fold_case);
            if self.is_whole(reached) {
                longest = Some(i + 1);
            } else if reached == Reached::default() {
                break;
            }
        }
        longest
    }

    /// How far no name at all gets.
    pub(crate) fn start(&self) -> Reached {
        self.with_empty(Reached::default().with(0))
    }

    /// Whether the names that got this far match all parts.
    pub(crate) fn is_whole(&self, reached: Reached) -> bool {
        reached.holds(self.0.len())
    }

    /// Whether more names could match: some got to a part that is not the end.
    pub(crate) fn is_open(&self, reached: Reached) -> bool {
        reached.0 & !(1 << self.0.len()) != 0
    }

    /// How far the names get: entry `i` says that they match the first `i` parts. What can match below a path depends
    /// on nothing else.
    pub(crate) fn reached<'a>(
        &self,
        names: impl Iterator<Item = &'a OsStr>,
        fold_case: bool,
    ) -> Vec<bool> {
        let start = self.start();
        let reached = names.fold(start, |reached, name| self.step(reached, name, fold_case));
        (0..=self.0.len()).map(|i| reached.holds(i)).collect()
    }

    /// How far one name more gets.
    pub(crate) fn step(&self, reached: Reached, name: &OsStr, fold_case: bool) -> Reached {
        let mut next = Reached::default();
        for (i, part) in self.0.iter().enumerate() {
            if !reached.holds(i) {
                continue;
            }
            next = match part {
                Part::AnyNames => next.with(i),
                Part::Name(tokens) if name_matches(tokens, name, fold_case) => next.with(i + 1),
                Part::Name(_) => next,
            };
        }
        self.with_empty(next)
    }

    /// `**` also matches no name at all.
    fn with_empty(&self, reached: Reached) -> Reached {
        let parts = self.0.iter().enumerate();
        parts.fold(reached, |reached, (i, part)| match part {
            Part::AnyNames if reached.holds(i) => reached.with(i + 1),
            _ => reached,
        })
    }
}

/// How many parts names can match: one bit for each number of them. There are at most [`MAX_PARTS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached(u64);

impl Reached {
    const fn with(self, parts: usize) -> Self {
        Self(self.0 | 1 << parts)
    }

    const fn holds(self, parts: usize) -> bool {
        self.0 & 1 << parts != 0
    }
}

const _: () = assert!(MAX_PARTS < u64::BITS as usize);

/// Quotes a text so that [`Glob::parse`] reads it as itself.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[') {
            quoted.extend(['[', c, ']']);
        } else {
            quoted.push(c);
        }
    }
    quoted
}

fn split_parts(pattern: &str) -> impl Iterator<Item = &str> {
    let separator = |c: char| c == '/' || (cfg!(windows) && c == '\\');
    pattern
        .split(separator)
        .filter(|part| !part.is_empty() && *part != ".")
}

fn parse_name(name: &str) -> Result<Vec<Token>, GlobProblem> {
    if name.contains("**") {
        return Err(GlobProblem::DoubleStar);
    }
    let mut tokens = Vec::with_capacity(name.len());
    let mut chars = name.chars();
    let mut buffer = [0; 4];
    let mut push = |tokens: &mut Vec<Token>, c: char| {
        tokens.extend(c.encode_utf8(&mut buffer).bytes().map(Token::Byte));
    };
    while let Some(c) = chars.next() {
        match c {
            '*' => tokens.push(Token::Any),
            '?' => tokens.push(Token::One),
            '[' => match (chars.next(), chars.next()) {
                (Some(quoted), Some(']')) => push(&mut tokens, quoted),
                _ => return Err(GlobProblem::Class),
            },
            _ => push(&mut tokens, c),
        }
    }
    Ok(tokens)
}

/// The usual greedy match: on failure, the last `*` takes one character more.
fn name_matches(tokens: &[Token], name: &OsStr, fold_case: bool) -> bool {
    let folded;
    let name = match name.to_str() {
        Some(text) if fold_case => {
            folded = text.to_lowercase();
            folded.as_bytes()
        }
        _ => name.as_encoded_bytes(),
    };
    let (mut t, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        let step = match (tokens.get(t), name.get(n)) {
            (None, None) => return true,
            (Some(Token::Any), _) => {
                star = Some((t, n));
                Some((t + 1, n))
            }
            (Some(Token::One), Some(_)) => Some((t + 1, char_end(name, n))),
            (Some(Token::Byte(token)), Some(byte)) if token == byte => Some((t + 1, n + 1)),
            _ => None,
        };
        (t, n) = match (step, star) {
            (Some(step), _) => step,
            (None, Some((at, from))) if from < name.len() => {
                let from = char_end(name, from);
                star = Some((at, from));
                (at + 1, from)
            }
            (None, _) => return false,
        };
    }
}

/// Where the character that starts at `n` ends: its continuation bytes belong to it.
fn char_end(name: &[u8], n: usize) -> usize {
    let rest = name.get(n + 1..).unwrap_or_default();
    let continuation = rest.iter().take_while(|byte| (0x80..0xc0).contains(*byte));
    n + 1 + continuation.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        let names: Vec<&OsStr> = path.split('/').map(OsStr::new).collect();
        Glob::parse(pattern).unwrap().matches(&names, false)
    }

    #[test]
    fn a_star_stays_within_its_name() {
        assert!(matches("*.rs", "lib.rs"));
        assert!(matches("a*b*c", "aXbYbZc"));
        assert!(!matches("a*b*c", "aXbYbZ"));
        assert!(!matches("*.rs", "src/lib.rs"));
        assert!(matches("src/*/mod.rs", "src/os/mod.rs"));
    }

    #[test]
    fn two_stars_cross_names_and_match_none() {
        for path in [".env", "a/.env", "a/b/.env.local"] {
            assert!(matches("**/.env*", path), "{path}");
        }
        assert!(!matches("**/.env*", "a/env"));
        assert!(matches("a/**/z", "a/z"));
        assert!(matches("a/**/b/**/z", "a/x/b/y/b/z"));
        assert!(!matches("a/**/b/**/z", "a/x/y/z"));
    }

    #[test]
    fn a_question_mark_is_one_character_also_beyond_ascii() {
        assert!(matches("?.txt", "ä.txt"));
        assert!(!matches("?.txt", "ab.txt"));
        assert!(matches("*ä?", "xäö"));
    }

    #[test]
    fn brackets_quote_one_character() {
        assert!(matches("a[*]b", "a*b"));
        assert!(!matches("a[*]b", "axb"));
        assert_eq!(Glob::parse("[ab]"), Err(GlobProblem::Class));
        assert_eq!(Glob::parse("a["), Err(GlobProblem::Class));
        assert_eq!(Glob::parse("a**"), Err(GlobProblem::DoubleStar));
        assert_eq!(Glob::parse(&"a/".repeat(40)), Err(GlobProblem::TooLong));
    }

    #[test]
    fn hostile_patterns_are_not_slow() {
        // Exponential in a backtracking matcher, a few hundred thousand steps here.
        let path = vec!["a".repeat(200); 200].join("/");
        let stars = "*a".repeat(30) + "b";
        assert!(!matches(&stars, &"a".repeat(200)));
        assert!(!matches(
            &["**/a*"; 15].join("/").replace("a*", "b*"),
            &path
        ));
    }

    #[test]
    fn quoting_makes_a_literal() {
        for text in ["a*b", "[x]", "what?", "plain"] {
            let glob = Glob::parse(&quote(text)).unwrap();
            assert_eq!(glob.literal().as_deref(), Some(text));
        }
    }
}
