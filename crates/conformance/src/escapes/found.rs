//! What was found, as one value: the terminal, the page and the file show nothing else.

use palisade_probes::Outcome;
use serde::{Deserialize, Serialize};

use super::hosts::HOSTS;
use crate::report::host::Host;
use crate::subject;

/// What one user found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) host: Host,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
    /// What had to be refused and was not.
    pub(super) not_refused: Vec<String>,
    /// How many launches had to be refused, and were.
    pub(super) refused: usize,
}

/// A subject on a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Column {
    pub(super) name: String,
    /// Whether what it promises is held against it.
    pub(super) ours: bool,
    pub(super) version: Option<String>,
    /// Why there is nothing in it: it is absent, or does not start.
    pub(super) empty: Option<String>,
}

/// A probe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) probe: String,
    pub(super) class: String,
    pub(super) useful: bool,
    /// One for each column; none where there is nothing to try.
    pub(super) cells: Vec<Option<Cell>>,
}

/// What came of a probe in a column; of several policies, the worst.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) seen: Seen,
    /// Why it gets through, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) known: Option<String>,
    /// What the probe said, where that is not the usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) said: Option<String>,
    /// Why this is not what is promised; one for each policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) deviations: Vec<String>,
}

/// What came of it, the better first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Seen {
    /// There is nothing to try on this host.
    Nothing,
    Works,
    Contained,
    /// It could not be tried, or a useful act failed.
    Broken,
    Escaped,
}

impl From<Outcome> for Seen {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Contained => Self::Contained,
            Outcome::Escaped => Self::Escaped,
            Outcome::Unavailable => Self::Nothing,
            Outcome::Works => Self::Works,
            Outcome::Broken => Self::Broken,
        }
    }
}

impl Cell {
    /// Of two policies, the worse.
    pub(super) fn worst(self, other: Self) -> Self {
        let (mut worse, better) = match self.seen < other.seen {
            true => (other, self),
            false => (self, other),
        };
        worse.deviations.extend(better.deviations);
        worse
    }
}

/// The counts that the project holds itself to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    /// Attempts that were tried in at least one of our subjects.
    pub(super) attempts: usize,
    /// Those of them that get through without a sandbox, as was seen.
    pub(super) proven: usize,
}

impl Counts {
    /// Whether this is less than the project promises to try: a matrix that lost its probes shows no escape either.
    pub(super) const fn is_few(self) -> bool {
        self.attempts < 120 || self.proven < 80
    }
}

/// The column of the control.
pub(super) const CONTROL: &str = "no sandbox";

/// What one user found at several times, put together: the first run has the rows, and of a column that was filled twice the
/// first counts.
pub(super) fn together(all: Vec<Found>) -> Vec<Found> {
    let mut users: Vec<Found> = Vec::new();
    for found in all {
        match users
            .iter_mut()
            .find(|user| user.host.user == found.host.user)
        {
            Some(user) => user.add(found),
            None => users.push(found),
        }
    }
    users.iter_mut().for_each(Found::put_in_order);
    users
}

impl Found {
    /// The control, ours, peers; each as they are listed.
    fn put_in_order(&mut self) {
        let place = |column: &Column| {
            let name = column.name.split(", ").next().unwrap_or_default();
            let host = column.name.strip_prefix(name).unwrap_or_default();
            let host = host.trim_start_matches(", ");
            let subject = subject::all().position(|subject| subject.name == name);
            (subject, HOSTS.iter().position(|known| known.name == host))
        };
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by_key(|index| self.columns.get(*index).map(place));
        let columns = order.iter().filter_map(|index| self.columns.get(*index));
        let columns = columns.cloned().collect();
        for row in &mut self.rows {
            let cells = order.iter().map(|index| row.cells.get(*index).cloned());
            row.cells = cells.map(Option::flatten).collect();
        }
        self.columns = columns;
    }

    fn add(&mut self, other: Self) {
        for (index, column) in other.columns.into_iter().enumerate() {
            if self.columns.iter().any(|known| known.name == column.name) {
                continue;
            }
            for row in &mut self.rows {
                let same = other.rows.iter().find(|one| one.probe == row.probe);
                row.cells
                    .push(same.and_then(|same| same.cells.get(index)?.clone()));
            }
            self.columns.push(column);
        }
        self.not_refused.extend(other.not_refused);
        // The same refusals may have been seen in both.
        self.refused = self.refused.max(other.refused);
    }

