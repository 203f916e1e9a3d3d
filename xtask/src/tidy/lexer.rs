//! Splits Rust source into tokens, so that comments, documentation and strings cannot trip a rule about code.
//!
//! It knows just enough of the language to tell those apart: nested comments, raw strings, characters against
//! lifetimes. It never fails; source that does not compile is the compiler's business.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Mark,
    Literal,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// Counted from 1.
    pub(super) line: usize,
}

impl Token<'_> {
    /// Whether this is the given word or mark. No literal is.
    pub(super) fn is(&self, text: &str) -> bool {
        self.kind != Kind::Literal && self.text == text
    }
}

pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer {
        rest: text,
        line: 1,
    };
    std::iter::from_fn(|| lexer.next_token()).collect()
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Lexer<'a> {
    fn next_token(&mut self) -> Option<Token<'a>> {
        while let Some(length) = blank_length(self.rest) {
            self.take(length);
        }
        let line = self.line;
        let (kind, length) = token_length(self.rest)?;
        let text = self.take(length);
        Some(Token { kind, text, line })
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .unwrap_or((self.rest, ""));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }
}

/// The length of the white space or comment that the text starts with, if it does.
fn blank_length(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    if first.is_whitespace() {
        Some(first.len_utf8())
    } else if text.starts_with("//") {
        Some(text.find('\n').unwrap_or(text.len()))
    } else if text.starts_with("/*") {
        Some(block_comment_length(text))
    } else {
        None
    }
}

/// Block comments nest.
fn block_comment_length(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut rest = text;
    loop {
        if let Some(after) = rest.strip_prefix("/*") {
            depth += 1;
            rest = after;
        } else if let Some(after) = rest.strip_prefix("*/") {
            depth -= 1;
            rest = after;
            if depth == 0 {
                return text.len() - rest.len();
            }
        } else {
            let mut chars = rest.chars();
            if chars.next().is_none() {
                return text.len();
            }
            rest = chars.as_str();
        }
    }
}

fn token_length(text: &str) -> Option<(Kind, usize)> {
    let first = text.chars().next()?;
    if let Some(length) = raw_string_length(text).or_else(|| quoted_length(text)) {
        return Some((Kind::Literal, length));
    }
    if first == '\'' {
        // Not a character, so a lifetime or a label.
        return Some((
            Kind::Literal,
            1 + word_length(text.get(1..).unwrap_or_default()),
        ));
    }
    if let Some(raw) = text.strip_prefix("r#")
        && word_length(raw) > 0
    {
        return Some((Kind::Word, 2 + word_length(raw)));
    }
    match word_length(text) {
        0 => Some((Kind::Mark, first.len_utf8())),
        length if first.is_ascii_digit() => Some((Kind::Literal, length)),
        length => Some((Kind::Word, length)),
    }
}

/// `r"..."`, `br#"..."#` and their like end at a quote followed by as many `#` as stand before the first one.
fn raw_string_length(text: &str) -> Option<usize> {
    let after_prefix = ["r", "br", "cr"].iter().find_map(|prefix| {
        let rest = text.strip_prefix(prefix)?;
        rest.starts_with(['"', '#']).then_some(rest)
    })?;
    let after_hashes = after_prefix.trim_start_matches('#');
    let hashes = after_prefix.len() - after_hashes.len();
    let body = after_hashes.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(text.len() - body.len() + length)
}

/// `"..."`, `'x'`, with an optional `b` or `c` before the quote.
fn quoted_length(text: &str) -> Option<usize> {
    let unprefixed = ["b", "c"]
        .iter()
        .find_map(|prefix| {
            text.strip_prefix(prefix)
                .filter(|rest| rest.starts_with(['"', '\'']))
        })
        .unwrap_or(text);
    let body = match unprefixed.chars().next()? {
        '\'' if is_character(unprefixed) => unprefixed.strip_prefix('\'')?,
        '"' => unprefixed.strip_prefix('"')?,
        _ => return None,
    };
    let quote = unprefixed.chars().next()?;
    let mut escaped = false;
    for (at, char) in body.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if char == quote => return Some(text.len() - body.len() + at + 1),
            _ => {}
        }
    }
    Some(text.len())
}

/// Tells `'a'` and `'\n'` from the lifetime `'a`.
fn is_character(text: &str) -> bool {
    let mut chars = text.chars().skip(1);
    let inside = chars.next();
    inside == Some('\\') || chars.next() == Some('\'')
}

fn word_length(text: &str) -> usize {
    text.find(|char: char| !char.is_alphanumeric() && char != '_')
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let code = tokens(text)
            .into_iter()
            .filter(|token| token.kind != Kind::Literal);
        assert_eq!(code.map(|token| token.text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn comments_are_no_code() {
        check("a // unsafe\nb", &["a", "b"]);
        check("a /* unsafe /* nested */ still */ b", &["a", "b"]);
        check(
            "//! unsafe\n/// unsafe\nfn f() {}",
            &["fn", "f", "(", ")", "{", "}"],
        );
        check("a /* never closed", &["a"]);
    }

    #[test]
    fn strings_are_no_code() {
        check(r#"f("unsafe \" unsafe", x)"#, &["f", "(", ",", "x", ")"]);
        check(
            r##"f(r"\", r#"un"safe"#, br"x", b"y", c"z")"##,
            &["f", "(", ",", ",", ",", ",", ")"],
        );
        check("\"never closed", &[]);
    }

    #[test]
    fn characters_and_lifetimes_are_told_apart() {
        check(
            r"['a', '\'', '\\', b'x', '(']",
            &["[", ",", ",", ",", ",", "]"],
        );
        check(
            "fn f<'a>(x: &'a str)",
            &["fn", "f", "<", ">", "(", "x", ":", "&", "str", ")"],
        );
        check("impl X<'_> {}", &["impl", "X", "<", ">", "{", "}"]);
    }

    #[test]
    fn words_that_look_like_prefixes_stay_words() {
        check(
            "br r b c crate r#type",
            &["br", "r", "b", "c", "crate", "r#type"],
        );
        check("1_000u64 0x1f x.0", &["x", "."]);
    }

    #[test]
    fn lines_are_counted_through_everything() {
        let lines: Vec<_> = tokens("a\n/* \n */ b \"\n\" c")
            .iter()
            .map(|token| token.line)
            .collect();
        assert_eq!(lines, [1, 3, 3, 4]);
    }
}
