//! System calls inside: what a filter, rules and mounts add to each.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use palisade_linux_landlock::{Command, Tier};
use rustix::fs::{Mode, OFlags};

use super::launch::absent;
use crate::bench::Bench;
use crate::bench::bare;
use crate::bench::result::{Row, Shown, Table, Whose};
use crate::bench::rounds::{Contestant, nanoseconds, race};
use crate::bench::stage::{Stage, write};
use crate::bench::ways::{self, PATIENCE, Ways, run_or_complain};

pub(super) const NAME: &str = "calls";

/// What is called, in the order of the result.
const CALLS: [&str; 4] = ["getpid", "openat and close", "read of 1 byte", "stat"];
/// How long each is repeated.
const REPEATED: Duration = Duration::from_millis(20);

pub(super) fn measure(bench: &Bench<'_>) -> Result<Table> {
    let stage = Stage::new()?;
    // In the workspace, where every sandbox can see them.
    let program = stage.workspace.join("caller");
    fs::copy(&bench.programs.conformance, &program).context("palisade-conformance")?;
    let (file, result) = (
        stage.workspace.join("some/where/deep/file"),
        stage.workspace.join("result"),
    );
    write(&file, "x")?;
    let line: Vec<OsString> = vec![
        program.clone().into(),
        "bench".into(),
        super::super::AS_CALLER.into(),
        file.into(),
        result.clone().into(),
    ];
    let ways = Ways::new(&stage, &bench.programs.helper)?;
    let others = ways::prefixed(bench, &stage)?;
    let command = Command::new(line.iter().cloned(), &stage.workspace);
    let mut contestants = vec![
        calls("bare", Whose::Bare, &result, || {
            let mut process = bare::quiet(&program, &stage.workspace);
            bare::run(process.args(line.iter().skip(1)), PATIENCE)
        }),
        calls(
            "library, direct, landlock tier",
            Whose::Ours,
            &result,
            || ways.direct(&command),
        ),
        calls("library, full session", Whose::Ours, &result, || {
            ways.next(Tier::Full, &command)
        }),
    ];
    for other in others.iter().filter(|other| other.is_installed()) {
        let made = other.process(&line, &stage).map(|mut process| {
            calls(&other.name, other.whose, &result, move || {
                run_or_complain(&mut process, PATIENCE)
            })
        });
        contestants.push(Contestant::of(&other.name, other.whose, made));
    }
    let raced = race(contestants, bench.pace(30, 40));
    let mut rows = Vec::new();
    for (at, case) in CALLS.into_iter().enumerate() {
        rows.extend(raced.iter().map(|raced| Row::of(case, raced, at)));
        rows.extend(absent(case, &others));
    }
    Ok(Table {
        name: NAME.to_owned(),
        title: "System calls inside".to_owned(),
        about: "One call, as a program sees it that makes it again and again: `openat` and `stat` of a file three \
                directories deep in the workspace, `read` of that file. Every filter looks at every call; rules and \
                brokers look at paths."
            .to_owned(),
        ratio_to: "bare".to_owned(),
        shown: Shown::Time,
        rows,
        remarks: Vec::new(),
    }
    .compare_with_bare())
}

/// Somebody who runs the program that calls, and reads what it wrote.
fn calls<'a>(
    name: &str,
    whose: Whose,
    result: &'a Path,
    mut run: impl FnMut() -> Result<()> + 'a,
) -> Contestant<'a> {
    Contestant::sampled(name, whose, move || {
        // What an earlier one wrote is not its own.
        match fs::remove_file(result) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        run()?;
        let text = fs::read_to_string(result).context("it wrote no result")?;
        let figures: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
        Ok(figures?)
    })
}

/// The program that calls: writes nanoseconds for each call to a file.
///
/// # Errors
/// The arguments make no sense, or a call fails.
pub(in crate::bench) fn main(mut arguments: impl Iterator<Item = OsString>) -> Result<ExitCode> {
    let file = PathBuf::from(arguments.next().context("no file")?);
    let result = PathBuf::from(arguments.next().context("no result")?);
    let open = || rustix::fs::open(&file, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let descriptor = open()?;
    let mut byte = [0];
    let figures = [
        repeat(|| {
            std::hint::black_box(rustix::process::getpid());
            Ok(())
        })?,
        repeat(|| {
            drop(open()?);
            Ok(())
        })?,
        repeat(|| {
            rustix::io::pread(&descriptor, &mut byte, 0)?;
            Ok(())
        })?,
        repeat(|| {
            rustix::fs::stat(&file)?;
            Ok(())
        })?,
    ];
    let text: Vec<String> = figures
        .iter()
        .map(|figure| format!("{figure:.1}"))
        .collect();
    fs::write(&result, text.join("\n")).context("the result")?;
    Ok(ExitCode::SUCCESS)
}

/// Calls for a while: nanoseconds for each.
fn repeat(mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    /// Calls between two looks at the clock.
    const BATCH: u32 = 50;
    let begun = Instant::now();
    let mut calls = 0;
    while begun.elapsed() < REPEATED {
        for _ in 0..BATCH {
            call()?;
        }
        calls += BATCH;
    }
    Ok(nanoseconds(begun.elapsed()) / f64::from(calls))
}
