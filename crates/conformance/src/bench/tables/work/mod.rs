//! Real work inside: a compiler, searches, an archive, an interpreter, a package manager.

mod material;
mod tasks;

use std::ffi::OsString;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use palisade_linux_landlock::{Command, Tier};

use self::material::Material;
use self::tasks::Task;
use super::launch::absent;
use crate::bench::Bench;
use crate::bench::bare;
use crate::bench::result::{Row, Shown, Table, Whose};
use crate::bench::rounds::{Contestant, nanoseconds, race};
use crate::bench::stage::Stage;
use crate::bench::ways::{self, Prefixed, Ways, environment, run_or_complain};

pub(super) const NAME: &str = "work";
/// No task takes longer than that, however slow the machine.
const PATIENCE: Duration = Duration::from_secs(300);

pub(super) fn measure(bench: &Bench<'_>) -> Result<Table> {
    let stage = Stage::new()?;
    let material = Material::make(&stage)?;
    let ways = Ways::new(&stage, &bench.programs.helper)?;
    let others = ways::prefixed(bench, &stage)?;
    let mut rows = Vec::new();
    for task in tasks::all(bench, &material) {
        match &task.line {
            Err(why) => rows.push(Row::absent(task.case(), "bare", Whose::Bare, why)),
            Ok(line) => {
                let contestants = contestants(&task, line, &ways, &others);
                let pace = bench.pace(task.rounds, task.seconds).fewest(3);
                let raced = race(contestants, pace);
                rows.extend(raced.iter().map(|raced| Row::of(task.case(), raced, 0)));
                rows.extend(absent(&task.case(), &others));
            }
        }
    }
    let mut table = Table {
        name: NAME.to_owned(),
        title: "Real work inside".to_owned(),
        about: "The same command line, bare, in a session that runs, and as a command line of its own. The goals are \
                1.05 for what compiles and 1.2 for what opens many files; a short program in a sandbox of its own is \
                mostly a launch, which the first table is about."
            .to_owned(),
        ratio_to: "bare".to_owned(),
        shown: Shown::Time,
        rows,
        remarks: Vec::new(),
    }
    .compare_with_bare();
    for row in &mut table.rows {
        let limit = tasks::limit_of(&row.case).filter(|_| row.whose == Whose::Ours);
        if let Some(limit) = limit {
            row.want_at_most(limit);
        }
    }
    Ok(table)
}

fn contestants<'a>(
    task: &'a Task<'_>,
    line: &'a [OsString],
    ways: &'a Ways<'a>,
    others: &[Prefixed],
) -> Vec<Contestant<'a>> {
    let workspace = &ways.stage.workspace;
    let command = Command::new(line.iter().cloned(), workspace)
        .with_env(environment(ways.stage).into_iter().collect());
    let mut all = vec![
        timed("bare", Whose::Bare, task, || {
            let (program, rest) = line.split_first().context("no command")?;
            let mut process = bare::quiet(program, workspace);
            process.args(rest).envs(environment(ways.stage));
            run_or_complain(&mut process, PATIENCE)
        }),
        timed("library, full session", Whose::Ours, task, move || {
            ways.next(Tier::Full, &command)
        }),
    ];
    for other in others.iter().filter(|other| other.is_installed()) {
        let made = other.process(line, ways.stage).map(|mut process| {
            timed(&other.name, other.whose, task, move || {
                run_or_complain(&mut process, PATIENCE)
            })
        });
        all.push(Contestant::of(&other.name, other.whose, made));
    }
    all
}

/// Prepared, which is not timed, and run.
fn timed<'a>(
    name: &str,
    whose: Whose,
    task: &'a Task<'_>,
    mut run: impl FnMut() -> Result<()> + 'a,
) -> Contestant<'a> {
    Contestant::sampled(name, whose, move || {
        (task.prepare)(task.material)?;
        let begun = Instant::now();
        run()?;
        let time = nanoseconds(begun.elapsed());
        (task.check)(task.material)?;
        Ok(vec![time])
    })
}
