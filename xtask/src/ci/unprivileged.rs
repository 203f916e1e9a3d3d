//! Step `unprivileged`: what root has tested passes for an ordinary user too, because users are not root.
//!
//! Cargo builds where an ordinary user may not look, so the test programs that a package lists under
//! `[package.metadata.ci] unprivileged` are copied to a folder that everybody can read, together with the programs of
//! the same packages, and run there.

use anyhow::{Context, Result, bail};

use super::testing::{passed_tests, skips};
use super::{Outcome, Strictness};
use crate::executables::{self, Executable, Kind};
use crate::process;
use crate::stage::{self, NOBODY, Stage};
use crate::workspace::{Package, Workspace};

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    if !stage::is_root()? {
        return Ok(Outcome::passed_with("`test` has run as one".to_owned()));
    }
    let metadata = workspace.metadata()?;
    let packages: Vec<&Package> = metadata
        .members()
        .filter(|package| !wanted(package).is_empty())
        .collect();
    if packages.is_empty() {
        bail!("no package lists tests under `[package.metadata.ci] unprivileged`");
    }
    let built = build(workspace, &packages)?;
    let stage = Stage::new("ci")?;
    let mut passed = 0;
    let mut failures = String::new();
    for program in built.iter().filter(|one| one.kind == Kind::Program) {
        stage.add_program(&program.path, &program.name)?;
    }
    for package in packages {
        for wish in wanted(package) {
            let (name, arguments) = wish.split_once(' ').unwrap_or((&wish, ""));
            let program = built
                .iter()
                .find(|one| one.kind == Kind::Test && one.name == name && one.package == package.id)
                .with_context(|| format!("{} has no test `{name}`", package.name))?;
            let captured = process::capture(command(&stage, program, arguments)?)?;
            let count = passed_tests(&captured.text);
            let skipped = Strictness::from_environment() == Strictness::SkipsFail
                && skips(&captured.text).next().is_some();
            if !captured.success || count == 0 || skipped {
                failures.push_str(&captured.report());
            }
            passed += count;
        }
    }
    if failures.is_empty() {
        Ok(Outcome::passed_with(format!(
            "{passed} tests as user {NOBODY}"
        )))
    } else {
        Ok(Outcome::Failed(failures))
    }
}

/// The tests of a package that an ordinary user runs too, each with arguments for its harness.
fn wanted(package: &Package) -> Vec<String> {
    package.ci_list("unprivileged")
}

fn build(workspace: &Workspace, packages: &[&Package]) -> Result<Vec<Executable>> {
    let mut command = workspace.cargo(&[
        "test",
        "--no-run",
        "--all-features",
        "--tests",
        "--message-format=json",
    ]);
    for package in packages {
        command.args(["--package", &package.name]);
    }
    executables::build(command)
}

fn command(stage: &Stage, test: &Executable, arguments: &str) -> Result<std::process::Command> {
    let copy = stage.add_program(&test.path, &format!("test-{}", test.name))?;
    let mut command = stage.command(copy);
    command
        // What a passing test says is kept back otherwise, and with it that it did not run.
        .arg("--nocapture")
        .args(arguments.split_whitespace())
        .env(
            "PALISADE_TEST_HELPER",
            stage.root().join("palisade-linux-sandbox"),
        )
        .env(
            "PALISADE_TEST_RUNNER_HELPER",
            stage.root().join("palisade-helper"),
        )
        // Root has run the whole of it.
        .env("PALISADE_TEST_LOAD_SEQUENCE", "2000")
        .env("PALISADE_TEST_CLI", stage.root().join("palisade"))
        .env("PALISADE_TEST_PROBE", stage.root().join("palisade-probe"));
    Ok(command)
}
