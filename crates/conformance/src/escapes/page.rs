//! The page and the file under `docs/evidence/`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::Result;
use serde_json::json;

use super::found::{Cell, Column, Found, Seen};
use super::text::{residues, tally};

const TOP: &str = "# What gets out

<!-- Written by `cargo xtask escapes --write`. -->

Every probe in every sandbox that could be started on one machine, ours and others, each in a process of its own on a
throw-away stage that was looked at from outside. [The probes](../probes.md) says what each does and what is expected;
[decision 8](../decisions/0008-evidence.md) how this is measured. The same as data: [escapes.json](escapes.json).

For ours a deviation from what is promised fails CI. A column after a comma is a host that was made weaker: `landlock` has no
namespaces, an ABI is an older Landlock. Nothing is expected of a peer: its column is what was seen with its documented
command line for *workspace write, no network* ([peers.rs](../../crates/conformance/src/subject/peers.rs)), and other options
may do better. Probes of resources get through peers because those command lines set no limits.
";

/// The page.
pub(super) fn markdown(all: &[Found], command: &str) -> String {
    let mut text = TOP.to_owned();
    for found in all {
        let host = &found.host;
        let counts = found.counts();
        let _ = write!(
            text,
            "\n- As {}, on {}: Linux {}, {} processors. {} attempts in our subjects, {} of them seen to get through without a \
             sandbox; {} launches that must be refused were refused; **{} deviations**.",
            host.user,
            host.date,
            host.kernel,
            host.processors,
            counts.attempts,
            counts.proven,
            found.refused,
            found.deviations().len()
        );
    }
    let _ = write!(text, "\n- The command: `{command}`.\n");
    for found in all {
        let _ = write!(text, "\n## As {}\n\n{}", found.host.user, summary(found));
        for deviation in found.deviations() {
            let _ = writeln!(text, "\n**Deviation**: {}", cell_text(&deviation));
        }
    }
    let _ = write!(text, "\n## Known to get through ours\n\n{}", known(all));
    let _ = write!(text, "\n## Probe by probe\n\n{LEGEND}\n{}", grid(all));
    text
}

fn summary(found: &Found) -> String {
    let mut text = "| subject | version | contained | known to get through | got through | useful acts work | broken | nothing to try |\n\
                    |---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for (index, column) in found.columns.iter().enumerate() {
        let version = column.version.as_deref().unwrap_or_default();
        let name = &column.name;
        if let Some(why) = &column.empty {
            let why = cell_text(why);
            let _ = writeln!(text, "| {name} | {version} | {why} | | | | | |");
            continue;
        }
        let tally = tally(found, index);
        let _ = writeln!(
            text,
            "| {name} | {version} | {} | {} | {} | {} | {} | {} |",
            tally.contained, tally.known, tally.escaped, tally.works, tally.broken, tally.nothing
        );
    }
    text
}

fn known(all: &[Found]) -> String {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    for (title, columns) in all.iter().flat_map(residues) {
        match lines.iter_mut().find(|(known, _)| *known == title) {
            Some((_, known)) => {
                for column in columns {
                    if !known.contains(&column) {
                        known.push(column);
                    }
                }
            }
            None => lines.push((title, columns)),
        }
    }
    let ours = all.iter().flat_map(|found| &found.columns);
    let ours: BTreeSet<&str> = ours
        .filter(|column| column.ours)
        .map(|column| column.name.as_str())
        .collect();
    let lines = lines.iter().map(|(title, columns)| {
        let where_seen = if columns.len() == ours.len() {
            "everywhere".to_owned()
        } else {
            columns.join("; ")
        };
        format!("- {}. *{where_seen}*\n", cell_text(title))
    });
    lines.collect()
}

const LEGEND: &str = "\
`.` contained, `K` gets through as it is known to, `E` got through, `+` a useful act works, `x` broken: it could not be
tried, or a useful act failed, `-` nothing to try on this host. Where root and the ordinary user differ, the first is
root's.
";

/// One row for each probe, one column for each subject and host.
fn grid(all: &[Found]) -> String {
    let Some(first) = all.first() else {
        return String::new();
    };
    let mut text = "```text\n".to_owned();
    for (index, column) in first.columns.iter().enumerate() {
        let _ = writeln!(text, "{:30}{}{}", "", "|  ".repeat(index), column.name);
    }
    for row in &first.rows {
        let _ = write!(text, "{:<30}", row.probe);
        for column in &first.columns {
            let marks = all
                .iter()
                .map(|found| mark(cell(found, &row.probe, column)));
            let mut marks: Vec<char> = marks.collect();
            marks.dedup();
            let marks: String = marks.into_iter().collect();
            let _ = write!(text, "{marks:<3}");
        }
        while text.ends_with(' ') {
            text.pop();
        }
        text.push('\n');
    }
    text.push_str("```\n");
    text
}

