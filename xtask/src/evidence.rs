//! `cargo xtask escapes`, `useful`, `denials`, `friction` and `bench`: builds what is measured and starts what measures.
//!
//! The programs are copied to a folder that everybody can read, and `palisade-conformance NAME ARGUMENTS` is run there:
//! as root and then as an ordinary user, or as whoever is asked for with `--as root`, `--as user` or `--as both`. With
//! `--write` each run leaves what it found in a file (`--json FILE`), and `palisade-conformance NAME --from FILE...` writes
//! the pages from those files alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::dist;
use crate::executables::{self, Executable, Kind};
use crate::peers;
use crate::process::{self, Captured};
use crate::stage::{self, NOBODY, Stage};
use crate::workspace::Workspace;

/// What is measured, and how.
struct Evidence {
    name: &'static str,
    /// Whether root also measures as an ordinary user, if nobody says otherwise.
    both: bool,
    /// Whether it is about speed: then everything is optimised as it ships.
    speed: bool,
    /// Where its pages are.
    into: &'static str,
}

static ALL: [Evidence; 5] = [
    Evidence::new("escapes", "docs/evidence").both(),
    Evidence::new("useful", "docs/evidence").both(),
    Evidence::new("denials", "docs/evidence").both(),
    Evidence::new("friction", "docs/evidence"),
    Evidence::new("bench", "docs/bench").of_speed(),
];

impl Evidence {
    const fn new(name: &'static str, into: &'static str) -> Self {
        Self {
            name,
            both: false,
            speed: false,
            into,
        }
    }

    const fn both(self) -> Self {
        Self { both: true, ..self }
    }

    const fn of_speed(self) -> Self {
        Self {
            speed: true,
            ..self
        }
    }
}

/// Who measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// Whoever has started this.
    Caller,
    /// An ordinary user, in place of root.
    Nobody,
}

/// Programs that are built and copied, and the command lines that measure with them.
struct Prepared {
    evidence: &'static Evidence,
    stage: Stage,
    commands: Vec<(Who, Command)>,
    /// What the commands leave, if it is to be written.
    files: Vec<PathBuf>,
}

impl Who {
    fn shown(self) -> String {
        match self {
            Self::Caller => "as root".to_owned(),
            Self::Nobody => format!("as user {NOBODY}"),
        }
    }
}

pub(crate) fn run(workspace: &Workspace, name: &str, arguments: &[String]) -> Result<bool> {
    let prepared = prepare(workspace, name, arguments)?;
    let (mut fine, several) = (true, prepared.commands.len() > 1);
    for (who, mut command) in prepared.commands {
        if several {
            println!("== {} ==", who.shown());
        }
        fine &= status(&mut command)?;
    }
    if !prepared.files.is_empty() {
        let line = format!("cargo xtask {name} {}", arguments.join(" "));
        let into = workspace.path(prepared.evidence.into);
        let program = program(&prepared.stage);
        fine &= write(&program, name, &prepared.files, &into, line.trim_end())?;
    }
    Ok(fine)
}

/// The same for a step of CI, with what was said.
pub(crate) fn capture(
    workspace: &Workspace,
    name: &str,
    arguments: &[String],
) -> Result<Vec<Captured>> {
    let prepared = prepare(workspace, name, arguments)?;
    let commands = prepared.commands.into_iter();
    commands
        .map(|(_, command)| process::capture(command))
        .collect()
}

fn prepare(workspace: &Workspace, name: &str, arguments: &[String]) -> Result<Prepared> {
    let evidence = ALL
        .iter()
        .find(|evidence| evidence.name == name)
        .with_context(|| format!("there is no evidence called {name}"))?;
    let wishes = Wishes::read(evidence, arguments, stage::is_root()?)?;
    let stage = Stage::new(name)?;
    build(workspace, evidence, &stage)?;
    let found = stage.give_folder("found")?;
    let (mut commands, mut files) = (Vec::new(), Vec::new());
    for who in wishes.who {
        let mut command = match who {
            Who::Caller => Command::new(program(&stage)),
            Who::Nobody => stage.command(program(&stage)),
        };
        command.arg(name).arg("--peers").arg(peers::directory());
        if wishes.write {
            let file = found.join(format!("{who:?}.json"));
            command.arg("--json").arg(&file);
            files.push(file);
        }
        command.args(&wishes.rest);
        commands.push((who, command));
    }
    Ok(Prepared {
        evidence,
        stage,
        commands,
        files,
    })
}

fn program(stage: &Stage) -> PathBuf {
    stage.root().join("palisade-conformance")
}

