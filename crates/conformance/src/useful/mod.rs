//! Everyday commands that must do inside what they do outside.
//!
//! Each runs twice from the same start: bare, and in a subject. Exit code, standard output and the files that it leaves
//! must be the same. Rules are answered with a yes, so that what is measured is what the sandbox breaks; how often a
//! person would be asked is counted besides.

mod ground;
mod list;
mod needs;
mod page;
mod parallel;
mod seen;
mod table;
mod trial;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use palisade_probes::Tier;

use crate::options::Options;
use crate::report::host::Host;
use crate::subject::{self, Kind, Programs, Subject};

pub use ground::{Ground, Slot, environment};
pub use list::{Command, Ecosystem, all};
pub use table::{Column, Row, Table, Verdict};

pub(crate) use needs::is_here;
pub(crate) use parallel::in_parallel;
pub(crate) use table::per_cent;
pub(crate) use trial::yes;

use trial::Trial;

/// Where programs are looked for: the system's own, because an ordinary user reads no toolchain in another's home.
pub const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

const HELP: &str = "\
cargo xtask useful [--subject NAME]... [--tier TIER]... [--only PART]... [--jobs N] [--as root|user|both] [--write]
cargo xtask useful --list

  --subject NAME  library, helper, command, or a peer; more than once for several; without it: command
  --tier TIER     full or landlock; more than once for both; without it: both
  --only PART     only commands with this in their name, or of this ecosystem
  --jobs N        how many at a time; without it: 2
  --as WHO        as root, as an ordinary user, or both (default); who is not root is only themselves
  --write         write what was found to docs/evidence
  --list          one line for each command";

/// `useful`: runs the commands and says what works; failure means that something is not as it is promised.
///
/// # Errors
/// The options make no sense, or something that is needed cannot be made.
pub fn main(arguments: impl Iterator<Item = OsString>, say: &dyn Fn(&str)) -> Result<ExitCode> {
    let options = Options::of_measurement(arguments, &["--subject", "--tier"])?;
    if options.has("--help") {
        say(HELP);
        return Ok(ExitCode::SUCCESS);
    }
    if crate::report::pages(&options, "useful", page::markdown, say)? {
        return Ok(ExitCode::SUCCESS);
    }
    let ecosystems = chosen(all()?, &options.texts("--only")?);
    if options.has("--list") {
        for (ecosystem, command) in flat(&ecosystems) {
            let script = command.script.trim().replace('\n', "⏎");
            say(&format!(
                "{:<9} {:<28} {script}",
                ecosystem.name, command.name
            ));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let jobs = options.jobs()?;
    let programs = Programs::beside_this(&options)?;
    let mut columns = Vec::new();
    for subject in subjects(&options)? {
        for tier in tiers(&options, subject)? {
            columns.push(measure(&ecosystems, subject, tier, &programs, jobs)?);
        }
    }
    let table = Table::new(Host::this(), &ecosystems, columns);
    say(table.text().trim_end());
    crate::report::leave(&options, &table)?;
    Ok(ExitCode::from(u8::from(!table.is_as_promised())))
}

fn subjects(options: &Options) -> Result<Vec<&'static Subject>> {
    let mut names = options.texts("--subject")?;
    if names.is_empty() {
        names.push("command");
    }
    names
        .into_iter()
        .map(|name| subject::find(name).with_context(|| format!("there is no subject `{name}`")))
        .collect()
}

/// The tiers that were asked for; a peer has none.
fn tiers(options: &Options, subject: &Subject) -> Result<Vec<Tier>> {
    let names = options.texts("--tier")?;
    if subject.kind == Kind::Peer {
        return Ok(vec![Tier::Full]);
    }
    if names.is_empty() {
        return Ok(vec![Tier::Full, Tier::Landlock]);
    }
    names
        .into_iter()
        .map(|name| match name {
            "full" => Ok(Tier::Full),
            "landlock" => Ok(Tier::Landlock),
            other => bail!("there is no tier `{other}`; there are full and landlock"),
        })
        .collect()
}

/// The ecosystems with those of their commands that were asked for.
fn chosen(all: Vec<Ecosystem>, only: &[&str]) -> Vec<Ecosystem> {
    let wanted = |ecosystem: &str, name: &str| {
        only.is_empty()
            || only
                .iter()
                .any(|part| name.contains(part) || ecosystem == *part)
    };
    all.into_iter()
        .map(|mut ecosystem| {
            let of = ecosystem.name.clone();
            ecosystem
                .commands
                .retain(|command| wanted(&of, &command.name));
            ecosystem
        })
        .filter(|ecosystem| !ecosystem.commands.is_empty())
        .collect()
}

fn flat(ecosystems: &[Ecosystem]) -> impl Iterator<Item = (&Ecosystem, &Command)> {
    ecosystems.iter().flat_map(|ecosystem| {
        let commands = ecosystem.commands.iter();
        commands.map(move |command| (ecosystem, command))
    })
}

/// Runs all commands in one subject, some at a time.
fn measure(
    ecosystems: &[Ecosystem],
    subject: &Subject,
    tier: Tier,
    programs: &Programs,
    jobs: usize,
) -> Result<Column> {
    let mut column = Column::new(subject, tier);
    if !subject.is_installed(programs) {
        column.absent = true;
        return Ok(column);
    }
    let ground = Ground::new("useful")?;
    let mut work = Vec::new();
    for ecosystem in ecosystems {
        let missing = needs::missing(ecosystem.commands.iter().flat_map(|command| &command.needs));
        let lacks = |command: &Command| needs::first(command, &missing);
        // What cannot be laid out cannot be run either; each of its commands says what is missing.
        let template = match ecosystem
            .commands
            .iter()
            .all(|command| lacks(command).is_some())
        {
            true => PathBuf::new(),
            false => ground.template(ecosystem)?,
        };
        for command in &ecosystem.commands {
            work.push((command, template.clone(), lacks(command)));
        }
    }
    column.rows = in_parallel(&work, jobs, |worker, (command, template, lacks)| {
        if let Some(program) = lacks {
            return Row::absent(command, program);
        }
        let slot = format!("slot-{worker}");
        Trial {
            ground: &ground,
            slot: &slot,
            template,
            command,
            subject,
            tier,
            programs,
        }
        .row()
    });
    Ok(column)
}
