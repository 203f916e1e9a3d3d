//! How often a person is asked: about the everyday commands of the scored corpus, and about those of the useful list.
//!
//! `palisade check` is asked what becomes of each command, under each way of asking; nothing runs.

mod table;

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command as Process, ExitCode, Stdio};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::options::Options;
use crate::report::host::Host;
use crate::subject::Programs;
use crate::useful::{self, Ground, environment, in_parallel};

pub use table::{Becomes, Found, Row};

const HELP: &str = "\
cargo xtask friction [--only PART]... [--jobs N] [--as root|user|both] [--write]
cargo xtask friction --list

  --only PART  only commands with this in them
  --jobs N     how many at a time; without it: 2
  --write      write what was found to docs/evidence
  --list       one line for each command";

/// Ways of asking.
pub(crate) const APPROVALS: [&str; 2] = ["on-request", "unless-trusted"];

/// The corpus that the rules are scored by; its section A is everyday work.
const CORPORA: [(&str, &str); 2] = [
    (
        "everyday, development set",
        include_str!("../../../exec-policy/tests/matching/development.toml"),
    ),
    (
        "everyday, held-out set",
        include_str!("../../../exec-policy/tests/matching/held_out.toml"),
    ),
];

#[derive(Deserialize)]
struct Corpus {
    row: Vec<CorpusRow>,
}

#[derive(Deserialize)]
struct CorpusRow {
    section: String,
    command: String,
    #[serde(default)]
    shell: Option<String>,
}

/// `friction`: asks, and prints how many prompts a hundred commands cost.
///
/// # Errors
/// The options make no sense, or `palisade` does not answer.
pub fn main(arguments: impl Iterator<Item = OsString>, say: &dyn Fn(&str)) -> Result<ExitCode> {
    let options = Options::of_measurement(arguments, &[])?;
    if options.has("--help") {
        say(HELP);
        return Ok(ExitCode::SUCCESS);
    }
    if crate::report::pages(&options, "friction", table::page, say)? {
        return Ok(ExitCode::SUCCESS);
    }
    let only = options.texts("--only")?;
    let mut commands = commands()?;
    commands
        .retain(|(_, command)| only.is_empty() || only.iter().any(|part| command.contains(part)));
    if options.has("--list") {
        for (list, command) in &commands {
            say(&format!("{list}: {}", command.replace('\n', "⏎")));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let programs = Programs::beside_this(&options)?;
    let ground = Ground::new("friction")?;
    let home = ground.filled("home", "git init --quiet")?;
    let answers = in_parallel(&commands, options.jobs()?, |_, (list, command)| {
        let asked: Result<Vec<Becomes>> = APPROVALS
            .iter()
            .map(|approval| check(&programs.palisade, &home, approval, command))
            .collect();
        asked.map(|becomes| Row {
            list: list.clone(),
            command: command.clone(),
            becomes,
        })
    });
    let found = Found {
        host: Host::this(),
        rows: answers.into_iter().collect::<Result<_>>()?,
    };
    say(found.text().trim_end());
    crate::report::leave(&options, &found)?;
    Ok(ExitCode::SUCCESS)
}

/// Every command with the list that it is from.
fn commands() -> Result<Vec<(String, String)>> {
    let mut all = Vec::new();
    for (name, text) in CORPORA {
        let corpus: Corpus = toml::from_str(text).context(name)?;
        let everyday = corpus.row.into_iter();
        let everyday = everyday.filter(|row| row.section == "A" && row.shell.is_none());
        all.extend(everyday.map(|row| (name.to_owned(), row.command)));
    }
    for ecosystem in useful::all()? {
        let commands = ecosystem.commands.into_iter();
        all.extend(commands.map(|command| ("the useful list".to_owned(), command.script)));
    }
    Ok(all)
}

/// What becomes of a command.
fn check(palisade: &Path, home: &Path, approval: &str, command: &str) -> Result<Becomes> {
    let output = Process::new(palisade)
        .args([
            "check",
            "--json",
            "--approval",
            approval,
            "--",
            "bash",
            "-c",
            command,
        ])
        .current_dir(home.join("project"))
        .env_clear()
        .envs(environment(home))
        .stdin(Stdio::null())
        .output()
        .context("palisade check")?;
    let answer: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{command}: {}", String::from_utf8_lossy(&output.stderr)))?;
    // That this host cannot keep the policy is no word about the command.
    if let Some(why) = answer.pointer("/sandbox/refusal").and_then(Value::as_str) {
        bail!("{command}: no sandbox could be set up: {why}");
    }
    let becomes = answer
        .pointer("/requirement/becomes")
        .and_then(Value::as_str);
    let rule = answer
        .pointer("/rule/id")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match becomes {
        Some("runs") => Ok(Becomes::Runs),
        Some("asks") => Ok(Becomes::Asks(rule.to_owned())),
        Some("refused") => Ok(Becomes::Refused(rule.to_owned())),
        other => bail!("{command}: becomes {other:?}"),
    }
}
