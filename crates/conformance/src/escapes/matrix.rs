//! Runs the cases, a few at a time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};
use palisade_probes::{Expected, Mode, Outcome, Probe, Verdict};

use super::case::{Case, Manner};
use super::found::{CONTROL, Cell, Column, Found, Row, Seen};
use super::hosts::Host;
use super::preflight;
use super::promise::{self, Promises};
use crate::report;
use crate::subject::{Kind, Programs, Subject};

/// A column, and what is needed to fill it.
struct Source {
    column: Column,
    subject: Option<&'static Subject>,
    host: Option<&'static Host>,
    manner: Manner,
    /// Whether each policy that suits a probe is tried, or only one.
    each_mode: bool,
}

/// Tries every probe in every subject.
pub(super) fn run(
    programs: &Programs,
    subjects: &[&'static Subject],
    hosts: &[&'static Host],
    probes: &[&'static Probe],
    jobs: usize,
    say: &(dyn Fn(&str) + Sync),
) -> Result<Found> {
    let sources = sources(programs, subjects, hosts, say)?;
    let mut promises: BTreeMap<&str, Promises> = BTreeMap::new();
    for host in sources.iter().filter_map(|source| source.host) {
        if !promises.contains_key(host.name) {
            let of = preflight::promises(programs, host).context(host.name)?;
            promises.insert(host.name, of);
        }
    }
    let (refused, not_refused) = preflight::refusals(programs, subjects, hosts)?;

    let cases = cases(&sources, probes);
    say(&format!(
        "{} cases in {} columns",
        cases.len(),
        sources.len()
    ));
    let (next, cells) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(&(at, source, probe, mode)) =
                    cases.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let cell = cell(programs, source, probe, mode, &promises, say);
                    for deviation in &cell.deviations {
                        say(&format!("deviation: {}: {deviation}", source.column.name));
                    }
                    let mut cells = cells.lock().unwrap_or_else(PoisonError::into_inner);
                    let cell = match cells.remove(&at) {
                        Some(other) => cell.worst(other),
                        None => cell,
                    };
                    cells.insert(at, cell);
                }
            });
        }
    });

    let mut cells = cells.into_inner().unwrap_or_else(PoisonError::into_inner);
    let rows = probes.iter().enumerate().map(|(row, probe)| Row {
        probe: probe.name.to_owned(),
        class: probe.class.to_string(),
        useful: probe.is_useful(),
        cells: (0..sources.len())
            .map(|column| cells.remove(&(row, column)))
            .collect(),
    });
    Ok(Found {
        host: report::host::Host::this(),
        rows: rows.collect(),
        columns: sources.into_iter().map(|source| source.column).collect(),
        not_refused,
        refused,
    })
}

