//! What came of it, for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::APPROVALS;
use crate::report::host::Host;

/// What becomes of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "there are no others")]
pub enum Becomes {
    /// It runs, in its sandbox.
    Runs,
    /// A person is asked first, because of this rule, if it is one.
    Asks(String),
    /// It does not run.
    Refused(String),
}

/// One command.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Row {
    /// The list that it is from.
    pub list: String,
    /// The command.
    pub command: String,
    /// What becomes of it under each way of asking.
    pub becomes: Vec<Becomes>,
}

/// All of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Found {
    /// Where and when.
    pub host: Host,
    /// The commands.
    pub rows: Vec<Row>,
}

/// Commands of a list, and for each way of asking how many ask and how many are refused.
type Counts = (usize, [(usize, usize); 2]);

impl Found {
    fn counts(&self) -> BTreeMap<&str, Counts> {
        let mut map: BTreeMap<&str, Counts> = BTreeMap::new();
        for row in &self.rows {
            let counts = map.entry(&row.list).or_default();
            counts.0 += 1;
            for (count, becomes) in counts.1.iter_mut().zip(&row.becomes) {
                count.0 += usize::from(matches!(becomes, Becomes::Asks(_)));
                count.1 += usize::from(matches!(becomes, Becomes::Refused(_)));
            }
        }
        map
    }

    /// For a terminal.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            if let Some(Becomes::Asks(rule) | Becomes::Refused(rule)) = row.becomes.first() {
                let _ = writeln!(
                    text,
                    "on-request, {rule}: {}",
                    row.command.replace('\n', "⏎")
                );
            }
        }
        for (list, (all, counts)) in self.counts() {
            let _ = write!(text, "{list}: {all} commands");
            for (approval, (asks, refused)) in APPROVALS.iter().zip(counts) {
                let _ = write!(
                    text,
                    "; {approval}: {} prompts per 100",
                    per_hundred(asks, all)
                );
                if refused > 0 {
                    let _ = write!(text, " and {refused} refused");
                }
            }
            text.push('\n');
        }
        text
    }
}

/// The page.
pub(super) fn page(all: &[Found], command: &str) -> String {
    let date = all.first().map_or("", |found| &found.host.date);
    let mut text = format!(
        "# Friction\n\nHow often a person is asked, with the built-in rules and nothing else: prompts per hundred commands, as `palisade check`\njudges them; nothing runs. The everyday sets are section A of the scored corpus in\n`crates/exec-policy/tests/matching`; the useful list is that of `cargo xtask useful`, whose lines are longer than\nwhat people type. Written by `{command}` on {date}.\n"
    );
    for found in all {
        text.push_str(&found.section());
    }
    text
}

impl Found {
    fn section(&self) -> String {
        let mut text = format!(
            "\n## As {}\n\n| commands | how many | on-request | unless-trusted |\n|---|---|---|---|\n",
            self.host.user
        );
        for (list, (all, counts)) in self.counts() {
            let _ = write!(text, "| {list} | {all} |");
            for (asks, refused) in counts {
                let _ = write!(text, " {}", per_hundred(asks, all));
                if refused > 0 {
                    let _ = write!(text, " and {refused} refused");
                }
                text.push_str(" |");
            }
            text.push('\n');
        }
        text.push_str("\nAsked about or refused under `on-request`:\n\n");
        for row in &self.rows {
            if let Some(Becomes::Asks(rule) | Becomes::Refused(rule)) = row.becomes.first() {
                let command = row.command.replace('\n', "⏎").replace('`', "'");
                let rule = match rule.is_empty() {
                    true => "it looks dangerous".to_owned(),
                    false => format!("rule `{rule}`"),
                };
                let _ = writeln!(text, "- `{command}`: {rule}");
            }
        }
        text
    }
}

fn per_hundred(part: usize, whole: usize) -> String {
    let tenths = (part * 1000 + whole / 2)
        .checked_div(whole)
        .unwrap_or_default();
    format!("{}.{}", tenths / 10, tenths % 10)
}
