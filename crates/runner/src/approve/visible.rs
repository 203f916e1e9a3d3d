//! Text from elsewhere, shown so that a person sees what is there.
//!
//! A command line that a model wrote can hold characters that a terminal obeys or does not show: escape sequences,
//! marks that turn the direction of writing around, letters without a shape. A person who approves the line must see
//! them.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;

/// The text with everything that would not be seen, or would change how the rest is seen, written as `\u{…}`.
///
/// Line breaks count among them: the result is one line. A backslash is written twice, so that nothing can look like
/// what this function writes.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        push(&mut shown, character);
    }
    shown
}

/// A command on one line, each word quoted where a shell would need it, so that one word never looks like two.
///
/// Words with something to hide are written as `$'…'`; bytes that are not Unicode as `\xff`.
#[must_use]
pub fn visible_command(argv: &[OsString]) -> String {
    let words: Vec<String> = argv.iter().map(|word| visible_word(word)).collect();
    words.join(" ")
}

fn visible_word(word: &OsStr) -> String {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || "-_./=:,@%+".contains(character);
    match word.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(plain) => text.to_owned(),
        Some(text) if text.chars().all(|character| !is_hidden(character)) => quoted(text),
        _ => {
            let mut shown = String::from("$'");
            push_word(&mut shown, word);
            shown.push('\'');
            shown
        }
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn push(shown: &mut String, character: char) {
    if character == '\\' {
        shown.push_str(r"\\");
    } else if is_hidden(character) {
        // Writing to a string cannot fail.
        let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
    } else {
        shown.push(character);
    }
}

fn push_quoted(shown: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '\'' => shown.push_str(r"\'"),
            '\n' => shown.push_str(r"\n"),
            '\t' => shown.push_str(r"\t"),
            '\r' => shown.push_str(r"\r"),
            other => push(shown, other),
        }
    }
}

#[cfg(unix)]
fn push_word(shown: &mut String, word: &OsStr) {
    use std::os::unix::ffi::OsStrExt as _;
    for chunk in word.as_bytes().utf8_chunks() {
        push_quoted(shown, chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
}

#[cfg(not(unix))]
fn push_word(shown: &mut String, word: &OsStr) {
    match word.to_str() {
        Some(text) => push_quoted(shown, text),
        // The system's own debug form names the unpaired surrogates.
        None => push_quoted(shown, &format!("{word:?}")),
    }
}

/// Whether a character is not seen, or changes how others are seen.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || (character.is_whitespace() && character != ' ')
        || HIDDEN
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&character))
}

/// Ranges of characters without a shape of their own: format and direction marks, joiners, fillers, selectors, tags and
/// private use.
const HIDDEN: &[(char, char)] = &[
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{e000}', '\u{f8ff}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
    ('\u{f0000}', '\u{10ffff}'),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(words: &[&str]) -> String {
        visible_command(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn plain_commands_look_as_they_are_typed() {
        assert_eq!(shown(&["cargo", "test", "-p", "x"]), "cargo test -p x");
        assert_eq!(shown(&["echo", "a b", ""]), "echo 'a b' ''");
        assert_eq!(shown(&["echo", "it's"]), r"echo 'it'\''s'");
        assert_eq!(shown(&["ls", "naïve"]), "ls 'naïve'");
        assert_eq!(shown(&["echo", "$(rm -rf x)"]), "echo '$(rm -rf x)'");
    }

    #[test]
    fn hidden_control_and_direction_characters_are_shown() {
        for (hidden, expected) in [
            ("\u{202e}", r"$'a\u{202e}b'"),
            ("\u{2066}", r"$'a\u{2066}b'"),
            ("\u{200b}", r"$'a\u{200b}b'"),
            ("\u{1b}[2K", r"$'a\u{1b}[2Kb'"),
            ("\u{9b}", r"$'a\u{9b}b'"),
            ("\r", r"$'a\rb'"),
            ("\n", r"$'a\nb'"),
            ("\u{a0}", r"$'a\u{a0}b'"),
            ("\u{e0041}", r"$'a\u{e0041}b'"),
            ("\u{3164}", r"$'a\u{3164}b'"),
            ("\u{7f}", r"$'a\u{7f}b'"),
        ] {
            assert_eq!(shown(&[&format!("a{hidden}b")]), expected);
            assert!(!visible(hidden).contains(hidden), "{hidden:?}");
        }
    }

    #[test]
    fn nothing_can_look_like_an_escape_or_like_another_command() {
        assert_eq!(visible(r"\u{202e}"), r"\\u{202e}");
        let lines = [
            shown(&["a", "b"]),
            shown(&["a b"]),
            shown(&["a", "", "b"]),
            shown(&["a", "'b'"]),
            shown(&["a", "\u{200b}b"]),
            shown(&["a", r"\u{200b}b"]),
            shown(&["a", "$'\\u{200b}b'"]),
        ];
        for (index, line) in lines.iter().enumerate() {
            assert!(!lines[..index].contains(line), "{line}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_not_unicode_are_shown_one_by_one() {
        use std::os::unix::ffi::OsStringExt as _;
        let argv = [
            OsString::from("cat"),
            OsString::from_vec(b"a\xffb'".to_vec()),
        ];
        assert_eq!(visible_command(&argv), r"cat $'a\xffb\''");
    }
}