fn cell<'a>(found: &'a Found, probe: &str, column: &Column) -> Option<&'a Cell> {
    let row = found.rows.iter().find(|row| row.probe == probe)?;
    let mut columns = found.columns.iter();
    let index = columns.position(|known| known.name == column.name)?;
    row.cells.get(index)?.as_ref()
}

fn mark(cell: Option<&Cell>) -> char {
    match cell.map(|cell| (cell.seen, &cell.known)) {
        None => ' ',
        Some((Seen::Nothing, _)) => '-',
        Some((Seen::Works, _)) => '+',
        Some((Seen::Contained, _)) => '.',
        Some((Seen::Escaped | Seen::Broken, Some(_))) => 'K',
        Some((Seen::Broken, None)) => 'x',
        Some((Seen::Escaped, None)) => 'E',
    }
}

fn cell_text(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// The same as data, a line for each probe.
pub(super) fn json(all: &[Found], command: &str) -> Result<String> {
    let mut text = format!("{{\"command\":{},\"users\":[\n", json!(command));
    for (index, found) in all.iter().enumerate() {
        let counts = found.counts();
        let head = json!({
            "host": found.host,
            "attempts": counts.attempts,
            "attempts_with_escaping_control": counts.proven,
            "refused_as_they_must": found.refused,
            "deviations": found.deviations(),
            "columns": found.columns,
        });
        let head = serde_json::to_string(&head)?;
        let _ = writeln!(
            text,
            "{},\"rows\":[",
            head.strip_suffix('}').unwrap_or(&head)
        );
        let rows = found.rows.iter().map(|row| {
            let cells = found.columns.iter().zip(&row.cells);
            let cells = cells
                .filter_map(|(column, cell)| Some((column.name.clone(), shortest(cell.as_ref()?))));
            let cells: serde_json::Map<_, _> = cells.collect();
            json!({"probe": row.probe, "class": row.class, "useful": row.useful, "cells": cells})
                .to_string()
        });
        text.push_str(&rows.collect::<Vec<_>>().join(",\n"));
        text.push_str(if index + 1 < all.len() {
            "\n]},\n"
        } else {
            "\n]}\n"
        });
    }
    text.push_str("]}\n");
    Ok(text)
}

/// What was seen; with why, where that is not plain.
fn shortest(cell: &Cell) -> serde_json::Value {
    let seen = json!(cell.seen);
    match (&cell.known, &cell.said) {
        (Some(why), _) => json!({"seen": seen, "known": why}),
        (None, Some(said)) if cell.seen == Seen::Broken => json!({"seen": seen, "said": said}),
        _ => seen,
    }
}

#[cfg(test)]
mod tests {
    use super::super::found::tests::example;
    use super::*;

    #[test]
    fn the_page_shows_every_kind_of_outcome() {
        let mut user = example();
        user.rows[0].cells[1] = super::super::found::tests::cell(Seen::Contained);
        let page = markdown(&[example(), user], "cargo xtask escapes --write");
        for line in [
            "fs-create                     E  E.",
            "fs-hardlink                   E  K",
            "fs-mknod                      .  .",
            "use-shell                     +  +",
            "| zerobox |  | absent | | | | | |",
            "- fs-hardlink: a file has no path. *everywhere*",
            "**Deviation**: library, full: fs-create (Write): it wrote",
            "- The command: `cargo xtask escapes --write`.",
        ] {
            assert!(page.lines().any(|one| one == line), "{line}\n{page}");
        }
    }

    #[test]
    fn the_file_has_the_same() {
        let text = json(&[example()], "cargo xtask escapes").unwrap();
        let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
        let user = &whole["users"][0];
        assert_eq!(user["attempts"], 3);
        assert_eq!(user["attempts_with_escaping_control"], 2);
        assert_eq!(user["rows"][0]["cells"]["library, full"], "escaped");
        assert_eq!(user["rows"][0]["cells"]["zerobox"], serde_json::Value::Null);
        let known = &user["rows"][1]["cells"]["library, full"];
        assert_eq!(known["known"], "a file has no path");
        let two = json(&[example(), example()], "x").unwrap();
        assert!(
            serde_json::from_str::<serde_json::Value>(&two).is_ok(),
            "{two}"
        );
    }
}
