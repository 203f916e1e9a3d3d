//! The verdict of many commands, as a table.

use std::fmt;

use super::words;
use super::workbench::Workbench;
use crate::decision::{DefaultEntry, RuleDecision, VerdictSource};
use crate::matching::CommandFacts;

/// The verdict of many commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matrix {
    /// One row for each command, in order.
    pub rows: Vec<MatrixRow>,
}

/// The verdict of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatrixRow {
    /// The command.
    pub command: String,
    /// What the rules say.
    pub says: RuleDecision,
    /// What says so: the rule with its place, or why none does.
    pub because: String,
}

/// Asks a policy about every command of a list.
#[must_use]
pub fn matrix<T: AsRef<str>>(
    bench: &Workbench<'_>,
    commands: &[T],
    facts: &CommandFacts<'_>,
) -> Matrix {
    let rows = commands
        .iter()
        .map(|command| row(bench, command.as_ref(), facts))
        .collect();
    Matrix { rows }
}

fn row(bench: &Workbench<'_>, command: &str, facts: &CommandFacts<'_>) -> MatrixRow {
    let evaluation = bench.evaluate(command, facts);
    let says = evaluation.rule_decision();
    let held_back = evaluation
        .segments()
        .iter()
        .filter(|segment| segment.verdict().rule_decision() == says)
        .find_map(|segment| segment.held_back());
    let because = match (evaluation.source(), held_back) {
        (VerdictSource::Rule(rule), None) => {
            let place = evaluation
                .segments()
                .iter()
                .flat_map(|segment| segment.matches())
                .find(|found| found.rule.id() == rule.id)
                .map(|found| format!(" ({})", found.rule.origin()));
            format!("`{}`{}", rule.id, place.unwrap_or_default())
        }
        (_, Some(why)) => why.to_string(),
        (VerdictSource::Default(DefaultEntry::Unmatched), None) => "no rule".to_owned(),
        (VerdictSource::Default(DefaultEntry::Opaque), None) => "cannot be read".to_owned(),
        (VerdictSource::Default(DefaultEntry::Danger), None) => "dangerous".to_owned(),
    };
    MatrixRow {
        command: command.to_owned(),
        says,
        because,
    }
}

impl Matrix {
    /// How many commands get this verdict.
    #[must_use]
    pub fn count(&self, decision: RuleDecision) -> usize {
        self.rows.iter().filter(|row| row.says == decision).count()
    }
}

/// A Markdown table.
impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| command | verdict | because |\n|---|---|---|")?;
        for row in &self.rows {
            writeln!(
                f,
                "| {} | {} | {} |",
                cell_code(&row.command),
                words::decision(row.says),
                cell(&row.because)
            )?;
        }
        Ok(())
    }
}

/// Text in a cell of a Markdown table.
pub(super) fn cell(text: &str) -> String {
    words::shown(text)
        .replace('|', "\\|")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Code in a cell: a fence longer than any run of backticks in it.
pub(super) fn cell_code(text: &str) -> String {
    let text = words::shown(text).replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.saturating_add(1));
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}
