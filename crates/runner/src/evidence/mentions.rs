//! The paths that a line names.

use std::ffi::OsString;
use std::ops::Range;

use super::intent::Intent;
use super::locate::Located;
use super::rerun::hidden;

/// How many paths of a line are considered.
const MOST: usize = 6;

/// Something in a line that can be a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mention {
    pub(super) text: String,
    /// Whether the line itself says where it begins and ends.
    quoted: bool,
    /// Whether it stands where a shell puts the path of a redirection, so that it is one whatever it looks like.
    redirected: bool,
    /// Whether it is the first word of the line, where programs put their own name.
    leads: bool,
}

impl Mention {
    /// Whether it is likely a path at all, now that it is known what is there.
    pub(super) fn is_plausible(&self, at: &Located, intent: Intent) -> bool {
        let shaped = self.text.starts_with('/') || self.text.contains('/');
        if self.leads && at.is_program {
            return false;
        }
        match (shaped, self.quoted) {
            _ if self.redirected => true,
            (true, _) => true,
            // A bare word: any word could be one.
            (false, true) => at.exists || intent != Intent::Unknown,
            (false, false) => at.exists,
        }
    }
}

/// The paths that a line names, in its order; `refused` is where it says why.
pub(super) fn paths(line: &str, refused: &Range<usize>, argv: &[OsString]) -> Vec<Mention> {
    let (quoted, rest) = take_quoted(line);
    let mut found: Vec<Mention> = quoted
        .into_iter()
        .filter(|text| looks_usable(text))
        .map(|text| Mention {
            text,
            quoted: true,
            redirected: false,
            leads: false,
        })
        .collect();
    found.extend(redirection(&rest, refused));
    found.extend(unquoted(&rest, refused));
    // The program's own name, if it is followed by anything else that could be meant.
    let others = found.iter().any(|mention| !mention.leads);
    let itself = |mention: &Mention| {
        argv.first().and_then(|program| program.to_str()) == Some(mention.text.as_str())
    };
    found.retain(|mention| !(mention.leads && (others || itself(mention))));
    let mut once: Vec<Mention> = Vec::new();
    for mention in found {
        if !once.iter().any(|known| known.text == mention.text) {
            once.push(mention);
        }
    }
    once.truncate(MOST);
    once
}

/// The words of a command, also of a script in it, that are shaped like paths.
pub(super) fn of_command(argv: &[OsString]) -> Vec<String> {
    let mut words = words_of_command(argv);
    words.retain(|word| word.contains('/'));
    words
}

/// The words of a command, also of a script in it, that can be paths.
pub(super) fn words_of_command(argv: &[OsString]) -> Vec<String> {
    let text: Vec<std::borrow::Cow<'_, str>> =
        argv.iter().map(|word| word.to_string_lossy()).collect();
    text.join(" ")
        .split(|character: char| character.is_whitespace() || "\"'`;|&<>()=".contains(character))
        .filter(|word| looks_usable(word))
        .map(str::to_owned)
        .collect()
}

/// The line above that says what was attempted, where the last one only says why it failed.
pub(super) fn context(before: &[String]) -> Option<&String> {
    let says = [
        "failed to",
        "could not",
        "couldn't",
        "cannot",
        "can't",
        "unable to",
        "error",
    ];
    before
        .iter()
        .rev()
        .take(3)
        .filter(|line| {
            !line.trim_start().starts_with("File ") && !line.trim_start().starts_with("at ")
        })
        .find(|line| {
            let lower = line.to_lowercase();
            says.iter().any(|word| lower.contains(word)) && line.contains('/')
        })
}

const PAIRS: &[(char, char)] = &[
    ('\'', '\''),
    ('"', '"'),
    ('`', '`'),
    ('‘', '’'),
    ('“', '”'),
    ('«', '»'),
    // Old GNU programs.
    ('`', '\''),
];

/// What stands in quotes, and the line with that blanked out, position for position.
fn take_quoted(line: &str) -> (Vec<String>, String) {
    let mut quoted = Vec::new();
    let mut rest = String::with_capacity(line.len());
    let mut at = 0;
    let mut before = ' ';
    while let Some(character) = line.get(at..).and_then(|rest| rest.chars().next()) {
        let opens = !before.is_alphanumeric();
        let inside = line.get(at + character.len_utf8()..).unwrap_or_default();
        let end = PAIRS
            .iter()
            .filter(|(open, _)| opens && *open == character)
            .find_map(|(_, close)| {
                inside
                    .match_indices(*close)
                    .find(|(end, _)| ends_there(inside, end + close.len_utf8()))
                    .map(|(end, _)| (end, close.len_utf8()))
            });
        let length = match end {
            Some((end, close)) => {
                // French quotes have spaces inside.
                quoted.push(inside.get(..end).unwrap_or_default().trim().to_owned());
                let length = character.len_utf8() + end + close;
                rest.extend(std::iter::repeat_n(' ', length));
                length
            }
            None => {
                rest.push(character);
                character.len_utf8()
            }
        };
        before = character;
        at += length;
    }
    (quoted, rest)
}

/// Whether a closing quote before this position can be one: it is no apostrophe.
fn ends_there(text: &str, at: usize) -> bool {
    text.get(at..)
        .and_then(|rest| rest.chars().next())
        .is_none_or(|next| !next.is_alphanumeric())
}

