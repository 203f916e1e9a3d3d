//! A policy as a page: what is in force, what was found, and what it says about commands.

use std::fmt::Write as _;

use super::explain::layer;
use super::lint::{LintReport, lint};
use super::matrix::{Matrix, cell, cell_code, matrix};
use super::test::{TestReport, test};
use super::words;
use super::workbench::Workbench;
use crate::language::LoadedPolicy;
use crate::matching::CommandFacts;

/// Everything that a page shows.
#[derive(Clone, Debug)]
pub struct Page<'p> {
    policy: &'p LoadedPolicy,
    lint: LintReport,
    test: TestReport,
    matrix: Matrix,
}

/// Gathers what a page shows: settings, rules, findings, tests, and the verdicts of these commands.
#[must_use]
pub fn report<'p, T: AsRef<str>>(
    bench: &Workbench<'p>,
    commands: &[T],
    facts: &CommandFacts<'_>,
) -> Page<'p> {
    Page {
        policy: bench.policy(),
        lint: lint(bench),
        test: test(bench, &[], facts),
        matrix: matrix(bench, commands, facts),
    }
}

impl Page<'_> {
    /// The page in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut out = String::from("# Policy\n");
        for (title, table) in self.tables() {
            let _ = write!(out, "\n## {title}\n\n");
            if table.rows.is_empty() {
                out.push_str("None.\n");
                continue;
            }
            let _ = writeln!(out, "| {} |", table.head.join(" | "));
            let _ = writeln!(out, "|{}", "---|".repeat(table.head.len()));
            for row in &table.rows {
                let cells: Vec<String> = row.iter().map(Cell::markdown).collect();
                let _ = writeln!(out, "| {} |", cells.join(" | "));
            }
        }
        out
    }

    /// The page as one HTML file that loads nothing.
    #[must_use]
    pub fn html(&self) -> String {
        let mut out = String::from(HEAD);
        for (title, table) in self.tables() {
            let _ = writeln!(out, "<h2>{}</h2>", escaped(title));
            if table.rows.is_empty() {
                out.push_str("<p>None.</p>\n");
                continue;
            }
            out.push_str("<table>\n<tr>");
            for name in table.head {
                let _ = write!(out, "<th>{}</th>", escaped(name));
            }
            out.push_str("</tr>\n");
            for row in &table.rows {
                out.push_str("<tr>");
                for cell in row {
                    let _ = write!(out, "<td>{}</td>", cell.html());
                }
                out.push_str("</tr>\n");
            }
            out.push_str("</table>\n");
        }
        out.push_str("</body>\n</html>\n");
        out
    }

    fn tables(&self) -> Vec<(&'static str, Table)> {
        vec![
            ("Settings", self.settings()),
            ("Rules", self.rules()),
            ("Findings", self.findings()),
            ("Tests", self.tests()),
            ("Verdicts", self.verdicts()),
        ]
    }

    fn settings(&self) -> Table {
        let settings = self.policy.settings();
        let mut table = Table::new(&["setting", "value"]);
        let mut row = |name: &str, value: String| {
            table
                .rows
                .push(vec![Cell::Text(name.to_owned()), Cell::Text(value)]);
        };
        let paths = |list: &[crate::language::Setting<palisade_policy::PathSpec>]| {
            let list: Vec<String> = list
                .iter()
                .map(|setting| setting.value.to_string())
                .collect();
            list.join(", ")
        };
        row("preset", settings.preset.value.name().to_owned());
        row("writable", settings.write.value.join(", "));
        row("neither read nor written", paths(&settings.deny));
        row("read, not written", paths(&settings.read_only));
        row("git", words::git_name(settings.git.value).to_owned());
        row("network", settings.network.value.to_string());
        row("asks", self.policy.approval().name().to_owned());
        for notice in self.policy.notices() {
            row("notice", notice.to_string());
        }
        table
    }

    fn rules(&self) -> Table {
        let mut table = Table::new(&["layer", "rule", "prefix", "decision", "why", "place"]);
        for owner in super::settings_diff::LAYERS {
            for rule in self
                .policy
                .rules()
                .iter()
                .filter(|rule| rule.origin.layer == owner)
            {
                table.rows.push(vec![
                    Cell::Text(layer(owner).to_owned()),
                    Cell::Code(rule.id.clone()),
                    Cell::Code(words::prefix(&rule.prefix)),
                    Cell::Text(words::decision(rule.decision).to_owned()),
                    Cell::Text(rule.why.clone().unwrap_or_default()),
                    Cell::Text(rule.origin.to_string()),
                ]);
            }
        }
        table
    }

    fn findings(&self) -> Table {
        let mut table = Table::new(&["severity", "finding", "rule", "place", "what", "advice"]);
        for finding in &self.lint.findings {
            table.rows.push(vec![
                Cell::Text(finding.lint.severity().name().to_owned()),
                Cell::Text(finding.lint.name().to_owned()),
                Cell::Code(finding.rule.clone()),
                Cell::Text(finding.origin.to_string()),
                Cell::Text(finding.message.clone()),
                Cell::Text(finding.suggestion.clone()),
            ]);
        }
        table
    }

    fn tests(&self) -> Table {
        let mut table = Table::new(&["what", "result"]);
        let mut row = |what: &str, result: String| {
            table
                .rows
                .push(vec![Cell::Text(what.to_owned()), Cell::Text(result)]);
        };
        row("checked", self.test.checked.to_string());
        row("coverage", format!("{}%", self.test.coverage.percent()));
        for failure in &self.test.failures {
            row("failed", failure.to_string());
        }
        for (id, origin) in &self.test.coverage.uncovered {
            row("not exercised", format!("{id} ({origin})"));
        }
        table
    }

    fn verdicts(&self) -> Table {
        let mut table = Table::new(&["command", "verdict", "because"]);
        for row in &self.matrix.rows {
            table.rows.push(vec![
                Cell::Code(row.command.clone()),
                Cell::Text(words::decision(row.says).to_owned()),
                Cell::Text(row.because.clone()),
            ]);
        }
        table
    }
}

struct Table {
    head: &'static [&'static str],
    rows: Vec<Vec<Cell>>,
}

impl Table {
    fn new(head: &'static [&'static str]) -> Self {
        Self {
            head,
            rows: Vec::new(),
        }
    }
}

enum Cell {
    Text(String),
    Code(String),
}

impl Cell {
    fn markdown(&self) -> String {
        match self {
            Self::Text(text) => cell(text),
            Self::Code(text) => cell_code(text),
        }
    }

    fn html(&self) -> String {
        match self {
            Self::Text(text) => escaped(&words::shown(text)),
            Self::Code(text) => format!("<code>{}</code>", escaped(&words::shown(text))),
        }
    }
}

/// Text that means itself in HTML, also inside an attribute.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
<title>Policy</title>\n<style>\nbody { font-family: sans-serif; margin: 2rem; }\n\
table { border-collapse: collapse; }\ntd, th { border: 1px solid #bbb; padding: 0.2rem 0.5rem; text-align: left; }\n\
</style>\n</head>\n<body>\n<h1>Policy</h1>\n";
