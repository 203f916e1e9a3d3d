//! The page under `docs/evidence/`.

use std::fmt::Write as _;

use super::table::{Column, Table, Verdict, per_cent};

const TOP: &str = "# Useful commands

Everyday commands that must do inside what they do outside. Each runs twice from the same start: bare, and in a sandbox that
may write the project and has no network. Exit code, standard output, and the files that are left with their contents and
modes must be the same; of a repository, what git says about it. Questions of the rules are answered with a yes, so that
this is what the *sandbox* breaks; `cargo xtask friction` counts the questions. The commands are data:
`crates/conformance/src/useful/commands`.
";

/// The page.
pub(super) fn markdown(all: &[Table], command: &str) -> String {
    let mut text = TOP.to_owned();
    if let Some(first) = all.first() {
        let host = &first.host;
        let _ = write!(
            text,
            "\nWritten by `{command}` on {}, Linux {}, {} processors.\n",
            host.date, host.kernel, host.processors
        );
    }
    text.push_str("\n| subject | tier | as | work | of | rate | not promised | absent | a person is asked |\n|---|---|---|---|---|---|---|---|---|\n");
    let columns = || {
        all.iter()
            .flat_map(|table| table.columns.iter().map(move |column| (table, column)))
    };
    for (table, column) in columns() {
        if column.absent {
            let _ = writeln!(
                text,
                "| {} | | {} | absent | | | | | |",
                column.subject, table.host.user
            );
            continue;
        }
        let (works, should) = column.rate();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {works} | {should} | {} | {} | {} | {} |",
            column.subject,
            column.tier,
            table.host.user,
            per_cent(works, should),
            column.count(|verdict| matches!(verdict, Verdict::NotPromised(_))),
            column.count(|verdict| matches!(verdict, Verdict::Absent(_))),
            match column.asks {
                true => column
                    .rows
                    .iter()
                    .filter(|row| row.asked)
                    .count()
                    .to_string(),
                false => String::new(),
            }
        );
    }
    text.push_str("\n## What does not work\n\n");
    text.push_str("Each of these counts against the rate. What is known is a limit that was chosen, with its reason.\n\n");
    let mut broken = String::new();
    for (table, column) in columns() {
        for row in &column.rows {
            let why = match &row.verdict {
                Verdict::Broken(details) => details.first().cloned().unwrap_or_default(),
                Verdict::Known(reason) => format!("known: {reason}"),
                Verdict::WorksAfterAll(reason) => {
                    format!("works, though it was said not to: {reason}")
                }
                Verdict::NoControl(why) => format!("shows nothing: {why}"),
                _ => continue,
            };
            let _ = writeln!(
                broken,
                "| `{}` | {} | {} |",
                row.name,
                place(table, column),
                cell(&why)
            );
        }
    }
    text.push_str(&match broken.is_empty() {
        true => "Nothing.\n".to_owned(),
        false => format!("| command | where | why |\n|---|---|---|\n{broken}"),
    });
    text.push_str("\n## Not promised\n\n| command | where | why |\n|---|---|---|\n");
    for (table, column) in columns() {
        for row in &column.rows {
            if let Verdict::NotPromised(reason) = &row.verdict {
                let _ = writeln!(
                    text,
                    "| `{}` | {} | {} |",
                    row.name,
                    place(table, column),
                    cell(reason)
                );
            }
        }
    }
    text.push_str("\n## The commands\n\n| ecosystem | commands |\n|---|---|\n");
    if let Some(table) = all.first() {
        for (ecosystem, names) in table.ecosystems() {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let _ = writeln!(
                text,
                "| {ecosystem} ({}) | {} |",
                names.len(),
                names.join(", ")
            );
        }
    }
    text
}

fn place(table: &Table, column: &Column) -> String {
    format!("{}, {}, {}", column.subject, column.tier, table.host.user)
}

/// What may stand in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