/// The path of a redirection that a shell could not make: `sh: 1: cannot create x: …`, `bash: line 1: x: …`,
/// `zsh:1: …: x`.
fn redirection(line: &str, refused: &Range<usize>) -> Option<Mention> {
    let before = line.get(..refused.start)?;
    let path = match before.strip_suffix(": ") {
        Some(before) if !line.starts_with("zsh:") => {
            let (head, part) = before.rsplit_once(": ")?;
            let counted = head.rsplit_once(": line ").is_some_and(|(_, number)| {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            });
            let created = part
                .strip_prefix("cannot create ")
                .or(part.strip_prefix("can't create "));
            created.or_else(|| counted.then_some(part))?
        }
        _ if line.starts_with("zsh:") => line.get(refused.end..)?.strip_prefix(": ")?,
        _ => return None,
    };
    looks_usable(path).then(|| Mention {
        text: path.to_owned(),
        quoted: false,
        redirected: true,
        leads: false,
    })
}

/// Words and parts between colons that can be paths.
fn unquoted(line: &str, refused: &Range<usize>) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut push = |text: &str, leads: bool| {
        let text = trimmed(text);
        if looks_usable(text) {
            found.push(Mention {
                text: text.to_owned(),
                quoted: false,
                redirected: false,
                leads,
            });
        }
    };
    for (at, word) in words(line) {
        let word = trimmed(word);
        if ["/", "./", "../"]
            .iter()
            .any(|start| word.starts_with(start))
        {
            push(word, at == 0);
        }
    }
    // `cat: a file: Permission denied`, `zsh: permission denied: a file`, `/x (Permission denied)`.
    if refused.is_empty() {
        return found;
    }
    let before = line.get(..refused.start).unwrap_or_default();
    let after = line.get(refused.end..).unwrap_or_default();
    let parts: Vec<&str> = before.split(": ").collect();
    let first = parts.first().map(|part| part.trim().len());
    for (index, part) in parts.iter().enumerate() {
        let part = part.trim().trim_end_matches(['(', '[', ':']).trim();
        let leads = index == 0 && first == Some(part.len()) && !part.contains(' ');
        let near = index + 2 >= parts.len();
        if part.contains('/') && !part.contains(' ') {
            push(part, leads);
        } else if near && !leads {
            push(part, false);
            if let Some(last) = part.rsplit(' ').next() {
                push(last, false);
            }
        }
    }
    if let Some(rest) = after.strip_prefix(": ") {
        push(rest, false);
    }
    found
}

/// Words with where they begin.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    line.split(char::is_whitespace).map(move |word| {
        let start = at;
        at += word.len() + 1;
        (start, word)
    })
}

/// Without punctuation around it and a position (`:12:3`) behind it.
fn trimmed(text: &str) -> &str {
    let mut text = text
        .trim()
        .trim_start_matches(['(', '[', '{', '<', '"', '\'', '`', '=', ','])
        .trim_end_matches([')', ']', '}', '>', '"', '\'', '`', ',', ';', ':', '.']);
    while let Some((head, tail)) = text.rsplit_once(':') {
        if tail.is_empty() || !tail.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        text = head;
    }
    text
}

fn looks_usable(text: &str) -> bool {
    // What cannot be shown to a person as it is, is not offered to one.
    let odd = |character: char| hidden(character) || character == '\u{fffd}';
    !text.is_empty()
        && text.len() < 1024
        && !text.contains("://")
        && !text.chars().any(odd)
        && text.split(' ').count() <= 8
}

#[cfg(test)]
mod tests {
    use super::super::refusal;
    use super::*;

    fn found(line: &str) -> Vec<String> {
        let refused = refusal::find(line).unwrap();
        paths(line, &refused.range, &[OsString::from("sh")])
            .into_iter()
            .map(|mention| mention.text)
            .collect()
    }

    #[test]
    fn paths_are_found_where_programs_put_them() {
        for (line, expected) in [
            (
                "touch: cannot touch '/etc/x': Read-only file system",
                "/etc/x",
            ),
            (
                "touch: cannot touch ‘/etc/x’: Read-only file system",
                "/etc/x",
            ),
            ("bash: line 1: /etc/x: Permission denied", "/etc/x"),
            (
                "/bin/sh: 1: cannot create /etc/x: Read-only file system",
                "/etc/x",
            ),
            ("zsh:1: permission denied: /etc/x", "/etc/x"),
            (
                "java.io.FileNotFoundException: /etc/x (Permission denied)",
                "/etc/x",
            ),
            ("tar: a/b: Cannot open: Permission denied", "a/b"),
            (
                "Error: EACCES: permission denied, open '/etc/a b'",
                "/etc/a b",
            ),
            (
                "PermissionError: [Errno 13] Permission denied: '/etc/x'",
                "/etc/x",
            ),
            ("open /etc/x: permission denied", "/etc/x"),
        ] {
            assert!(
                found(line).contains(&expected.to_owned()),
                "{line}: {:?}",
                found(line)
            );
            assert!(!found(line).contains(&"/bin/sh".to_owned()));
        }
    }

    proptest::proptest! {
        #[test]
        fn no_line_is_too_odd(line in "[ -~‘’«»é日]{0,60}", start in 0usize..70, length in 0usize..70) {
            let _ = paths(&line, &(start..start + length), &[]);
            let (_, rest) = take_quoted(&line);
            proptest::prop_assert_eq!(rest.len(), line.len());
        }
    }
}