    /// Every deviation of ours, with where it was seen.
    pub(super) fn deviations(&self) -> Vec<String> {
        let mut all = self.not_refused.clone();
        for row in &self.rows {
            for (column, cell) in self.columns.iter().zip(&row.cells) {
                for deviation in cell.iter().flat_map(|cell| &cell.deviations) {
                    all.push(format!("{}: {deviation}", column.name));
                }
            }
        }
        for column in self.columns.iter().filter(|column| column.ours) {
            if let Some(why) = &column.empty {
                all.push(format!("{}: {why}", column.name));
            }
        }
        all
    }

    pub(super) fn counts(&self) -> Counts {
        let control = self
            .columns
            .iter()
            .position(|column| column.name == CONTROL);
        let tried = |row: &&Row| {
            let mut cells = self.columns.iter().zip(&row.cells);
            !row.useful && cells.any(|(column, cell)| column.ours && cell.is_some())
        };
        let proven = |row: &&Row| {
            let cell = control.and_then(|index| row.cells.get(index)?.as_ref());
            cell.is_some_and(|cell| cell.seen == Seen::Escaped)
        };
        Counts {
            attempts: self.rows.iter().filter(tried).count(),
            proven: self.rows.iter().filter(tried).filter(proven).count(),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn cell(seen: Seen) -> Option<Cell> {
        Some(Cell {
            seen,
            known: None,
            said: None,
            deviations: Vec::new(),
        })
    }

    /// A control, one subject of ours and an absent peer, with an attempt that deviates, one that is known, and an act.
    pub(in super::super) fn example() -> Found {
        let column = |name: &str, ours, empty: Option<&str>| Column {
            name: name.to_owned(),
            ours,
            version: None,
            empty: empty.map(str::to_owned),
        };
        let row = |probe: &str, useful, ours: Option<Cell>, control: Seen| Row {
            probe: probe.to_owned(),
            class: "writing outside".to_owned(),
            useful,
            cells: vec![cell(control), ours, None],
        };
        let mut bad = cell(Seen::Escaped);
        let mut known = cell(Seen::Escaped);
        if let (Some(bad), Some(known)) = (&mut bad, &mut known) {
            bad.deviations
                .push("fs-create (Write): it wrote".to_owned());
            known.known = Some("a file has no path".to_owned());
        }
        Found {
            host: Host::this(),
            columns: vec![
                column(CONTROL, false, None),
                column("library, full", true, None),
                column("zerobox", false, Some("absent")),
            ],
            rows: vec![
                row("fs-create", false, bad, Seen::Escaped),
                row("fs-hardlink", false, known, Seen::Escaped),
                row("fs-mknod", false, cell(Seen::Contained), Seen::Contained),
                row("use-shell", true, cell(Seen::Works), Seen::Works),
            ],
            not_refused: Vec::new(),
            refused: 3,
        }
    }

    #[test]
    fn attempts_count_and_those_that_prove_something() {
        let counts = example().counts();
        assert_eq!((counts.attempts, counts.proven), (3, 2));
        assert!(counts.is_few());
    }

    #[test]
    fn deviations_are_ours_alone_and_an_empty_column_is_one() {
        let mut found = example();
        assert_eq!(
            found.deviations(),
            ["library, full: fs-create (Write): it wrote"]
        );
        found.columns[1].empty = Some("does not start".to_owned());
        assert_eq!(found.deviations().len(), 2);
    }

    #[test]
    fn runs_of_one_user_are_put_together() {
        let mut peers = example();
        peers.columns.remove(1);
        peers.columns[1] = Column {
            name: "bubblewrap".to_owned(),
            empty: None,
            ..peers.columns[1].clone()
        };
        for row in &mut peers.rows {
            row.cells = vec![cell(Seen::Escaped), cell(Seen::Contained)];
        }
        let one = together(vec![example(), peers]).remove(0);
        let names: Vec<_> = one.columns.iter().map(|column| &*column.name).collect();
        assert_eq!(names, [CONTROL, "library, full", "bubblewrap", "zerobox"]);
        assert_eq!(
            one.rows[2].cells[0],
            cell(Seen::Contained),
            "the first control"
        );
        assert_eq!(one.rows[0].cells[2], cell(Seen::Contained));
    }

    #[test]
    fn of_two_policies_the_worse_is_shown_and_no_deviation_is_lost() {
        let found = example();
        let bad = found.rows[0].cells[1].clone().unwrap();
        let good = cell(Seen::Contained).unwrap();
        for worst in [bad.clone().worst(good.clone()), good.worst(bad)] {
            assert_eq!(worst.seen, Seen::Escaped);
            assert_eq!(worst.deviations.len(), 1);
        }
    }
}
