//! A Rust file as the rules see it: its place in the repository, its tokens, and which of them are test code.

use std::ops::Range;

use super::lexer::{self, Token};

pub(super) struct Source<'a> {
    /// From the root of the repository, with forward slashes.
    pub(super) path: &'a str,
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Token<'a>>,
    /// The tokens of items that exist only under test, as ranges of `tokens`.
    test_items: Vec<Range<usize>>,
}

impl<'a> Source<'a> {
    pub(super) fn new(path: &'a str, text: &'a str) -> Self {
        let tokens = lexer::tokens(text);
        let test_items = test_items(&tokens);
        Self {
            path,
            text,
            tokens,
            test_items,
        }
    }

    /// The crate's name if the file is part of what a crate under `crates/` ships: below `src`, and not tests.
    pub(super) fn shipped_by(&self) -> Option<&'a str> {
        let (name, inside) = self.path.strip_prefix("crates/")?.split_once('/')?;
        let inside = inside.strip_prefix("src/")?;
        let is_test = inside
            .split('/')
            .any(|part| part == "tests" || part == "tests.rs" || part.ends_with("_tests.rs"));
        (!is_test).then_some(name)
    }

    /// The tokens outside of test items.
    pub(super) fn shipped_tokens(&self) -> Vec<Token<'a>> {
        let is_shipped = |at: &usize| !self.test_items.iter().any(|item| item.contains(at));
        let tokens = self.tokens.iter().enumerate();
        tokens
            .filter(|(at, _)| is_shipped(at))
            .map(|(_, token)| *token)
            .collect()
    }

    /// How many lines the file has, without those of test items.
    pub(super) fn shipped_lines(&self) -> usize {
        let in_tests = self.test_items.iter().map(|item| {
            let line = |at: usize| self.tokens.get(at).map_or(0, |token| token.line);
            line(item.end.saturating_sub(1)) - line(item.start) + 1
        });
        self.text.lines().count().saturating_sub(in_tests.sum())
    }

    /// The text of the documentation at the top of the file.
    pub(super) fn front_doc(&self) -> impl Iterator<Item = &'a str> {
        self.text
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .map(str::trim)
    }
}

/// The first token of every place where these words and marks follow one another.
pub(super) fn occurrences<'t, 'a>(
    tokens: &'t [Token<'a>],
    pattern: &'t [&str],
) -> impl Iterator<Item = &'t Token<'a>> {
    let windows = tokens.windows(pattern.len());
    windows
        .filter(move |window| starts_with(window, pattern))
        .filter_map(|window| window.first())
}

pub(super) fn starts_with(tokens: &[Token<'_>], pattern: &[&str]) -> bool {
    tokens.len() >= pattern.len()
        && tokens
            .iter()
            .zip(pattern)
            .all(|(token, text)| token.is(text))
}

fn test_items(tokens: &[Token<'_>]) -> Vec<Range<usize>> {
    const OUTER: &[&str] = &["#", "[", "cfg", "(", "test", ")", "]"];
    const INNER: &[&str] = &["#", "!", "[", "cfg", "(", "test", ")", "]"];
    let mut items = Vec::new();
    let mut at = 0;
    while let Some(rest) = tokens.get(at..)
        && !rest.is_empty()
    {
        if starts_with(rest, INNER) {
            items.push(0..tokens.len());
            return items;
        }
        let length = if starts_with(rest, OUTER) {
            item_length(rest)
        } else {
            0
        };
        if length > 0 {
            items.push(at..at + length);
        }
        at += length.max(1);
    }
    items
}

/// The length of the item that starts with an attribute here: up to its `;` or the end of its braces.
fn item_length(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        if ["(", "[", "{"].iter().any(|open| token.is(open)) {
            depth += 1;
        } else if [")", "]", "}"].iter().any(|close| token.is(close)) {
            // A closing mark without its opening one ends what encloses the item.
            let Some(shallower) = depth.checked_sub(1) else {
                return at;
            };
            depth = shallower;
            if depth == 0 && token.is("}") {
                return at + 1;
            }
        } else if depth == 0 && token.is(";") {
            return at + 1;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_shipped(text: &str, expected: &str, lines: usize) {
        let source = Source::new("crates/a/src/lib.rs", text);
        let words: Vec<_> = source
            .shipped_tokens()
            .iter()
            .map(|token| token.text)
            .collect();
        assert_eq!(words.join(" "), expected);
        assert_eq!(source.shipped_lines(), lines);
    }

    #[test]
    fn items_under_test_are_not_shipped() {
        check_shipped("a\n#[cfg(test)]\nmod tests {\n  fn b() {}\n}\nc", "a c", 2);
        check_shipped("#[cfg(test)]\nmod tests;\nc", "c", 1);
        check_shipped(
            "#[cfg(test)]\n#[path = \"x.rs\"]\nfn f(x: [u8; 2]) -> u8 {\n 1\n}\nc",
            "c",
            1,
        );
        check_shipped("struct S { #[cfg(test)] field: u8 } c", "struct S { } c", 0);
    }

    #[test]
    fn a_file_under_test_is_not_shipped() {
        check_shipped("//! Doc.\n#![cfg(test)]\nfn f() {}", "", 1);
    }

    #[test]
    fn conditions_that_only_mention_test_are_shipped() {
        check_shipped("#[cfg(not(test))]\na", "# [ cfg ( not ( test ) ) ] a", 2);
    }

    #[test]
    fn tests_and_other_folders_belong_to_no_crate() {
        let owner = |path| Source::new(path, "").shipped_by();
        assert_eq!(owner("crates/policy/src/model.rs"), Some("policy"));
        assert_eq!(owner("crates/policy/src/oracle/paths.rs"), Some("policy"));
        assert_eq!(owner("crates/policy/src/oracle/tests.rs"), None);
        assert_eq!(owner("crates/runner/src/executor/executing_tests.rs"), None);
        assert_eq!(owner("crates/policy/src/latests.rs"), Some("policy"));
        assert_eq!(owner("crates/policy/tests/it/main.rs"), None);
        assert_eq!(owner("crates/policy/benches/map.rs"), None);
        assert_eq!(owner("xtask/src/main.rs"), None);
    }
}
