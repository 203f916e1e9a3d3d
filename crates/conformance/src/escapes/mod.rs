//! Every probe in every subject: what gets out, what does not, and whether that is what was promised.
//!
//! Each case is a process of its own on a stage of its own, and is judged by what is seen from outside
//! (`palisade_probes::run::launch`). For our subjects a deviation from what is promised fails in both directions; a peer's
//! column is what was seen.

mod case;
mod found;
mod hosts;
mod matrix;
mod page;
mod preflight;
mod promise;
mod text;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use palisade_probes::Probe;

use crate::options::Options;
use crate::subject::{self, Kind, Programs, Subject};
use found::{Found, together};
use hosts::{HOSTS, Host};

const HELP: &str = "\
cargo xtask escapes [--subject NAME]... [--ours] [--host NAME]... [--only PROBE]... [--as root|user|both] [--jobs N] [--write]
cargo xtask escapes --list

  --subject NAME  only this subject: library, helper, command, or a peer; more than once for several
  --ours          only our subjects
  --host NAME     only this host for ours: full, landlock, or a weaker one such as `Landlock ABI 3`
  --only PROBE    only probes with this in their name
  --as WHO        as root, as an ordinary user, or both (default); who is not root is only themselves
  --jobs N        so many cases at a time, instead of as many as there are processors
  --write         write what was found to docs/evidence
  --list          one line for each probe: class, mode, without a sandbox as root and as a user, full and landlock tier";

/// Runs the matrix and says what was found, or does what else the options ask for; failure means that a subject of ours
/// deviates from what it promises.
///
/// # Errors
/// The options make no sense, or nothing could be tried.
pub fn main(
    arguments: impl Iterator<Item = OsString>,
    say: &(dyn Fn(&str) + Sync),
) -> Result<ExitCode> {
    let options = Options::parse(
        arguments,
        &[
            "--peers",
            "--json",
            "--from",
            "--into",
            "--command",
            "--subject",
            "--host",
            "--only",
            "--jobs",
        ],
        &["--help", "--list", "--ours"],
    )?;
    if options.has("--help") {
        say(HELP);
        return Ok(ExitCode::SUCCESS);
    }
    if !options.texts("--from")?.is_empty() {
        return write(&options, say);
    }
    let probes = probes(&options.texts("--only")?)?;
    if options.has("--list") {
        probes.iter().for_each(|probe| say(&text::listed(probe)));
        return Ok(ExitCode::SUCCESS);
    }
    let programs = Programs::beside_this(&options)?;
    let subjects = subjects(&options)?;
    let jobs = match options.last("--jobs") {
        Some(_) => options.text("--jobs")?.parse().context("--jobs")?,
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let hosts = hosts(&options)?;
    let found = matrix::run(&programs, &subjects, &hosts, &probes, jobs, say)?;
    if let Some(file) = options.last("--json") {
        let bytes = serde_json::to_vec(&found)?;
        std::fs::write(file, bytes).context("--json")?;
    }
    say(&text::table(&found));
    let whole = options.texts("--only")?.is_empty() && found.columns.iter().any(|one| one.ours);
    let few = whole && found.counts().is_few();
    if few {
        say("DEVIATION: that is less than the project promises to try");
    }
    Ok(ExitCode::from(u8::from(
        few || !found.deviations().is_empty(),
    )))
}

/// The probes that can be run, and have one of these in their names.
fn probes(parts: &[&str]) -> Result<Vec<&'static Probe>> {
    let wanted = |probe: &&Probe| {
        probe.is_built() && (parts.is_empty() || parts.iter().any(|part| probe.name.contains(part)))
    };
    let probes: Vec<_> = palisade_probes::all().filter(wanted).collect();
    if probes.is_empty() {
        bail!("no probe has this in its name");
    }
    Ok(probes)
}

fn subjects(options: &Options) -> Result<Vec<&'static Subject>> {
    let names = options.texts("--subject")?;
    for name in &names {
        subject::find(name).with_context(|| {
            let known: Vec<_> = subject::all().map(|subject| subject.name).collect();
            format!(
                "there is no subject `{name}`; there are {}",
                known.join(", ")
            )
        })?;
    }
    let wanted = |subject: &&Subject| {
        let named = names.is_empty() || names.contains(&subject.name);
        named && (subject.kind == Kind::Ours || !options.has("--ours"))
    };
    Ok(subject::all().filter(wanted).collect())
}

fn hosts(options: &Options) -> Result<Vec<&'static Host>> {
    let names = options.texts("--host")?;
    let known: Vec<_> = HOSTS.iter().map(|host| host.name).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        bail!(
            "there is no host `{unknown}`; there are {}",
            known.join("; ")
        );
    }
    let wanted = |host: &&Host| names.is_empty() || names.contains(&host.name);
    Ok(HOSTS.iter().filter(wanted).collect())
}

/// Writes the page and the file from what several users found.
fn write(options: &Options, say: &(dyn Fn(&str) + Sync)) -> Result<ExitCode> {
    let mut all: Vec<Found> = Vec::new();
    for file in options.texts("--from")? {
        let bytes = std::fs::read(file).with_context(|| file.to_owned())?;
        all.push(serde_json::from_slice(&bytes).with_context(|| file.to_owned())?);
    }
    let all = together(all);
    let into = options.path("--into")?;
    let command = options.text("--command")?;
    let save = |name: &str, text: &str| {
        let path = Path::new(&into).join(name);
        say(&format!("wrote {}", path.display()));
        std::fs::write(&path, text).with_context(|| path.display().to_string())
    };
    save("escapes.md", &page::markdown(&all, command))?;
    save("escapes.json", &page::json(&all, command)?)?;
    Ok(ExitCode::SUCCESS)
}
