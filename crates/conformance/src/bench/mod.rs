//! What a launch, a system call, real work and a decision cost, beside bare ones and beside peers.
//!
//! A speed is a ratio measured side by side in one run: every round of a table runs each of its subjects once and begins
//! with another one; the first tenth of the rounds is not counted; medians are compared. Everything happens in throw-away
//! directories. One that does not work says so in its row.

mod bare;
mod machine;
mod noop;
mod page;
mod plot;
mod result;
mod rounds;
mod stage;
mod tables;
mod ways;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

pub use self::result::{Figures, Goal, Outcome, Report, Row, Shown, Table, Whose};

use self::rounds::Pace;
use crate::options::Options;
use crate::report::host::Host;
use crate::subject::Programs;

const USAGE: &str = "\
What a launch, a system call, real work and a decision cost, beside bare ones.

Usage: cargo xtask bench [--peers] [--only TABLE]... [--rounds N] [--write] [--as WHO] [--list]

  --peers       also measure other sandboxes that are installed: cargo xtask peers install
  --only TABLE  only this table; --list names them
  --rounds N    so many rounds in every table, instead of what suits each
  --write       write docs/bench/measured.md, measured.json and launch.svg; not together with --only
  --as WHO      root, user (an ordinary one, for root), or both

Nothing else should be going on: a ratio survives noise, a goal may not.
";

/// The first argument of a process that launches for the table of callers.
const AS_PARENT: &str = "--as-parent";
/// The first argument of the program that makes system calls.
const AS_CALLER: &str = "--as-caller";

/// What every table needs.
struct Bench<'a> {
    programs: &'a Programs,
    /// Whether peers are measured.
    peers: bool,
    /// Rounds, if somebody says how many.
    rounds: Option<usize>,
    /// The Cargo that belongs to a compiler that can be started, if somebody says which.
    cargo: Option<PathBuf>,
}

impl Bench<'_> {
    /// So many rounds, and about so many seconds at most.
    fn pace(&self, rounds: usize, seconds: u64) -> Pace {
        let rounds = self.rounds.unwrap_or(rounds);
        Pace {
            rounds,
            budget: Duration::from_secs(seconds),
            fewest: rounds.min(5),
        }
    }
}

/// `bench`: measures and shows; with `--from`, writes the pages of what was measured before.
///
/// # Errors
/// The arguments make no sense, or nothing could be measured at all.
pub fn main(arguments: impl Iterator<Item = OsString>, say: &dyn Fn(&str)) -> Result<ExitCode> {
    let mut arguments = arguments.peekable();
    let is = |word: &str, first: Option<&OsString>| first.is_some_and(|first| first == word);
    if is(AS_PARENT, arguments.peek()) {
        return tables::parents_main(arguments.skip(1));
    }
    if is(AS_CALLER, arguments.peek()) {
        return tables::calls_main(arguments.skip(1));
    }
    let options = Options::parse(
        arguments,
        &[
            "--only",
            "--rounds",
            "--peers",
            "--json",
            "--from",
            "--into",
            "--command",
        ],
        &["--with-peers", "--list", "--help"],
    )?;
    if options.has("--help") {
        say(USAGE.trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    if options.has("--list") {
        for table in &tables::ALL {
            say(&format!("{:<10} {}", table.name, table.about));
        }
        return Ok(ExitCode::SUCCESS);
    }
    match options.texts("--from")?.as_slice() {
        [] => measure(&options, say),
        files => write(files, &options.path("--into")?, options.text("--command")?),
    }
}

fn measure(options: &Options, say: &dyn Fn(&str)) -> Result<ExitCode> {
    let only = options.texts("--only")?;
    for name in &only {
        if !tables::ALL.iter().any(|table| table.name == *name) {
            bail!("there is no table `{name}`; --list names them");
        }
    }
    let rounds = options.last("--rounds").map(|_| options.text("--rounds"));
    let rounds = rounds.transpose()?.map(str::parse::<usize>).transpose();
    let rounds = rounds.context("--rounds")?.map(|rounds| rounds.max(1));
    let programs = Programs::beside_this(options)?;
    let bench = Bench {
        programs: &programs,
        peers: options.has("--with-peers"),
        rounds,
        cargo: std::env::var_os("CARGO")
            .map(PathBuf::from)
            .filter(|cargo| cargo.is_file()),
    };
    let mut report = Report {
        host: Host::this(),
        processor: machine::processor(),
        load: machine::load(),
        build: machine::build(&programs.palisade, &programs.helper),
        tables: Vec::new(),
    };
    say(&page::circumstances(&report));
    for table in &tables::ALL {
        if !only.is_empty() && !only.contains(&table.name) {
            continue;
        }
        let measured = (table.measure)(&bench).with_context(|| format!("table {}", table.name))?;
        say(&page::table(&measured));
        report.tables.push(measured);
    }
    if options.last("--json").is_some() {
        let text = serde_json::to_string_pretty(&report)?;
        fs::write(options.path("--json")?, text).context("--json")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the pages of what was measured before.
fn write(files: &[&str], into: &Path, command: &str) -> Result<ExitCode> {
    let mut reports: Vec<Report> = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).with_context(|| (*file).to_owned())?;
        reports.push(serde_json::from_str(&text).with_context(|| (*file).to_owned())?);
    }
    let plot = reports.iter().find_map(plot::launches);
    let plot = plot.context("no launch was measured")?;
    let json = serde_json::json!({ "command": command, "reports": reports });
    let json = format!("{}\n", serde_json::to_string_pretty(&json)?);
    for (name, text) in [
        ("measured.md", page::page(&reports, command)),
        ("measured.json", json),
        (plot::FILE, plot),
    ] {
        let file = into.join(name);
        fs::write(&file, text).with_context(|| file.display().to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
