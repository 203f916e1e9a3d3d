//! Writing values as TOML, on one line and with nothing that could be read as something else.

use std::fmt::Write as _;

/// A basic string: quotes, backslashes and everything that cannot be seen are escaped.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len().saturating_add(2));
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            ' '..='~' => out.push(c),
            c if c.is_alphanumeric() => out.push(c),
            c if u32::from(c) <= 0xFFFF => drop(write!(out, "\\u{:04X}", u32::from(c))),
            c => drop(write!(out, "\\U{:08X}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

/// A list of strings on one line.
pub(crate) fn list<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(|item| string(item.as_ref())).collect();
    format!("[{}]", items.join(", "))
}

/// A comment of one line.
pub(crate) fn comment(text: &str) -> String {
    let shown: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    format!("# {}", shown.trim_end())
}

/// A `[[rule]]` with one token per position, after an empty line.
pub(crate) fn rule<T: AsRef<str>>(
    out: &mut String,
    id: &str,
    prefix: &[T],
    decision: &str,
    why: Option<&str>,
) {
    let _ = write!(
        out,
        "\n[[rule]]\nid = {}\nprefix = {}\ndecision = {}\n",
        string(id),
        list(prefix),
        string(decision)
    );
    if let Some(why) = why {
        let _ = writeln!(out, "why = {}", string(why));
    }
}

/// Words as a shell would read them again, or `None` where only an expansion could write them.
pub(crate) fn shell_words<T: AsRef<str>>(words: &[T]) -> Option<String> {
    let quoted: Option<Vec<String>> = words.iter().map(|word| shell_word(word.as_ref())).collect();
    quoted.map(|words| words.join(" "))
}

fn shell_word(word: &str) -> Option<String> {
    let safe = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+,=".contains(c);
    if !word.is_empty() && word.chars().all(safe) && !word.starts_with('=') {
        return Some(word.to_owned());
    }
    if !word.chars().all(|c| (' '..='~').contains(&c)) {
        return None;
    }
    if !word.contains('\'') {
        return Some(format!("'{word}'"));
    }
    let plain = !word.contains(['"', '$', '`', '\\', '!']);
    plain.then(|| format!("\"{word}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_read_back() {
        for text in [
            "",
            "a\"b",
            "a\\b",
            "tab\there",
            "new\nline",
            "\u{0}\u{7f}\u{202e}",
            "é",
            "\u{1F600}",
        ] {
            let document = format!("a = {}", string(text));
            let table: toml::Table = document.parse().unwrap();
            assert_eq!(table["a"].as_str(), Some(text), "{document}");
            assert!(!string(text).contains('\u{202e}'));
        }
    }

    #[test]
    fn words_are_quoted_only_where_needed() {
        for (words, expected) in [
            (
                &["git", "log", "--format=%h"][..],
                Some("git log --format=%h"),
            ),
            (&["echo", "a b"], Some("echo 'a b'")),
            (&["echo", "it's"], Some("echo \"it's\"")),
            (&["echo", "it's $x"], None),
            (&["echo", ""], Some("echo ''")),
            (&["echo", "a\nb"], None),
            (&["=ls"], Some("'=ls'")),
        ] {
            assert_eq!(shell_words(words).as_deref(), expected, "{words:?}");
        }
    }
}
