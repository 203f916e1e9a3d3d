//! What a run comes to, and whether that was expected.

use std::fmt::Write as _;

use crate::probe::{Alone, Class, Expected, Probe, Tier};
use crate::report::Report;

/// What a run comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "every caller must judge every kind"
)]
pub enum Outcome {
    /// It failed, and nothing outside changed.
    Contained,
    /// It got through.
    Escaped,
    /// There is nothing to try on this host.
    Unavailable,
    /// The useful act worked.
    Works,
    /// The useful act failed, or the probe did not report.
    Broken,
}

/// What a run comes to, and why.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verdict {
    /// The probe.
    pub probe: &'static str,
    /// What it comes to.
    pub outcome: Outcome,
    /// What the probe said, or how it ended.
    pub said: String,
    /// What was seen from outside.
    pub evidence: Vec<String>,
}

impl Verdict {
    /// Puts together what the probe said, what was seen, and whether the secret is in what it said.
    #[must_use]
    pub fn new(
        probe: &Probe,
        report: &Report,
        evidence: Vec<String>,
        secret_was_told: bool,
    ) -> Self {
        let outcome = if !evidence.is_empty() || secret_was_told {
            Outcome::Escaped
        } else {
            match report {
                Report::Escaped(_) => Outcome::Escaped,
                Report::Acted(_) | Report::Refused { .. } => Outcome::Contained,
                Report::Unavailable(_) => Outcome::Unavailable,
                Report::Works(_) => Outcome::Works,
                Report::Broken(_) => Outcome::Broken,
            }
        };
        Self {
            probe: probe.name,
            outcome,
            said: report.to_string(),
            evidence,
        }
    }

    /// Why this is not what the registry expects in this tier; `None` if it is.
    #[must_use]
    pub fn deviation(&self, probe: &Probe, tier: Tier) -> Option<String> {
        let seldom = matches!(probe.control.root, Alone::Depends(_))
            || matches!(probe.control.user, Alone::Depends(_));
        let fine = match (probe.expected(tier), self.outcome) {
            (Expected::Contained, Outcome::Contained)
            | (Expected::Residue(_), Outcome::Escaped)
            | (Expected::Works, Outcome::Works) => true,
            (Expected::Contained, Outcome::Unavailable) => seldom,
            _ => false,
        };
        (!fine).then(|| self.unexpected(&format!("{:?}", probe.expected(tier))))
    }

    /// Why this is not what the registry says about the probe without a sandbox; `None` if it is.
    #[must_use]
    pub fn deviation_alone(&self, alone: Alone) -> Option<String> {
        let fine = match alone {
            Alone::Escapes => self.outcome == Outcome::Escaped,
            Alone::Depends(_) => !matches!(self.outcome, Outcome::Broken | Outcome::Works),
            Alone::Cannot(_) => self.outcome == Outcome::Contained,
            Alone::Works => self.outcome == Outcome::Works,
            Alone::NotRun(_) => true,
        };
        (!fine).then(|| self.unexpected(&format!("{alone:?}")))
    }

    fn unexpected(&self, expected: &str) -> String {
        format!(
            "{}: expected {expected}, got {:?}: {} {:?}",
            self.probe, self.outcome, self.said, self.evidence
        )
    }
}

/// A line of the table.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers make rows from their runs"
)]
pub struct Row {
    /// The probe.
    pub name: &'static str,
    /// Its class.
    pub class: Class,
    /// One cell for each column.
    pub cells: Vec<String>,
}

/// A Markdown table of probes.
#[must_use]
pub fn table(columns: &[&str], rows: &[Row]) -> String {
    let mut text = format!("| probe | about | {} |\n|---|---|", columns.join(" | "));
    text.push_str(&"---|".repeat(columns.len()));
    text.push('\n');
    for row in rows {
        let cells: Vec<String> = row.cells.iter().map(|cell| escaped(cell)).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {} | {} |",
            row.name,
            row.class,
            cells.join(" | ")
        );
    }
    text
}

fn escaped(cell: &str) -> String {
    cell.replace('|', "\\|").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Row, Verdict, table};
    use crate::probe::{Class, Tier};
    use crate::registry::find;
    use crate::report::Report;

    fn refused() -> Report {
        Report::parse("refused: EACCES open").unwrap()
    }

    #[test]
    fn evidence_beats_the_report() {
        let probe = find("fs-open-write").unwrap();
        let outcome = |report: &Report, evidence: &[&str], told| {
            let evidence = evidence.iter().map(|&text| text.to_owned()).collect();
            Verdict::new(probe, report, evidence, told).outcome
        };
        assert_eq!(outcome(&refused(), &[], false), Outcome::Contained);
        assert_eq!(outcome(&refused(), &["changed"], false), Outcome::Escaped);
        assert_eq!(outcome(&refused(), &[], true), Outcome::Escaped);
    }

    #[test]
    fn both_directions_deviate() {
        let contained = find("fs-open-write").unwrap();
        let residue = find("fs-hardlink-preexisting").unwrap();
        let said = |probe, report: &Report| Verdict::new(probe, report, Vec::new(), false);
        let escaped = Report::Escaped("wrote".to_owned());
        assert_eq!(
            said(contained, &refused()).deviation(contained, Tier::Full),
            None
        );
        assert!(
            said(contained, &escaped)
                .deviation(contained, Tier::Full)
                .is_some()
        );
        assert!(
            said(residue, &refused())
                .deviation(residue, Tier::Full)
                .is_some()
        );
        assert_eq!(said(residue, &escaped).deviation(residue, Tier::Full), None);
        let missing = Report::Unavailable("absent".to_owned());
        assert!(
            said(contained, &missing)
                .deviation(contained, Tier::Full)
                .is_some()
        );
    }

    #[test]
    fn a_cell_cannot_break_the_table() {
        let row = Row {
            name: "fs-create",
            class: Class::Files,
            cells: vec!["a|b\nc".to_owned()],
        };
        assert_eq!(
            table(&["full"], &[row]).lines().last(),
            Some("| `fs-create` | writing outside | a\\|b c |")
        );
    }
}
