//! Scripts for PowerShell.
//!
//! Windows PowerShell hands arguments to programs without escaping what is inside them, newer ones do escape. Words that
//! the two would pass on differently (empty ones, with a double quote, or ending in a backslash after a blank) have no
//! common spelling and format nothing.

/// How PowerShell is started.
pub(super) const fn flags(use_profile: bool) -> &'static [&'static str] {
    if use_profile {
        &["-NonInteractive", "-Command"]
    } else {
        &["-NoProfile", "-NonInteractive", "-Command"]
    }
}

/// Calls the command and ends with its status: that of the program, or 1 where a cmdlet failed.
pub(super) fn script(words: &[&[u8]]) -> Option<Vec<u8>> {
    let mut text = String::from("$global:LASTEXITCODE = $null; &");
    for (index, word) in words.iter().enumerate() {
        let word = std::str::from_utf8(word).ok()?;
        if !passes_alike(word) {
            return None;
        }
        text.push(' ');
        if index > 0 && is_parameter(word) {
            text.push_str(word);
        } else {
            quote(word, &mut text);
        }
    }
    text.push_str(
        "; $palisade = $?; if ($null -ne $LASTEXITCODE) { exit $LASTEXITCODE }; \
         if ($palisade) { exit 0 } else { exit 1 }",
    );
    Some(text.into_bytes())
}

fn passes_alike(word: &str) -> bool {
    let blank_then_backslash = word.contains([' ', '\t']) && word.ends_with('\\');
    !word.is_empty() && !word.contains('"') && !blank_then_backslash
}

/// Whether this is the name of a parameter. In quotes a cmdlet would take it for a value; a program gets the same either
/// way.
fn is_parameter(word: &str) -> bool {
    let Some(name) = word.strip_prefix('-') else {
        return false;
    };
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
}

/// A word in single quotes. PowerShell takes the typographic ones for the same, so they are doubled as well.
fn quote(word: &str, text: &mut String) {
    text.push('\'');
    for c in word.chars() {
        if matches!(c, '\'' | '\u{2018}'..='\u{201b}') {
            text.push(c);
        }
        text.push(c);
    }
    text.push('\'');
}