/// Writes the pages of what was found.
fn write(program: &Path, name: &str, files: &[PathBuf], into: &Path, line: &str) -> Result<bool> {
    std::fs::create_dir_all(into).with_context(|| format!("cannot make {}", into.display()))?;
    let mut command = Command::new(program);
    command.arg(name).arg("--into").arg(into);
    command.args(["--command", line]);
    for file in files.iter().filter(|file| file.is_file()) {
        command.arg("--from").arg(file);
    }
    status(&mut command)
}

/// Whether it ended well. It talks to the person itself.
fn status(command: &mut Command) -> Result<bool> {
    let status = command
        .status()
        .context("cannot start palisade-conformance")?;
    match status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => bail!("palisade-conformance ended with {status}"),
    }
}

/// Builds the programs and copies them to the stage.
fn build(workspace: &Workspace, evidence: &Evidence, stage: &Stage) -> Result<()> {
    const REST: [[&str; 2]; 2] = [
        ["palisade-probes", "palisade-probe"],
        ["palisade-conformance", "palisade-conformance"],
    ];
    if evidence.speed {
        copy(workspace, stage, dist::PROFILE, &REST)?;
        for program in dist::build(workspace)? {
            stage.add_program(&program.path, program.name)?;
        }
        Ok(())
    } else {
        let shipped = dist::SHIPPED.iter().map(|shipped| shipped.names);
        let all: Vec<_> = shipped.chain(REST).collect();
        copy(workspace, stage, "dev", &all)
    }
}

fn add(stage: &Stage, built: &[Executable], program: &str) -> Result<()> {
    let found = built
        .iter()
        .find(|one| one.kind == Kind::Program && one.name == program)
        .with_context(|| format!("Cargo did not say where {program} is"))?;
    stage.add_program(&found.path, program)?;
    Ok(())
}

fn copy(workspace: &Workspace, stage: &Stage, profile: &str, programs: &[[&str; 2]]) -> Result<()> {
    let mut command = workspace.cargo(&["build", "--message-format=json", "--profile", profile]);
    for [package, program] in programs {
        command.args(["--package", package, "--bin", program]);
    }
    let built = executables::build(command)?;
    for [_, program] in programs {
        add(stage, &built, program)?;
    }
    Ok(())
}

/// What of the arguments is for this module, and what is not.
#[derive(Debug, PartialEq, Eq)]
struct Wishes {
    who: Vec<Who>,
    write: bool,
    rest: Vec<String>,
}

impl Wishes {
    fn read(evidence: &Evidence, arguments: &[String], root: bool) -> Result<Self> {
        let mut wishes = Self {
            who: Vec::new(),
            write: false,
            rest: Vec::new(),
        };
        let mut asked = if evidence.both { "both" } else { "root" };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--write" => wishes.write = true,
                // Where they are is told in any case; this is whether they are measured.
                "--peers" if evidence.speed => wishes.rest.push("--with-peers".to_owned()),
                "--as" => asked = arguments.next().context("`--as` needs a name")?,
                // These only ask what there is.
                "--list" | "--help" => {
                    asked = "root";
                    wishes.rest.push(argument.clone());
                }
                _ => wishes.rest.push(argument.clone()),
            }
        }
        if evidence.speed && wishes.write && wishes.rest.iter().any(|word| word == "--only") {
            bail!("the page has every table: `--write` and `--only` do not go together");
        }
        wishes.who = match (asked, root) {
            ("root", true) | ("root" | "both" | "user", false) => vec![Who::Caller],
            ("user", true) => vec![Who::Nobody],
            ("both", true) => vec![Who::Caller, Who::Nobody],
            _ => bail!("`--as` is root, user or both, not `{asked}`"),
        };
        Ok(wishes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, root: bool) -> Result<Wishes> {
        of(&ALL[0], line, root)
    }

    fn of(evidence: &Evidence, line: &str, root: bool) -> Result<Wishes> {
        let arguments: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        Wishes::read(evidence, &arguments, root)
    }

    #[test]
    fn benchmarks_measure_peers_if_they_are_told_to() {
        let bench = ALL.iter().find(|evidence| evidence.speed).unwrap();
        let wishes = of(bench, "--peers --write", true).unwrap();
        assert_eq!(wishes.rest, ["--with-peers"]);
        assert_eq!(wishes.who, [Who::Caller]);
        assert!(of(bench, "--write --only launch", true).is_err());
    }

    #[test]
    fn root_measures_as_both_and_others_as_themselves() {
        let both = read("--only fs-create --write", true).unwrap();
        assert_eq!(both.who, [Who::Caller, Who::Nobody]);
        assert!(both.write);
        assert_eq!(both.rest, ["--only", "fs-create"]);
        assert_eq!(read("--as user", true).unwrap().who, [Who::Nobody]);
        assert_eq!(read("", false).unwrap().who, [Who::Caller]);
        assert_eq!(read("--list", true).unwrap().who, [Who::Caller]);
        assert!(read("--as nobody", true).is_err());
    }
}
