//! Parts `windows`, `macos` and `msvc`: what ships compiles for its systems, without a warning.

use anyhow::Result;

use super::toolchain::{self, MACOS, MSVC, WINDOWS};
use super::tools::{self, Tool};
use crate::ci::Outcome;
use crate::process;
use crate::workspace::Workspace;

/// Everything, and as those get it who ask for nothing: a model must not be needed by accident.
const SELECTIONS: &[&[&str]] = &[EVERYTHING, &[]];
const EVERYTHING: &[&str] = &["--all-targets", "--all-features"];

pub(super) fn windows(workspace: &Workspace) -> Result<Outcome> {
    clippy(workspace, WINDOWS, Tool::Mingw, SELECTIONS)
}

pub(super) fn macos(workspace: &Workspace) -> Result<Outcome> {
    // Features are the same for every system: those who ask for nothing were tried on Windows and here.
    clippy(workspace, MACOS, Tool::Clang, &[EVERYTHING])
}

fn clippy(
    workspace: &Workspace,
    target: &str,
    compiler: Tool,
    selections: &[&[&str]],
) -> Result<Outcome> {
    if let Some(why) = tools::missing(&[Tool::Rust, Tool::Sources, Tool::Clippy, compiler]) {
        return Ok(Outcome::Skipped(why));
    }
    let packages = toolchain::shipped(workspace)?;
    let mut commands = Vec::new();
    for selection in selections.iter().copied() {
        let mut command = toolchain::cargo(workspace, "clippy", target)?;
        command
            .arg("--quiet")
            .args(&packages)
            .args(selection)
            .args(["--", "-D", "warnings"]);
        commands.push(command);
    }
    process::run_each(commands).map(|outcome| noted(outcome, &packages, target))
}

pub(super) fn msvc(workspace: &Workspace) -> Result<Outcome> {
    if let Some(why) = tools::missing(&[Tool::Rust, Tool::Sources, Tool::Mingw]) {
        return Ok(Outcome::Skipped(why));
    }
    let packages = toolchain::shipped(workspace)?;
    let mut command = toolchain::cargo(workspace, "check", MSVC)?;
    // Without the tests: those were linted for the other toolchain of the same system.
    command.args(["--quiet", "--all-features"]).args(&packages);
    process::run_each([command]).map(|outcome| noted(outcome, &packages, MSVC))
}

fn noted(outcome: Outcome, packages: &[String], target: &str) -> Outcome {
    match outcome {
        Outcome::Passed { .. } => {
            Outcome::passed_with(format!("{} packages for {target}", packages.len()))
        }
        other => other,
    }
}
