//! Part `wine`: tests for Windows, run by Wine for an ordinary user.
//!
//! A package takes part by listing `wine` under `[package.metadata.ci]`: all its tests are run if the list is empty, else
//! those that it names, `lib` being those of the library, each with arguments for its harness. Wine is honest about processes, pipes, jobs and handles, and
//! pretends about tokens and access lists; what it cannot show is skipped by the tests themselves, and the skips that
//! are known are listed in `skips`. Any other fails.

mod prefix;
mod skips;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use self::prefix::Prefix;
use self::skips::Skips;
use super::toolchain::{self, WINDOWS};
use super::tools::{self, Tool};
use crate::ci::Outcome;
use crate::ci::testing::passed_tests;
use crate::executables::{self, Executable, Kind};
use crate::files;
use crate::stage::Stage;
use crate::workspace::{Package, Workspace};

/// Fewer tests than this would mean that some have gone missing.
const FEWEST: usize = 40;

/// For one test program.
const LONGEST: Duration = Duration::from_secs(300);

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    if let Some(why) = tools::missing(&[Tool::Rust, Tool::Sources, Tool::Mingw, Tool::Wine]) {
        return Ok(Outcome::Skipped(why));
    }
    let metadata = workspace.metadata()?;
    let packages: Vec<&Package> = metadata
        .members()
        .filter(|package| package.has_ci_list("wine"))
        .collect();
    if packages.is_empty() {
        bail!("no package lists `wine` under `[package.metadata.ci]`");
    }
    let (mut failures, mut built) = (String::new(), Vec::new());
    for package in &packages {
        // What others have to say is of interest all the same.
        match build(workspace, package) {
            Ok(executables) => built.extend(executables),
            Err(error) => failures.push_str(&format!("{}: {error:#}\n", package.name)),
        }
    }
    let stage = Stage::new("wine")?;
    for program in built.iter().filter(|one| one.kind == Kind::Program) {
        stage.add_program(&program.path, &format!("{}.exe", program.name))?;
    }
    let prefix = Prefix::boot(&stage, &toolchain::folder(workspace)?)?;
    let mut skips = Skips::default();
    let (mut notes, mut passed) = (Vec::new(), 0);
    for package in packages {
        add_files(workspace, &stage, package)?;
        let mut count = 0;
        for test in built
            .iter()
            .filter(|one| one.package == package.id && one.kind != Kind::Program)
        {
            let command = command(workspace, &stage, &prefix, package, test)?;
            let captured = prefix.capture(command, LONGEST)?;
            count += passed_tests(&captured.text);
            let unknown = skips.unknown(&captured.text);
            if !captured.success || !unknown.is_empty() {
                failures.push_str(&captured.report());
                failures.push_str(&unknown);
            }
        }
        notes.push(format!("{count} of {}", package.name));
        passed += count;
    }
    failures.push_str(&skips.stale());
    let ran = passed.saturating_sub(skips.seen());
    if failures.is_empty() && ran < FEWEST {
        failures = format!("only {ran} tests ran, and at least {FEWEST} should\n");
    }
    Ok(match failures.as_str() {
        "" => Outcome::passed_with(format!(
            "{ran} tests under Wine ({}, {} known skips)",
            notes.join(", "),
            skips.seen()
        )),
        _ => Outcome::Failed(failures),
    })
}

fn build(workspace: &Workspace, package: &Package) -> Result<Vec<Executable>> {
    let mut command = toolchain::cargo(workspace, "test", WINDOWS)?;
    command
        .args(["--no-run", "--quiet", "--message-format=json"])
        .args(["--all-features", "--bins"])
        .arg(format!("--package={}", package.name));
    let wishes = package.ci_list("wine");
    if wishes.is_empty() {
        command.args(["--lib", "--tests"]);
    }
    for wish in &wishes {
        match parts(wish).0 {
            "lib" => command.arg("--lib"),
            name => command.args(["--test", name]),
        };
    }
    let mut built = executables::build(command)?;
    // Programs have unit tests too; they are the library's to run.
    let library = package.library().map(|library| library.name.as_str());
    built.retain(|one| one.kind != Kind::UnitTests || library == Some(&one.name));
    Ok(built)
}

/// The name of a test and arguments for its harness.
fn parts(wish: &str) -> (&str, &str) {
    wish.split_once(' ').unwrap_or((wish, ""))
}

/// What tests read while they run: snapshots and the like, in the folders in which they expect them.
fn add_files(workspace: &Workspace, stage: &Stage, package: &Package) -> Result<()> {
    for path in files::all(package.folder())? {
        let name = files::relative(workspace.root(), &path);
        if !name.ends_with(".rs") {
            stage.add_file(&path, &format!("{SOURCES}/{name}"))?;
        }
    }
    Ok(())
}

/// Below the stage: the part of the repository that tests read.
const SOURCES: &str = "sources";

fn command(
    workspace: &Workspace,
    stage: &Stage,
    prefix: &Prefix<'_>,
    package: &Package,
    test: &Executable,
) -> Result<Command> {
    let copy = format!("tests/{}-{}.exe", package.name, stem(&test.path));
    let mut command = prefix.wine();
    command.arg(stage.add_program(&test.path, &copy)?);
    // What a passing test says is kept back otherwise, and with it that it did not run.
    command.arg("--nocapture");
    for wish in package.ci_list("wine") {
        let (name, arguments) = parts(&wish);
        if name == test.name || (name == "lib" && test.kind == Kind::UnitTests) {
            command.args(arguments.split_whitespace());
        }
    }
    let sources = stage.root().join(SOURCES);
    let folder = files::relative(workspace.root(), package.folder());
    command
        .current_dir(sources.join(folder))
        .env("INSTA_WORKSPACE_ROOT", &sources)
        // A stale snapshot fails.
        .env("INSTA_UPDATE", "no")
        .env("PALISADE_TEST_PROGRAMS", stage.root());
    Ok(command)
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}
