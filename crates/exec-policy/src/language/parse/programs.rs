//! Reads what a file says about variables and programs.

use super::super::error::Problem;
use super::super::keys;
use super::super::model::{PolicyFile, ProgramPins};
use super::reader::{At, Reader, Value};
use super::settings::note;
use super::shapes;

pub(super) fn env(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>, file: &mut PolicyFile) {
    let Some(table) = reader.table(value, at) else {
        return;
    };
    for (key, value) in table {
        let Some(name) = reader.known(&keys::ENV, key, at) else {
            continue;
        };
        let at = at.key(name);
        note(reader, file, "env", name, key.span().start);
        match name {
            "keep" => {
                let keep = shapes::each(reader, value, &at, |reader, value, at| {
                    let text = reader.text(value, at)?;
                    variable(reader, text, value.span(), at).then(|| text.to_owned())
                });
                file.env.keep = Some(keep);
            }
            "prefix" => {
                for (variable_name, value) in reader.table(value, &at).into_iter().flatten() {
                    let written = variable_name.get_ref().as_ref();
                    let at = at.key(written);
                    let span = variable_name.span();
                    note(reader, file, "env.prefix", written, span.start);
                    let good = variable(reader, written, span, &at);
                    if let (true, Some(decision)) = (good, shapes::decision(reader, value, &at)) {
                        file.env.prefix.insert(written.to_owned(), decision);
                    }
                }
            }
            _ => reader.unread(value, &at),
        }
    }
}

/// Whether a text is the name of a variable, or the start of one and a star.
fn variable(
    reader: &mut Reader<'_>,
    text: &str,
    span: std::ops::Range<usize>,
    at: &At<'_>,
) -> bool {
    let name = text.strip_suffix('*').unwrap_or(text);
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let number = name.starts_with(|c: char| c.is_ascii_digit());
    let fine = !text.is_empty() && !number && name.chars().all(good);
    if !fine {
        let problem = Problem::NotA("the name of a variable, with a star at most at its end");
        reader.fail(span, at, problem);
    }
    fine
}

pub(super) fn programs(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    at: &At<'_>,
    file: &mut PolicyFile,
) {
    for (key, value) in reader.table(value, at).into_iter().flatten() {
        let program = key.get_ref().as_ref();
        let at = at.key(program);
        note(reader, file, "programs", program, key.span().start);
        if program.is_empty() || program.contains(['/', '\\', '\0']) {
            let problem = Problem::NotA("the bare name of a program");
            reader.fail(key.span(), &at, problem);
            continue;
        }
        let mut pins = ProgramPins::default();
        let Some(table) = reader.table(value, &at) else {
            continue;
        };
        for (key, value) in table {
            let Some(name) = reader.known(&keys::PROGRAM, key, &at) else {
                continue;
            };
            let at = at.key(name);
            match name {
                "paths" => pins.paths = pinned(reader, value, &at),
                _ => reader.unread(value, &at),
            }
        }
        if !table.contains_key("paths") {
            let problem = Problem::MissingKey("paths");
            reader.fail_table(key.span().start, &at, problem, None);
        }
        file.programs.insert(program.to_owned(), pins);
    }
}

fn pinned(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Vec<String> {
    shapes::each(reader, value, at, |reader, value, at| {
        let text = reader.word(value, at, "a path")?;
        let drive = matches!(text.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
        let up = text.split(['/', '\\']).any(|name| name == "..");
        if (text.starts_with('/') || drive) && !up && !text.ends_with('/') {
            return Some(text.to_owned());
        }
        let problem = Problem::NotA("the absolute path of a program, without `..`");
        reader.fail(value.span(), at, problem);
        None
    })
}

pub(super) fn options(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    at: &At<'_>,
    file: &mut PolicyFile,
) {
    for (key, value) in reader.table(value, at).into_iter().flatten() {
        let command = key.get_ref().as_ref();
        let at = at.key(command);
        note(reader, file, "options", command, key.span().start);
        let words: Vec<_> = command.split(' ').collect();
        let bad = |word: &&str| word.is_empty() || word.contains(char::is_whitespace);
        if words.iter().any(bad) {
            let problem = Problem::NotA("a program and its subcommands, with one blank between");
            reader.fail(key.span(), &at, problem);
            continue;
        }
        let table = shapes::option_table(reader, value, &at);
        file.options.insert(command.to_owned(), table);
    }
}
