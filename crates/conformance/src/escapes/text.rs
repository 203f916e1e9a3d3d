//! What a person reads on the terminal.

use std::fmt::Write as _;

use palisade_probes::{Alone, Expected, Mode, Probe, Tier};

use super::found::{Found, Seen};

/// One line for a probe.
pub(super) fn listed(probe: &Probe) -> String {
    let mode = match probe.mode {
        Mode::Write => "write",
        Mode::ReadOnly => "read-only",
        Mode::Both => "both",
    };
    let alone = |alone| match alone {
        Alone::Escapes => "escapes",
        Alone::Depends(_) => "depends",
        Alone::Cannot(_) => "fails",
        Alone::Works => "works",
        Alone::NotRun(_) => "not-run",
    };
    let expected = |tier| match probe.expected(tier) {
        Expected::Contained => "contained",
        Expected::Residue(_) => "residue",
        Expected::Works => "works",
        Expected::NotApplicable(_) => "not-run",
    };
    format!(
        "{:<30}{:<18}{mode:<11}{:<9}{:<9}{:<11}{}",
        probe.name,
        probe.class.to_string(),
        alone(probe.control.root),
        alone(probe.control.user),
        expected(Tier::Full),
        expected(Tier::Landlock)
    )
}

/// How many of each kind a column has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) contained: usize,
    pub(super) known: usize,
    pub(super) escaped: usize,
    pub(super) works: usize,
    pub(super) broken: usize,
    pub(super) nothing: usize,
}

pub(super) fn tally(found: &Found, column: usize) -> Tally {
    let mut tally = Tally::default();
    let cells = found.rows.iter().filter_map(|row| row.cells.get(column));
    for cell in cells.flatten() {
        *match (cell.seen, &cell.known) {
            (Seen::Contained, _) => &mut tally.contained,
            (Seen::Escaped | Seen::Broken, Some(_)) => &mut tally.known,
            (Seen::Escaped, None) => &mut tally.escaped,
            (Seen::Works, _) => &mut tally.works,
            (Seen::Broken, None) => &mut tally.broken,
            (Seen::Nothing, _) => &mut tally.nothing,
        } += 1;
    }
    tally
}

/// The classes, in the order of the rows.
fn classes(found: &Found) -> Vec<&str> {
    let mut classes: Vec<&str> = Vec::new();
    for row in found.rows.iter().filter(|row| !row.useful) {
        if !classes.contains(&row.class.as_str()) {
            classes.push(&row.class);
        }
    }
    classes
}

/// `contained of tried` for each class, in each column.
fn by_class(found: &Found) -> String {
    let classes = classes(found);
    let width = found.columns.iter().map(|column| column.name.len()).max();
    let width = width.unwrap_or_default() + 2;
    let mut text = format!("{:width$}", "contained of tried");
    for class in &classes {
        let short = class.split(' ').next().unwrap_or_default();
        let _ = write!(text, "{short:>11}");
    }
    let _ = writeln!(text, "{:>8}{:>7}{:>9}", "escaped", "known", "useful");
    for (index, column) in found.columns.iter().enumerate() {
        let _ = write!(text, "{:width$}", column.name);
        if let Some(why) = &column.empty {
            let _ = writeln!(text, "{why}");
            continue;
        }
        for class in &classes {
            let rows = found
                .rows
                .iter()
                .filter(|row| row.class == *class && !row.useful);
            let cells: Vec<Seen> = rows
                .filter_map(|row| Some(row.cells.get(index)?.as_ref()?.seen))
                .collect();
            let contained = cells
                .iter()
                .filter(|seen| **seen == Seen::Contained)
                .count();
            let tried = cells.iter().filter(|seen| **seen != Seen::Nothing).count();
            let _ = write!(text, "{:>11}", format!("{contained}/{tried}"));
        }
        let tally = tally(found, index);
        let useful = found.rows.iter().filter(|row| row.useful);
        let useful = useful.filter(|row| row.cells.get(index).is_some_and(Option::is_some));
        let _ = writeln!(
            text,
            "{:>8}{:>7}{:>9}",
            tally.escaped,
            tally.known,
            format!("{}/{}", tally.works, useful.count())
        );
    }
    text
}

/// The whole table.
pub(super) fn table(found: &Found) -> String {
    let mut text = by_class(found);
    let counts = found.counts();
    let _ = writeln!(
        text,
        "\nas {}: {} attempts, {} of them seen to get through without a sandbox; {} launches that must be refused were",
        found.host.user, counts.attempts, counts.proven, found.refused
    );
    let ours = found.columns.iter().filter(|column| column.ours).count();
    for (why, columns) in residues(found) {
        let where_seen = if columns.len() == ours {
            "everywhere".to_owned()
        } else {
            columns.join("; ")
        };
        let _ = writeln!(text, "known: {why}: {where_seen}");
    }
    let deviations = found.deviations();
    for deviation in &deviations {
        let _ = writeln!(text, "DEVIATION: {deviation}");
    }
    let _ = writeln!(text, "{} deviations of our subjects", deviations.len());
    text
}

/// Each probe that gets through as it is known to, with why, and the columns in which it does.
pub(super) fn residues(found: &Found) -> Vec<(String, Vec<&str>)> {
    let mut all: Vec<(String, Vec<&str>)> = Vec::new();
    for row in &found.rows {
        for (column, cell) in found.columns.iter().zip(&row.cells) {
            let Some(why) = cell.as_ref().and_then(|cell| cell.known.as_ref()) else {
                continue;
            };
            let title = format!("{}: {why}", row.probe);
            match all.iter_mut().find(|(known, _)| *known == title) {
                Some((_, columns)) => columns.push(&column.name),
                None => all.push((title, vec![&column.name])),
            }
        }
    }
    all
}
