//! Launches in a second, some at a time.

use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::Result;
use palisade_linux_landlock::Tier;

use super::launch::{TRUE, absent};
use crate::bench::Bench;
use crate::bench::bare;
use crate::bench::result::{Row, Shown, Table, Whose};
use crate::bench::rounds::{Contestant, nanoseconds, race};
use crate::bench::stage::Stage;
use crate::bench::ways::{self, PATIENCE, Ways};

pub(super) const NAME: &str = "crowd";

const AT_A_TIME: [usize; 3] = [1, 8, 64];
/// Launches in a run of somebody quick.
const MOST: usize = 256;
/// How long a run of somebody slow should take, in nanoseconds.
const LONG_ENOUGH: f64 = 3e8;

/// One launch, by any thread.
type Launch<'a> = Box<dyn Fn() -> Result<()> + Sync + 'a>;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Table> {
    let stage = Stage::new()?;
    let ways = Ways::new(&stage, &bench.programs.helper)?;
    let others = ways::prefixed(bench, &stage)?;
    let program = Path::new(TRUE);
    let command = ways.command(program);
    let mut launches: Vec<(&str, Whose, Launch<'_>)> = vec![
        (
            "bare posix_spawn",
            Whose::Bare,
            Box::new(|| bare::spawn(program)),
        ),
        (
            "library, direct, landlock tier",
            Whose::Ours,
            Box::new(|| ways.direct(&command)),
        ),
        (
            "library, next command of a full session",
            Whose::Ours,
            Box::new(|| ways.next(Tier::Full, &command)),
        ),
        (
            "facade, next command of a full session",
            Whose::Ours,
            Box::new(|| ways.facade(program)),
        ),
        (
            "library, cold, full tier",
            Whose::Ours,
            Box::new(|| ways.cold(Tier::Full, &command)),
        ),
    ];
    for other in others.iter().filter(|other| other.is_installed()) {
        let stage = &stage;
        let launch = move || {
            let mut process = other.process(&[program.into()], stage)?;
            bare::run(&mut process, PATIENCE)
        };
        launches.push((&other.name, other.whose, Box::new(launch)));
    }
    let mut rows = Vec::new();
    for at_a_time in AT_A_TIME {
        let case = format!("{at_a_time} at a time");
        let contestants = launches.iter().map(|(name, whose, launch)| {
            let mut many = None;
            Contestant::sampled(*name, *whose, move || {
                let many = match many {
                    Some(many) => many,
                    None => *many.insert(enough(launch, at_a_time)?),
                };
                run(launch, at_a_time, many)
            })
        });
        let raced = race(contestants.collect(), bench.pace(5, 60).fewest(2));
        rows.extend(raced.iter().map(|raced| Row::of(&case, raced, 0)));
        rows.extend(absent(&case, &others));
    }
    Ok(Table {
        name: NAME.to_owned(),
        title: "Many launches at a time".to_owned(),
        about: "Launches of `/bin/true` that were finished in a second by so many threads. Commands of a session \
                share its helper; cold ones and command lines share nothing."
            .to_owned(),
        ratio_to: "bare".to_owned(),
        shown: Shown::PerSecond,
        rows,
        remarks: Vec::new(),
    }
    .compare_with_bare())
}

/// How many launches make a run that is long enough, by the time that one takes.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of launches, bounded below and above"
)]
fn enough(launch: &Launch<'_>, at_a_time: usize) -> Result<usize> {
    let begun = Instant::now();
    launch()?;
    let many = (LONG_ENOUGH / nanoseconds(begun.elapsed())).clamp(1.0, MOST as f64);
    Ok((many as usize).max(at_a_time))
}

/// So many launches by so many threads: nanoseconds for each.
fn run(launch: &Launch<'_>, at_a_time: usize, many: usize) -> Result<Vec<f64>> {
    let launched = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                while launched.fetch_add(1, Ordering::Relaxed) < many {
                    if let Err(error) = launch() {
                        *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                        return;
                    }
                }
            });
        }
    });
    let time = begun.elapsed();
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(vec![nanoseconds(time) / many as f64]),
    }
}
