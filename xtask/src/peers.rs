//! `cargo xtask peers`: installs other sandboxes into a scratch directory, with the ordinary clients of their registries.
//!
//! Nothing of the project needs them, and one that cannot be installed keeps no other from being installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;

const USAGE: &str = "\
Usage: cargo xtask peers list
       cargo xtask peers install [--only NAME]... [--into DIR]

The directory is /var/tmp/palisade-peers, or what PALISADE_PEERS says; everybody can read it, so that an ordinary user can
be measured as well. Packages of the system are installed by root alone.
";

/// How a peer comes here.
#[derive(Clone, Copy)]
enum Source {
    /// A package of the system.
    System(&'static str),
    /// A package for Node.
    Node(&'static str),
    /// A package for Python.
    Python(&'static str),
    /// A crate.
    Crate(&'static str),
}

const PEERS: [(&str, Source); 9] = [
    ("bubblewrap", Source::System("bubblewrap")),
    ("firejail", Source::System("firejail")),
    ("codex", Source::Node("@openai/codex")),
    ("srt", Source::Node("@anthropic-ai/sandbox-runtime")),
    ("zerobox", Source::Python("zerobox")),
    ("landstrip", Source::Crate("landstrip")),
    ("sandlock", Source::Python("sandlock")),
    ("nono-py", Source::Python("nono-py")),
    ("hakoniwa", Source::Crate("hakoniwa-cli")),
];

/// Packages of the system that others need to be built or to run.
const ALSO: [(&str, &[&str]); 2] = [
    ("srt", &["bubblewrap", "socat", "ripgrep"]),
    ("hakoniwa", &["libseccomp-dev"]),
];

/// Where peers are installed.
pub(crate) fn directory() -> PathBuf {
    std::env::var_os("PALISADE_PEERS")
        .map_or_else(|| PathBuf::from("/var/tmp/palisade-peers"), PathBuf::from)
}

pub(crate) fn run(_: &Workspace, arguments: &[String]) -> Result<bool> {
    let mut arguments = arguments.iter();
    match arguments.next().map(String::as_str) {
        Some("list") => {
            for (name, source) in PEERS {
                println!("{name:<12}{}", source.describe());
            }
            Ok(true)
        }
        Some("install") => install(arguments),
        None | Some("help" | "--help") => {
            print!("{USAGE}");
            Ok(true)
        }
        Some(other) => bail!("unexpected argument `{other}`\n\n{USAGE}"),
    }
}

fn install<'a>(mut arguments: impl Iterator<Item = &'a String>) -> Result<bool> {
    let (mut only, mut into) = (Vec::new(), directory());
    while let Some(argument) = arguments.next() {
        let value = arguments.next();
        match (argument.as_str(), value) {
            ("--only", Some(name)) if PEERS.iter().any(|(known, _)| known == name) => {
                only.push(name.as_str());
            }
            ("--into", Some(directory)) => into = PathBuf::from(directory),
            _ => bail!("unexpected argument `{argument}`\n\n{USAGE}"),
        }
    }
    std::fs::create_dir_all(&into).with_context(|| format!("cannot make {}", into.display()))?;
    let mut all_well = true;
    for (name, source) in PEERS {
        if !only.is_empty() && !only.contains(&name) {
            continue;
        }
        let also = ALSO.iter().filter(|(of, _)| *of == name);
        let also = also.flat_map(|(_, packages)| packages.iter().copied());
        let steps: Vec<Command> = also
            .map(|package| Source::System(package).commands(&into))
            .chain([source.commands(&into)])
            .flatten()
            .collect();
        match steps.into_iter().find_map(failure) {
            None => println!("{name}: installed"),
            Some(why) => {
                println!("{name}: FAILED: {why}");
                all_well = false;
            }
        }
    }
    // An ordinary user runs them too.
    all_well &= failure(readable(&into)).is_none();
    Ok(all_well)
}

impl Source {
    fn describe(self) -> String {
        match self {
            Self::System(name) => format!("the system's package {name}"),
            Self::Node(name) => format!("{name} for Node"),
            Self::Python(name) => format!("{name} for Python"),
            Self::Crate(name) => format!("the crate {name}"),
        }
    }

    fn commands(self, into: &Path) -> Vec<Command> {
        match self {
            Self::System(name) => {
                let mut command = Command::new("apt-get");
                command
                    .args(["install", "-y", "--no-install-recommends", name])
                    .env("DEBIAN_FRONTEND", "noninteractive");
                vec![command]
            }
            Self::Node(name) => {
                let mut command = Command::new("npm");
                command
                    .args(["install", "--no-audit", "--no-fund", "--prefix"])
                    .arg(into.join("node"))
                    .arg(name);
                vec![command]
            }
            Self::Python(name) => {
                // The system's: one that a user has put before it may be where nobody else can read.
                let mut environment = Command::new("/usr/bin/python3");
                environment.args(["-m", "venv"]).arg(into.join("python"));
                let mut command = Command::new(into.join("python/bin/pip"));
                command.args(["install", "--quiet", name]);
                vec![environment, command]
            }
            Self::Crate(name) => {
                let mut command = Command::new("cargo");
                command
                    .args(["install", "--locked", "--root"])
                    .arg(into.join("cargo"))
                    .arg(name)
                    .current_dir(into);
                vec![command]
            }
        }
    }
}

fn readable(into: &Path) -> Command {
    let mut command = Command::new("chmod");
    command.args(["-R", "a+rX"]).arg(into);
    command
}

/// Why a command failed, in one line.
fn failure(mut command: Command) -> Option<String> {
    let output = match command.output() {
        Ok(output) if output.status.success() => return None,
        Ok(output) => output,
        Err(error) => return Some(format!("{}: {error}", command.get_program().display())),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    Some(last.unwrap_or("it did not say why").to_owned())
}
