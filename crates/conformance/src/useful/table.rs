//! What came of it, for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use palisade_probes::Tier;
use serde::{Deserialize, Serialize};

use super::list::{Command, Ecosystem};
use super::needs;
use crate::report::host::Host;
use crate::subject::{Kind, Subject};

/// What came of one command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "verdict", content = "detail")]
#[non_exhaustive]
pub enum Verdict {
    /// It does inside what it does outside.
    Works,
    /// It does not, and should: how they differ.
    Broken(Vec<String>),
    /// It does not, and that is a limit which was chosen: why. It counts as broken.
    Known(String),
    /// It does not, and nobody said it would: why.
    NotPromised(String),
    /// It does, although nobody said it would: the list is wrong.
    WorksAfterAll(String),
    /// The run outside shows nothing, so the one inside cannot be judged.
    NoControl(String),
    /// This program is not here.
    Absent(String),
}

/// One command in one subject.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Row {
    /// Its name.
    pub name: String,
    /// What came of it.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Whether a person would have been asked.
    pub asked: bool,
    /// How long both runs took.
    #[serde(skip)]
    pub milliseconds: u64,
}

/// One subject.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Column {
    /// Its name.
    pub subject: String,
    /// The tier; peers have none.
    pub tier: String,
    /// Whether it asks questions at all.
    pub asks: bool,
    /// Whether it is not installed.
    pub absent: bool,
    /// Its commands.
    pub rows: Vec<Row>,
}

/// All of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Table {
    /// Where, when and by whom.
    pub host: Host,
    /// Which command belongs to which ecosystem, in the order of the list.
    pub commands: Vec<(String, String)>,
    /// The subjects.
    pub columns: Vec<Column>,
}

impl Row {
    pub(super) fn new(command: &Command) -> Self {
        Self {
            name: command.name.clone(),
            verdict: Verdict::Works,
            asked: false,
            milliseconds: 0,
        }
    }

    pub(super) fn absent(command: &Command, program: &str) -> Self {
        Self {
            verdict: Verdict::Absent(program.to_owned()),
            ..Self::new(command)
        }
    }

    /// Whether this is not as it should be. In strict CI what CI has installed is not absent.
    fn is_wrong(&self, strict: bool) -> bool {
        match &self.verdict {
            Verdict::Works | Verdict::NotPromised(_) | Verdict::Known(_) => false,
            Verdict::Broken(_) | Verdict::WorksAfterAll(_) | Verdict::NoControl(_) => true,
            Verdict::Absent(program) => strict && needs::INSTALLED.contains(&program.as_str()),
        }
    }
}

impl Column {
    pub(super) fn new(subject: &Subject, tier: Tier) -> Self {
        Self {
            subject: subject.name.to_owned(),
            tier: match (subject.kind, tier) {
                (Kind::Peer, _) => "",
                (Kind::Ours, Tier::Full) => "full",
                (Kind::Ours, Tier::Landlock) => "landlock",
            }
            .to_owned(),
            asks: subject.name == "command",
            absent: false,
            rows: Vec::new(),
        }
    }

    pub(super) fn count(&self, of: impl Fn(&Verdict) -> bool) -> usize {
        self.rows.iter().filter(|row| of(&row.verdict)).count()
    }

    /// How many work, and how many should.
    pub(super) fn rate(&self) -> (usize, usize) {
        let works = self.count(|verdict| *verdict == Verdict::Works);
        let broken =
            self.count(|verdict| matches!(verdict, Verdict::Broken(_) | Verdict::Known(_)));
        (works, works + broken)
    }

