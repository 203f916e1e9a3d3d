//! One launch, in every way there is, against a bare one.

use std::path::{Path, PathBuf};

use anyhow::Result;
use palisade_linux_landlock::Tier;

use crate::bench::Bench;
use crate::bench::bare;
use crate::bench::noop;
use crate::bench::result::{Goal, Row, Shown, Table, Whose};
use crate::bench::rounds::{Contestant, race};
use crate::bench::stage::Stage;
use crate::bench::ways::{self, COMMAND, Prefixed, Ways, cold};

/// The name of the table, which the plot looks for.
pub(in crate::bench) const NAME: &str = "launch";
/// The case that goals are about, and that is plotted.
pub(in crate::bench) const TRUE: &str = "/bin/true";

const DIRECT: &str = "library, direct, landlock tier";
const NEXT_FULL: &str = "library, next command of a full session";
const COLD_LANDLOCK: &str = "library, cold, landlock tier";
const COLD_FULL: &str = "library, cold, full tier";

/// What a launch of `/bin/true` should cost at most, as a multiple of a bare one.
const GOALS: [(&str, f64); 5] = [
    (DIRECT, 1.3),
    (NEXT_FULL, 1.6),
    (COLD_LANDLOCK, 4.0),
    (COLD_FULL, 4.0),
    (COMMAND, 6.0),
];

pub(super) fn measure(bench: &Bench<'_>) -> Result<Table> {
    let stage = Stage::new()?;
    let noop = stage.workspace.join("no-op");
    noop::write(&noop)?;
    let ways = Ways::new(&stage, &bench.programs.helper)?;
    let others = ways::prefixed(bench, &stage)?;
    let mut rows = Vec::new();
    for (case, program) in [("a static no-op", noop), (TRUE, PathBuf::from(TRUE))] {
        let mut contestants = in_process(&ways, &program);
        let present = others.iter().filter(|other| other.is_installed());
        contestants.extend(present.map(|other| other.launch(&program, &stage)));
        let raced = race(contestants, bench.pace(300, 100));
        rows.extend(raced.iter().map(|raced| Row::of(case, raced, 0)));
        rows.extend(absent(case, &others));
    }
    let mut table = Table {
        name: NAME.to_owned(),
        title: "One launch".to_owned(),
        about: "From the start of a command to its end is known. *Direct* is the library without a helper; *next* is \
                one more command of a session that runs; *cold* starts a session, runs the command and ends the \
                session, from a plan that was made beforehand unless the row says otherwise. The facade judges the \
                command by rules and captures its output as well. Whatever is a command line is started as a user \
                would: its own start is part of it, and of a peer that is a Python package the interpreter's too."
            .to_owned(),
        ratio_to: "bare".to_owned(),
        shown: Shown::Time,
        rows,
        remarks: Vec::new(),
    }
    .compare_with_bare();
    for row in table.rows.iter_mut().filter(|row| row.case == TRUE) {
        if let Some((_, limit)) = GOALS.iter().find(|(name, _)| *name == row.subject) {
            row.want_at_most(*limit);
        }
    }
    want_to_be_ahead(&mut table);
    Ok(table)
}

/// What this process does by itself.
fn in_process<'a>(ways: &'a Ways<'a>, program: &'a Path) -> Vec<Contestant<'a>> {
    let command = ways.command(program);
    let direct = command.clone();
    let mut all = vec![
        Contestant::timed("bare posix_spawn", Whose::Bare, || bare::spawn(program)),
        Contestant::timed(DIRECT, Whose::Ours, move || ways.direct(&direct)),
    ];
    for (name, tier) in [
        (
            "library, next command of a landlock session",
            Tier::Landlock,
        ),
        (NEXT_FULL, Tier::Full),
    ] {
        let command = command.clone();
        let next = move || ways.next(tier, &command);
        all.push(Contestant::timed(name, Whose::Ours, next));
    }
    for (name, tier) in [(COLD_LANDLOCK, Tier::Landlock), (COLD_FULL, Tier::Full)] {
        let command = command.clone();
        let cold = move || ways.cold(tier, &command);
        all.push(Contestant::timed(name, Whose::Ours, cold));
    }
    let planned = move || {
        let plan = ways.stage.plan(Tier::Full)?;
        cold(&plan, &ways.helper, &command, &ways.stdio)
    };
    all.extend([
        Contestant::timed(
            "library, cold, full tier, survey and lowering included",
            Whose::Ours,
            planned,
        ),
        Contestant::timed(
            "facade, next command of a full session",
            Whose::Ours,
            || ways.facade(program),
        ),
        Contestant::timed("facade, cold, full tier", Whose::Ours, || {
            ways.cold_facade(program)
        }),
    ]);
    all
}

/// A row for everybody who is not installed.
pub(super) fn absent(case: &str, others: &[Prefixed]) -> Vec<Row> {
    let absent = others.iter().filter(|other| !other.is_installed());
    absent
        .map(|other| Row::absent(case, &other.name, other.whose, "not installed"))
        .collect()
}

/// Our command should be quicker than every peer that was measured.
fn want_to_be_ahead(table: &mut Table) {
    let peers = table.rows.iter().filter(|row| row.whose == Whose::Peer);
    let of_peers = peers.filter(|row| row.case == TRUE).filter_map(Row::median);
    let quickest = of_peers.min_by(f64::total_cmp);
    for row in &mut table.rows {
        if row.case == TRUE && row.subject == COMMAND {
            row.goals.push(Goal {
                wanted: "ahead of every peer".to_owned(),
                met: row.median().zip(quickest).map(|(ours, peer)| ours < peer),
            });
        }
    }
}
