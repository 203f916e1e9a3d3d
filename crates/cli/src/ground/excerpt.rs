//! What is wrong with a policy file, with the line that is meant.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use palisade::runner::config::ConfigError;
use palisade::runner::exec_policy::RulesError;
use palisade::runner::exec_policy::language::{MAX_BYTES, Origin, PolicyErrors, PolicyFileError};

use super::layer;
use crate::complaint::Complaint;

/// As many as fit on a screen, with their lines.
const SHOWN: usize = 6;
/// As much of a line as is shown.
const WIDTH: usize = 100;

/// A configuration that cannot be used.
pub(crate) fn of_config(error: &ConfigError) -> Complaint {
    let complaint = of_file(error);
    if let ConfigError::Rules(RulesError::Load(errors)) | ConfigError::Policy(errors) = error
        && errors.iter().all(|error| flag(error).is_some())
    {
        // No file is wrong.
        return complaint;
    }
    complaint.help(match error {
        ConfigError::Rules(RulesError::Examples(_)) => {
            "nothing runs until every example holds; `palisade policy test` says which do not"
        }
        _ => {
            "nothing runs until this is mended; `palisade policy lint FILE` looks at one file alone"
        }
    })
}

/// A file that cannot be used, in force or not.
pub(crate) fn of_file(error: &ConfigError) -> Complaint {
    match error {
        ConfigError::Rules(RulesError::Load(errors)) | ConfigError::Policy(errors) => {
            of_errors(errors)
        }
        // What they say takes more than a line.
        ConfigError::Rules(RulesError::Examples(_)) => Complaint::usage(error),
        // It names a file, whose name begins no line.
        other => Complaint::usage(other.to_string().replace('\n', "\\n")),
    }
}

/// Everything that is wrong with policy files.
pub(crate) fn of_errors(errors: &PolicyErrors) -> Complaint {
    let mut text = String::new();
    for error in errors.iter().take(SHOWN) {
        // Writing to a string cannot fail.
        let _ = match flag(error) {
            Some(flag) => writeln!(text, "{flag}: {}", of_flag(error)),
            None => writeln!(text, "{}", of_place(error)),
        };
        text.push_str(&excerpt(error.origin()).unwrap_or_default());
    }
    let more = errors.count().saturating_sub(SHOWN);
    if more > 0 {
        let _ = writeln!(text, "and {more} more");
    }
    Complaint::usage(text)
}

fn flag(error: &PolicyFileError) -> Option<&'static str> {
    layer::flag(error.origin(), error.key())
}

/// What is wrong with a flag, without the place in the layer that it became.
fn of_flag(error: &PolicyFileError) -> String {
    let text = error.to_string();
    let key = format!("`{}`: ", error.key());
    text.split_once(&key)
        .map_or(text.clone(), |(_, what)| what.to_owned())
}

/// What is wrong with a file, whatever the file is called.
fn of_place(error: &PolicyFileError) -> String {
    let source = &error.origin().source;
    let name = crate::say::shown(source);
    error.to_string().replace(source, &name)
}

/// The line that is meant, with a mark below the column; `None` if it is in no file that can be read now.
fn excerpt(origin: &Origin) -> Option<String> {
    let path = Path::new(&origin.source);
    if !path.is_absolute() || !path.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
    let file = std::fs::File::open(path).ok()?;
    file.take(limit).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().nth(origin.line.checked_sub(1)?)?;
    Some(marked(line, origin.line, origin.column))
}

/// A line with its number and a mark below a column, counted in characters from 1.
fn marked(line: &str, number: usize, column: usize) -> String {
    let before = column.saturating_sub(1);
    // A long line is shown from a little before the column.
    let skip = before.saturating_sub(WIDTH / 2);
    let skip = if line.chars().count() > WIDTH {
        skip
    } else {
        0
    };
    let shown: Vec<String> = line.chars().skip(skip).take(WIDTH).map(visible).collect();
    let indent: usize = shown
        .iter()
        .take(before.saturating_sub(skip))
        .map(|part| part.chars().count())
        .sum();
    let cut = if skip > 0 { "..." } else { "" };
    let indent = indent.saturating_add(cut.len());
    format!(
        "{number:>6} | {cut}{}\n       | {}^\n",
        shown.concat(),
        " ".repeat(indent)
    )
}

/// A character of somebody's file, without those that change how the rest is displayed.
fn visible(character: char) -> String {
    match character {
        '\t' => "    ".to_owned(),
        '"' | '\'' | '\\' => character.to_string(),
        other => other.escape_debug().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_stands_below_the_column() {
        assert_eq!(
            marked("\tprefix = 5", 3, 11),
            "     3 |     prefix = 5\n       |              ^\n"
        );
    }

    #[test]
    fn a_long_line_is_cut_and_hidden_characters_are_seen() {
        let line = format!("{}\u{202e}x", "a".repeat(300));
        let text = marked(&line, 1, 301);
        assert!(text.contains("...") && text.contains("\\u{202e}"), "{text}");
        let mut lines = text.lines();
        let at = lines.next().and_then(|line| line.find('\\'));
        assert_eq!(at, lines.next().and_then(|line| line.find('^')));
    }
}