    /// The line about this subject.
    fn summary(&self, who: &str) -> String {
        let name = format!("{} ({}, {who})", self.subject, self.tier);
        if self.absent {
            return format!("{name}: absent");
        }
        let (works, should) = self.rate();
        let mut text = format!(
            "{name}: {works} of {should} work ({})",
            per_cent(works, should)
        );
        let more: [(&str, usize); 5] = [
            (
                "of the others known",
                self.count(|verdict| matches!(verdict, Verdict::Known(_))),
            ),
            (
                "not promised",
                self.count(|verdict| matches!(verdict, Verdict::NotPromised(_))),
            ),
            (
                "declared not to work, and working",
                self.count(|verdict| matches!(verdict, Verdict::WorksAfterAll(_))),
            ),
            (
                "without a control",
                self.count(|verdict| matches!(verdict, Verdict::NoControl(_))),
            ),
            (
                "absent",
                self.count(|verdict| matches!(verdict, Verdict::Absent(_))),
            ),
        ];
        for (what, count) in more.into_iter().filter(|(_, count)| *count > 0) {
            let _ = write!(text, ", {count} {what}");
        }
        let asked = self.rows.iter().filter(|row| row.asked).count();
        if self.asks {
            let _ = write!(text, "; a person is asked about {asked}");
        }
        text
    }
}

impl Table {
    pub(super) fn new(host: Host, ecosystems: &[Ecosystem], columns: Vec<Column>) -> Self {
        let commands = super::flat(ecosystems)
            .map(|(ecosystem, command)| (ecosystem.name.clone(), command.name.clone()))
            .collect();
        Self {
            host,
            commands,
            columns,
        }
    }

    /// Whether nothing is broken that should work, and nothing works that was said not to.
    pub(super) fn is_as_promised(&self) -> bool {
        let strict = std::env::var_os("PALISADE_CI_STRICT").is_some_and(|value| value == "1");
        let mut rows = self.columns.iter().flat_map(|column| &column.rows);
        !rows.any(|row| row.is_wrong(strict))
    }

    /// For a terminal: what is wrong, in full, then a line for each ecosystem and each subject.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for column in &self.columns {
            for row in &column.rows {
                let (word, details): (&str, &[String]) = match &row.verdict {
                    Verdict::Broken(details) => ("broken", details),
                    Verdict::Known(reason) => ("known not to work", std::slice::from_ref(reason)),
                    Verdict::WorksAfterAll(reason) => (
                        "works, though declared not to",
                        std::slice::from_ref(reason),
                    ),
                    Verdict::NoControl(why) => ("no control", std::slice::from_ref(why)),
                    Verdict::Absent(program) => ("absent", std::slice::from_ref(program)),
                    _ => continue,
                };
                let _ = writeln!(
                    text,
                    "{} ({}) {}: {word}",
                    column.subject, column.tier, row.name
                );
                for detail in details {
                    let _ = writeln!(text, "    {detail}");
                }
            }
        }
        for (ecosystem, names) in self.ecosystems() {
            let _ = write!(text, "{ecosystem:<10} {:>3} commands", names.len());
            for column in &self.columns {
                let of: Vec<&Row> = column
                    .rows
                    .iter()
                    .filter(|row| names.contains(&row.name.as_str()))
                    .collect();
                let works = of
                    .iter()
                    .filter(|row| row.verdict == Verdict::Works)
                    .count();
                let _ = write!(text, "  {}/{} {works}", column.subject, column.tier);
            }
            text.push('\n');
        }
        for column in &self.columns {
            let _ = writeln!(text, "{}", column.summary(&self.host.user));
            let mut slow: Vec<&Row> = column.rows.iter().collect();
            slow.sort_by_key(|row| std::cmp::Reverse(row.milliseconds));
            let slow: Vec<String> = slow
                .iter()
                .take(5)
                .map(|row| format!("{} {:.1}s", row.name, Duration(row.milliseconds).seconds()))
                .collect();
            let _ = writeln!(text, "  slowest, both runs: {}", slow.join(", "));
        }
        text
    }

    pub(super) fn ecosystems(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut map: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (ecosystem, name) in &self.commands {
            map.entry(ecosystem).or_default().push(name);
        }
        map
    }
}

struct Duration(u64);

impl Duration {
    #[expect(clippy::cast_precision_loss, reason = "it is shown with one digit")]
    fn seconds(&self) -> f64 {
        self.0 as f64 / 1000.0
    }
}

/// With one digit, rounded down: what is not all is not 100.
pub(crate) fn per_cent(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "none".to_owned();
    }
    let tenths = part * 1000 / whole;
    format!("{}.{} %", tenths / 10, tenths % 10)
}
