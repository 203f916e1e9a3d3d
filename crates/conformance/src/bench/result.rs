//! What was measured, as one value: the terminal, the page, the JSON and the plot are made from it and from nothing else.

use serde::{Deserialize, Serialize};

use super::rounds::Raced;
use crate::report::host::Host;

/// One run of the benchmarks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// Where, when and as whom.
    pub host: Host,
    /// The processor, if the kernel names it.
    pub processor: Option<String>,
    /// Processes that wanted to run in the minute before it began, on average: what else was going on.
    pub load: Option<String>,
    /// How ours was built.
    pub build: String,
    /// What was measured.
    pub tables: Vec<Table>,
}

/// One comparison.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Table {
    /// Its name, for ever.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What is compared, and how to read it.
    pub about: String,
    /// What the ratio is to.
    pub ratio_to: String,
    /// How its figures are shown.
    pub shown: Shown,
    /// Its rows.
    pub rows: Vec<Row>,
    /// What was seen besides.
    pub remarks: Vec<String>,
}

/// How figures are shown; in the JSON they are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Shown {
    /// As a time.
    Time,
    /// As so many in a second.
    PerSecond,
}

/// One subject in one case.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Row {
    /// What differs between the parts of a table: the program, the size, the number.
    pub case: String,
    /// Who did it.
    pub subject: String,
    /// Whose that is.
    pub whose: Whose,
    /// The figures, or why there are none.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The median as a multiple of what the table compares with.
    pub ratio: Option<f64>,
    /// What it should be.
    pub goals: Vec<Goal>,
    /// What failed although others of its runs went well.
    #[serde(default)]
    pub failures: Option<String>,
}

/// Whose a subject is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Whose {
    /// Nobody's: no sandbox.
    Bare,
    /// Ours.
    Ours,
    /// Somebody else's.
    Peer,
}

/// What came of measuring.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Outcome {
    /// It was measured.
    Measured(Figures),
    /// It did not work, and why.
    Failed(String),
    /// It is not installed, or this machine is too small for it.
    Absent(String),
}

/// Nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Figures {
    /// Half of the runs took less.
    pub median: f64,
    /// Nine of ten runs took less.
    pub p90: f64,
    /// How many runs.
    pub runs: usize,
}

impl Figures {
    /// Of these; none of none.
    #[must_use]
    pub fn of(mut samples: Vec<f64>) -> Option<Self> {
        samples.sort_by(f64::total_cmp);
        let runs = samples.len();
        let at = |tenths: usize| samples.get((runs * tenths).div_ceil(10).saturating_sub(1));
        Some(Self {
            median: samples.get(runs / 2).copied()?,
            p90: at(9).copied()?,
            runs,
        })
    }
}

/// What a figure should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Goal {
    /// In words.
    pub wanted: String,
    /// Whether it is; nothing where nobody can tell.
    pub met: Option<bool>,
}

impl Row {
    /// Of what came of a contestant, in one of the cases that it measures.
    pub(super) fn of(case: impl Into<String>, raced: &Raced, at: usize) -> Self {
        let outcome = match raced.case(at) {
            Ok(samples) => Figures::of(samples).map_or_else(
                || Outcome::Failed("it never ran to its end".to_owned()),
                Outcome::Measured,
            ),
            Err(why) => Outcome::Failed(one_line(&why)),
        };
        Self {
            case: case.into(),
            subject: raced.name.clone(),
            whose: raced.whose,
            failures: raced
                .failures
                .as_ref()
                .filter(|_| matches!(outcome, Outcome::Measured(_)))
                .map(|(many, why)| format!("{many} more failed: {}", one_line(why))),
            outcome,
            ratio: None,
            goals: Vec::new(),
        }
    }

    /// What is not here.
    pub(super) fn absent(
        case: impl Into<String>,
        subject: impl Into<String>,
        whose: Whose,
        why: impl Into<String>,
    ) -> Self {
        Self {
            case: case.into(),
            subject: subject.into(),
            whose,
            outcome: Outcome::Absent(why.into()),
            ratio: None,
            goals: Vec::new(),
            failures: None,
        }
    }

    /// The median, if there is one.
    #[must_use]
    pub fn median(&self) -> Option<f64> {
        match &self.outcome {
            Outcome::Measured(figures) => Some(figures.median),
            Outcome::Failed(_) | Outcome::Absent(_) => None,
        }
    }

    /// Wants the ratio to be at most this.
    pub(super) fn want_at_most(&mut self, limit: f64) {
        self.goals.push(Goal {
            wanted: format!("at most {limit}"),
            met: self.ratio.map(|ratio| ratio <= limit),
        });
    }
}

impl Table {
    /// Sets every ratio to the median of the row that this one is compared with, and says what it should be.
    pub(super) fn compare(mut self, is_base_of: impl Fn(&Row, &Row) -> bool) -> Self {
        let bases: Vec<Option<f64>> = self
            .rows
            .iter()
            .map(|row| {
                let mut bases = self.rows.iter().filter(|base| is_base_of(base, row));
                bases.find_map(Row::median)
            })
            .collect();
        for (row, base) in self.rows.iter_mut().zip(bases) {
            row.ratio = row.median().zip(base).map(|(median, base)| median / base);
        }
        self
    }

    /// The same, where the base of a case is what ran bare in it.
    pub(super) fn compare_with_bare(self) -> Self {
        self.compare(|base, row| base.whose == Whose::Bare && base.case == row.case)
    }
}

/// What somebody said, as one line of bounded length, which cannot break out of a table.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 160;
    let lines = text.split(['\n', '\r']).map(str::trim);
    let joined: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let plain: String = joined.join(" / ").chars().take(LONGEST).collect();
    plain.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_and_the_ninetieth_percentile() {
        let samples = (1..=100).rev().map(f64::from).collect();
        let expected = Figures {
            median: 51.0,
            p90: 90.0,
            runs: 100,
        };
        assert_eq!(Figures::of(samples), Some(expected));
        assert_eq!(Figures::of(vec![3.0]).unwrap().p90, 3.0);
        assert_eq!(Figures::of(Vec::new()), None);
    }

    #[test]
    fn what_somebody_said_stays_in_its_cell() {
        assert_eq!(one_line("a | b\n\n  c\n"), "a \\| b / c");
        assert_eq!(one_line(&"x".repeat(500)).len(), 160);
    }
}