fn sources(
    programs: &Programs,
    subjects: &[&'static Subject],
    all_hosts: &[&'static Host],
    say: &(dyn Fn(&str) + Sync),
) -> Result<Vec<Source>> {
    let mut sources = vec![Source {
        column: Column {
            name: CONTROL.to_owned(),
            ours: false,
            version: None,
            empty: None,
        },
        subject: None,
        host: None,
        manner: Manner::default(),
        each_mode: false,
    }];
    for subject in subjects {
        let hosts: Vec<Option<&'static Host>> = match subject.kind {
            Kind::Peer => vec![None],
            Kind::Ours => all_hosts
                .iter()
                .copied()
                .filter(|host| host.for_all || subject.name == "library")
                .map(Some)
                .collect(),
        };
        for host in hosts {
            if let Some((host, why)) = host.and_then(|host| Some((host, host.cannot_be_made()?))) {
                say(&format!("skipped: {}, {}: {why}", subject.name, host.name));
                continue;
            }
            let manner = preflight::manner(programs, subject, host).context(subject.name)?;
            let name = host.map_or_else(
                || subject.name.to_owned(),
                |host| format!("{}, {}", subject.name, host.name),
            );
            if let Err(why) = &manner {
                say(&format!("{name}: {why}"));
            }
            sources.push(Source {
                column: Column {
                    name,
                    ours: subject.kind == Kind::Ours,
                    version: subject.version(programs),
                    empty: manner.clone().err(),
                },
                subject: Some(subject),
                host,
                manner: manner.unwrap_or_default(),
                // The helper and the command lower the same policies by the same code.
                each_mode: host.is_some_and(|host| host.for_all) && subject.name == "library",
            });
        }
    }
    Ok(sources)
}

type Planned<'a> = ((usize, usize), &'a Source, &'static Probe, Mode);

/// Every case, with the row and the column of its cell.
fn cases<'a>(sources: &'a [Source], probes: &[&'static Probe]) -> Vec<Planned<'a>> {
    let mut cases = Vec::new();
    for (column, source) in sources.iter().enumerate() {
        if source.column.empty.is_some() {
            continue;
        }
        for (row, probe) in probes.iter().enumerate() {
            let expected = source.host.map(|host| promise::expected(probe, host));
            if matches!(expected, Some(Expected::NotApplicable(_))) {
                continue;
            }
            let modes = [Mode::Write, Mode::ReadOnly];
            let suited = modes.into_iter().filter(|mode| probe.suits(*mode));
            let count = if source.each_mode { 2 } else { 1 };
            for mode in suited.take(count) {
                cases.push(((row, column), source, *probe, mode));
            }
        }
    }
    cases
}

/// Whether our subject said that it did not run anything, or a machine that stood still was in the way.
fn did_not_start(verdict: &Verdict) -> bool {
    let why = ["exit code 125,", "not in time"];
    verdict.outcome == Outcome::Broken && why.iter().any(|why| verdict.said.contains(why))
}

fn cell(
    programs: &Programs,
    source: &Source,
    probe: &'static Probe,
    mode: Mode,
    promises: &BTreeMap<&str, Promises>,
    say: &(dyn Fn(&str) + Sync),
) -> Cell {
    let case = Case {
        programs,
        subject: source.subject,
        host: source.host,
        mode,
        manner: source.manner,
    };
    let ours = source
        .host
        .and_then(|host| Some((host, promises.get(host.name)?)));
    let mut tried = case.run(probe);
    // Something on this host stood in the way of the launch, such as a directory that somebody else is just making.
    let known = |verdict: &Verdict| {
        ours.is_some_and(|(host, _)| promise::gets_through(probe, host, verdict))
    };
    let failed = |verdict: &Verdict| did_not_start(verdict) && !known(verdict);
    // What is known to get through may lose a race once. What gets through against a promise is never tried again.
    let lost = |verdict: &Verdict| {
        ours.is_some_and(|(host, _)| {
            matches!(promise::expected(probe, host), Expected::Residue(_))
                && !promise::gets_through(probe, host, verdict)
        })
    };
    let again = |verdict: &Verdict| failed(verdict) || lost(verdict);
    if ours.is_some() && tried.as_ref().is_ok_and(again) {
        say(&format!("again: {}: {tried:?}", source.column.name));
        tried = case.run(probe);
    }
    let verdict = match tried {
        Ok(verdict) => verdict,
        Err(error) => {
            let said = format!("{} ({mode:?}): it could not be run: {error}", probe.name);
            return Cell {
                seen: Seen::Broken,
                known: None,
                said: Some(said.clone()),
                deviations: ours.map(|_| said).into_iter().collect(),
            };
        }
    };
    let deviation =
        ours.and_then(|(host, promises)| promise::deviation(probe, host, &verdict, promises));
    let known = ours.and_then(|(host, _)| match promise::expected(probe, host) {
        Expected::Residue(why) if promise::gets_through(probe, host, &verdict) => {
            Some(why.to_owned())
        }
        _ => None,
    });
    let usual = matches!(verdict.outcome, Outcome::Contained | Outcome::Works);
    Cell {
        seen: verdict.outcome.into(),
        known,
        said: (!usual).then(|| verdict.said.clone()),
        deviations: deviation
            .map(|deviation| format!("{} ({mode:?}): {deviation}", probe.name))
            .into_iter()
            .collect(),
    }
}
