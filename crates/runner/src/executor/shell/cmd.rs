//! Scripts for the Windows command interpreter.
//!
//! It expands `%NAME%` and, where switched on, `!NAME!` inside quotes, and no escape for either works everywhere; a
//! double quote ends a quoted part whatever stands before it. Words that hold one of these, or a line break, format
//! nothing.

/// How cmd is started: `/d` skips the AutoRun commands of the registry, which are its start-up file; `/s` makes it take
/// the rest as it is.
pub(super) const fn flags(use_profile: bool) -> &'static [&'static str] {
    if use_profile {
        &["/s", "/c"]
    } else {
        &["/d", "/s", "/c"]
    }
}

/// The command line. It has to reach cmd as it is, without another round of quoting.
pub(super) fn script(words: &[&[u8]]) -> Option<Vec<u8>> {
    let mut text = String::new();
    for (index, word) in words.iter().enumerate() {
        let word = std::str::from_utf8(word).ok()?;
        if word.contains(['"', '%', '!', '\r', '\n']) {
            return None;
        }
        if index > 0 {
            text.push(' ');
        }
        quote(word, &mut text);
    }
    Some(format!("\"{text}\"").into_bytes())
}

/// A word as both cmd and the program that it starts read it. Backslashes before the closing quote would escape it for
/// the program, so they are doubled.
fn quote(word: &str, text: &mut String) {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '\\');
    if !word.is_empty() && word.chars().all(plain) {
        text.push_str(word);
        return;
    }
    text.push('"');
    text.push_str(word);
    let backslashes = word.len() - word.trim_end_matches('\\').len();
    text.extend(std::iter::repeat_n('\\', backslashes));
    text.push('"');
}
