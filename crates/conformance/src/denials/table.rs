//! What came of it, for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::list::Case;
use crate::report::host::Host;

/// How well a denial was explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are no others")]
pub enum Explained {
    /// The resource, the clause, and a line that works.
    Fully,
    /// The resource, the clause, and that nothing can be granted.
    Honestly,
    /// Something of that is missing.
    Not,
}

/// One act.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its class.
    pub class: String,
    /// What was run.
    pub script: String,
    /// Whether the message names the resource.
    pub resource: bool,
    /// Whether it names a clause.
    pub clause: bool,
    /// Whether the line that it offers works, or it says that there is none.
    pub line: bool,
    /// Whether nothing could help.
    pub honest: bool,
    /// Why the act cannot succeed here, though the line opens the way.
    pub still: Option<String>,
    /// Why nothing is expected to be said.
    #[serde(default)]
    pub unsaid: Option<String>,
    /// Whether a program is not here.
    pub absent: Option<String>,
    /// What went wrong.
    pub faults: Vec<String>,
    /// The first lines of standard error.
    #[serde(skip)]
    pub stderr: Vec<String>,
}

/// All of it, by one user.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Found {
    /// Where and when.
    pub host: Host,
    /// The acts.
    pub rows: Vec<Row>,
}

impl Row {
    pub(super) fn new(case: &Case) -> Self {
        Self {
            name: case.name.clone(),
            class: case.class.clone(),
            script: case.script.clone(),
            resource: false,
            clause: false,
            line: false,
            honest: false,
            still: case.still.clone(),
            unsaid: case.unsaid.clone(),
            absent: None,
            faults: Vec::new(),
            stderr: Vec::new(),
        }
    }
}

/// Counts of a class: fully, honestly, all.
type Counts = (usize, usize, usize);

impl Found {
    fn here(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.absent.is_none())
    }

    fn counts(&self) -> BTreeMap<&str, Counts> {
        let mut map: BTreeMap<&str, Counts> = BTreeMap::new();
        for row in self.here() {
            let counts = map.entry(&row.class).or_default();
            counts.0 += usize::from(row.explained() == Explained::Fully);
            counts.1 += usize::from(row.explained() == Explained::Honestly);
            counts.2 += 1;
        }
        map
    }

    fn total(&self) -> Counts {
        let all = self.counts().into_values();
        all.fold((0, 0, 0), |sum, one| {
            (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2)
        })
    }

    /// Whether nine of ten are explained, and there are enough of them.
    pub(super) fn is_good(&self) -> bool {
        let (fully, honestly, all) = self.total();
        all >= 50 && (fully + honestly) * 10 >= all * 9
    }

    /// For a terminal.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for row in self.rows.iter() {
            if let Some(program) = &row.absent {
                let _ = writeln!(text, "{}: absent: {program}", row.name);
            } else if row.explained() == Explained::Not {
                let _ = writeln!(
                    text,
                    "{} ({}): resource {}, clause {}, line {}",
                    row.name,
                    row.class,
                    word(row.resource),
                    word(row.clause),
                    word(row.line)
                );
                for line in row.faults.iter().chain(&row.stderr) {
                    let _ = writeln!(text, "    {line}");
                }
            }
        }
        for (class, (fully, honestly, all)) in self.counts() {
            let _ = writeln!(
                text,
                "{class:<10} {all:>3} denials, {fully} with a line that works, {honestly} for which it is said that nothing helps"
            );
        }
        let (fully, honestly, all) = self.total();
        let _ = writeln!(
            text,
            "{}: {} of {all} explained ({}): {fully} with a line that works, {honestly} for which it is said that nothing helps",
            self.host.user,
            fully + honestly,
            per_cent(fully + honestly, all)
        );
        text
    }

    fn section(&self) -> String {
        let (fully, honestly, all) = self.total();
        let mut text = format!(
            "\n## As {}\n\n**{} of {all} explained ({}).** {fully} with a line that works, {honestly} for which it is said that nothing helps.\n\n| class | denials | a line that works | nothing helps, and it is said | not explained |\n|---|---|---|---|---|\n",
            self.host.user,
            fully + honestly,
            per_cent(fully + honestly, all)
        );
        for (class, (fully, honestly, all)) in self.counts() {
            let _ = writeln!(
                text,
                "| {class} | {all} | {fully} | {honestly} | {} |",
                all - fully - honestly
            );
        }
        let not: Vec<&Row> = self
            .here()
            .filter(|row| row.explained() == Explained::Not)
            .collect();
        if !not.is_empty() {
            text.push_str("\nNot explained:\n\n");
            for row in not {
                let why = row.unsaid.as_ref().map(|why| format!("; {why}"));
                let _ = writeln!(
                    text,
                    "- `{}`: resource {}, clause {}, line {}{}",
                    row.name,
                    word(row.resource),
                    word(row.clause),
                    word(row.line),
                    why.unwrap_or_default()
                );
            }
        }
        text
    }
}

/// The page.
pub(super) fn page(all: &[Found], command: &str) -> String {
    let mut text = format!(
        "# Denials\n\nActs that the sandbox refuses, through the programs that people use. Each counts as explained if the message of\n`palisade run` names the resource and the clause, and the line that it offers is *tried*: run as it stands there, after\nwhich the act must have been done. Where no grant can help, the message must say so; these are counted apart. Written by\n`{command}`.\n"
    );
    for found in all {
        text.push_str(&found.section());
    }
    if let Some(found) = all.first() {
        let _ = write!(
            text,
            "\n## The acts\n\n{}, Linux {}, {} processors.\n\n| act | class | resource | clause | line |\n|---|---|---|---|---|\n",
            found.host.date, found.host.kernel, found.host.processors
        );
        for row in &found.rows {
            let line = match (&row.absent, row.honest, &row.still) {
                (Some(_), ..) => "not run",
                (None, true, _) => {
                    if row.line {
                        "none, and it is said"
                    } else {
                        "no"
                    }
                }
                (None, false, Some(_)) => {
                    if row.line {
                        "opens the way"
                    } else {
                        "no"
                    }
                }
                (None, false, None) => {
                    if row.line {
                        "works"
                    } else {
                        "no"
                    }
                }
            };
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} | {line} |",
                row.name,
                row.class,
                word(row.resource),
                word(row.clause)
            );
        }
    }
    text
}

fn word(yes: bool) -> &'static str {
    match yes {
        true => "yes",
        false => "no",
    }
}

fn per_cent(part: usize, whole: usize) -> String {
    crate::useful::per_cent(part, whole)
}
