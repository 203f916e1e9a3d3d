//! Text that others chose, on a terminal: the name of a file can hold whatever moves a cursor or renames a window.

use std::fmt::Write as _;
use std::path::Path;

use palisade::runner::approve::visible;

use super::COLOURS;

/// A path in a line of text: whatever is in its name, it stays one line and hides nothing.
pub(crate) fn shown(path: impl AsRef<Path>) -> String {
    visible(&path.as_ref().to_string_lossy())
}

/// A page of ours without anything that would change how the rest of it is displayed, but for its lines and our colours. It
/// is the last resort, for what nobody thought of when the page was written.
pub(super) fn safe(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    let mut rest = page;
    while let Some(character) = rest.chars().next() {
        let colour = COLOURS.iter().find(|code| rest.starts_with(**code));
        let taken = match colour {
            Some(code) => {
                text.push_str(code);
                code.len()
            }
            None => {
                match is_hidden(character) && !matches!(character, '\n' | '\t') {
                    true => text.push_str(&visible(character.encode_utf8(&mut [0; 4]))),
                    false => text.push(character),
                }
                character.len_utf8()
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    text
}

/// The same JSON, in which such characters are escaped: they stand in strings only.
pub(super) fn safe_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if is_hidden(character) && !matches!(character, '\n' | '\r' | '\t') {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(character);
        }
    }
    text
}

fn is_hidden(character: char) -> bool {
    character != '\\' && !visible(character.encode_utf8(&mut [0; 4])).starts_with(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_and_our_own_colours_pass() {
        let page = "\u{1b}[1;31merror\u{1b}[0m: C:\\x\n\tnext\u{1b}]0;x\u{7}\r\u{9b}2J\u{202e}\n";
        assert_eq!(
            safe(page),
            "\u{1b}[1;31merror\u{1b}[0m: C:\\x\n\tnext\\u{1b}]0;x\\u{7}\\u{d}\\u{9b}2J\\u{202e}\n"
        );
        assert_eq!(safe("\u{1b}[8mhidden"), "\\u{1b}[8mhidden");
    }

    #[test]
    fn json_says_the_same() {
        let text = "a\u{7f}\u{9b}\u{202e}\u{e0041}\\\"é\n";
        let json = serde_json::to_string_pretty(&[text]).unwrap();
        let safe = safe_json(&json);
        assert!(
            safe.chars()
                .all(|found| !found.is_control() || found == '\n')
        );
        assert!(!safe.contains('\u{202e}') && !safe.contains('\u{e0041}'));
        let back: Vec<String> = serde_json::from_str(&safe).unwrap();
        assert_eq!(back, [text]);
    }

    #[test]
    fn a_path_is_one_line() {
        assert_eq!(shown("/srv/a\nb\u{1b}"), "/srv/a\\u{a}b\\u{1b}");
    }
}
