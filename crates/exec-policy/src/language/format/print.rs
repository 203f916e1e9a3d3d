//! Writes the parts of a file down.

use super::scan::{Document, Entry, Name, Parts, Table, Value};

/// Lists that fit in this many columns stand on one line.
const WIDTH: usize = 100;

pub(super) fn document(document: &Document) -> String {
    let mut text = String::new();
    for paragraph in &document.head {
        lines(&mut text, paragraph, 0);
        text.push('\n');
    }
    for (index, table) in document.tables.iter().enumerate() {
        print_table(&mut text, table, index == 0);
    }
    text
}

fn print_table(text: &mut String, table: &Table, root: bool) {
    if !root {
        if !text.is_empty() && !text.ends_with("\n\n") {
            text.push('\n');
        }
        for (index, paragraph) in table.above.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            lines(text, paragraph, 0);
        }
        let (open, close) = if table.listed {
            ("[[", "]]")
        } else {
            ("[", "]")
        };
        text.push_str(open);
        text.push_str(&key(&table.path));
        text.push_str(close);
        behind(text, table.behind.as_ref());
    }
    for entry in &table.entries {
        print_entry(text, entry, 0);
        behind(text, entry.behind.as_ref());
    }
    lines(text, &table.below, 0);
}

fn lines(text: &mut String, comments: &[String], depth: usize) {
    for comment in comments {
        indent(text, depth);
        text.push_str(comment);
        text.push('\n');
    }
}

fn indent(text: &mut String, depth: usize) {
    text.push_str(&"    ".repeat(depth));
}

/// The comment behind something, and the end of the line.
fn behind(text: &mut String, comment: Option<&String>) {
    if let Some(comment) = comment {
        text.push(' ');
        text.push_str(comment);
    }
    text.push('\n');
}

fn key(names: &[Name]) -> String {
    let names: Vec<_> = names.iter().map(|name| name.written.as_str()).collect();
    names.join(".")
}

/// The comments above an entry, its key and its value, without the end of the line.
fn print_entry(text: &mut String, entry: &Entry, depth: usize) {
    lines(text, &entry.above, depth);
    indent(text, depth);
    let start = text.len();
    if !entry.key.is_empty() {
        text.push_str(&key(&entry.key));
        text.push_str(" = ");
    }
    let before = text.get(start..).map_or(0, |key| key.chars().count()) + depth * 4;
    match flat(&entry.value) {
        Some(flat) if before + flat.chars().count() <= WIDTH || small(&entry.value) => {
            text.push_str(&flat);
        }
        _ => tall(text, &entry.value, depth),
    }
}

/// Whether breaking a value over lines would gain nothing.
fn small(value: &Value) -> bool {
    match value {
        Value::Scalar(_) => true,
        Value::List(parts) | Value::Table(parts) => parts.entries.is_empty(),
    }
}

/// A value on one line; `None` if a comment or a long string needs more.
fn flat(value: &Value) -> Option<String> {
    let parts = |parts: &Parts, open: &str, close: &str| {
        let mut items = Vec::with_capacity(parts.entries.len());
        for entry in &parts.entries {
            if !entry.above.is_empty() || entry.behind.is_some() {
                return None;
            }
            let value = flat(&entry.value)?;
            items.push(match entry.key.is_empty() {
                true => value,
                false => format!("{} = {value}", key(&entry.key)),
            });
        }
        let plain = parts.below.is_empty();
        plain.then(|| format!("{open}{}{close}", items.join(", ")))
    };
    match value {
        Value::Scalar(text) => (!text.contains('\n')).then(|| text.clone()),
        Value::List(list) => parts(list, "[", "]"),
        Value::Table(table) if table.entries.is_empty() => parts(table, "{", "}"),
        Value::Table(table) => parts(table, "{ ", " }"),
    }
}

/// A value with each of its parts on a line of its own.
fn tall(text: &mut String, value: &Value, depth: usize) {
    let (parts, open, close) = match value {
        Value::Scalar(scalar) => {
            text.push_str(scalar);
            return;
        }
        Value::List(parts) => (parts, "[\n", "]"),
        Value::Table(parts) => (parts, "{\n", "}"),
    };
    text.push_str(open);
    for entry in &parts.entries {
        print_entry(text, entry, depth + 1);
        text.push(',');
        behind(text, entry.behind.as_ref());
    }
    lines(text, &parts.below, depth + 1);
    indent(text, depth);
    text.push_str(close);
}
