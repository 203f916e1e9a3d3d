//! Step `unprivileged`: what root has tested passes for an ordinary user too, because users are not root.
//!
//! Cargo builds where an ordinary user may not look, so the test programs that a package lists under
//! `[package.metadata.ci] unprivileged` are copied to a folder that everybody can read, together with the programs of
//! the same packages, and run there.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::Outcome;
use super::testing::passed_tests;
use crate::process;
use crate::workspace::{Package, Workspace};

/// The user and group `nobody`, as on every Linux.
const NOBODY: u32 = 65_534;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    if !is_root()? {
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
    let stage = Stage::new()?;
    let mut passed = 0;
    let mut failures = String::new();
    for program in built.iter().filter(|program| program.is_program) {
        stage.add(program)?;
    }
    for package in packages {
        for wish in wanted(package) {
            let (name, arguments) = wish.split_once(' ').unwrap_or((&wish, ""));
            let program = built
                .iter()
                .find(|program| {
                    !program.is_program && program.name == name && program.package == package.id
                })
                .with_context(|| format!("{} has no test `{name}`", package.name))?;
            let captured = process::capture(stage.command(&stage.add(program)?, arguments))?;
            let count = passed_tests(&captured.text);
            // A test that says so is one that did not run.
            let skipped = captured
                .text
                .lines()
                .any(|line| line.trim_start().starts_with("skipped: "));
            if !captured.success
                || count == 0
                || (skipped
                    && super::Strictness::from_environment() == super::Strictness::SkipsFail)
            {
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

fn is_root() -> Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(fs::metadata("/proc/self").context("/proc")?.uid() == 0)
}

/// The tests of a package that an ordinary user runs too, each with arguments for its harness.
fn wanted(package: &Package) -> Vec<String> {
    package.ci_list("unprivileged")
}

/// Something that Cargo built.
struct Built {
    package: String,
    name: String,
    path: PathBuf,
    is_program: bool,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    package_id: String,
    target: Option<crate::workspace::Target>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

fn build(workspace: &Workspace, packages: &[&Package]) -> Result<Vec<Built>> {
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
    let output = command.output().context("cargo test --no-run")?;
    if !output.status.success() {
        bail!(
            "the tests do not compile:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let mut built = Vec::new();
    for line in output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| line.starts_with(b"{"))
    {
        let message: Message = serde_json::from_slice(line).context("a message of Cargo")?;
        let Message {
            package_id: package,
            target: Some(target),
            profile: Some(profile),
            executable: Some(path),
        } = message
        else {
            continue;
        };
        // A program is built twice: as itself, and as a harness for its own unit tests.
        let is_program = target.is("bin") && !profile.test;
        if is_program || (target.is("test") && profile.test) {
            built.push(Built {
                package,
                name: target.name,
                path,
                is_program,
            });
        }
    }
    Ok(built)
}

/// A folder that everybody can read, with a home that belongs to nobody. It is removed when this is dropped.
struct Stage {
    root: PathBuf,
}

impl Stage {
    fn new() -> Result<Self> {
        let root = PathBuf::from(format!("/var/tmp/palisade-ci-{}", std::process::id()));
        fs::create_dir(&root).with_context(|| format!("cannot make {}", root.display()))?;
        let stage = Self { root };
        fs::set_permissions(&stage.root, Permissions::from_mode(0o755))?;
        let home = stage.home();
        fs::create_dir(&home)?;
        chown(&home, Some(NOBODY), Some(NOBODY))?;
        Ok(stage)
    }

    fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    fn add(&self, program: &Built) -> Result<PathBuf> {
        let name = if program.is_program {
            program.name.clone()
        } else {
            format!("test-{}", program.name)
        };
        let copy = self.root.join(name);
        fs::copy(&program.path, &copy)
            .with_context(|| format!("cannot copy {}", program.path.display()))?;
        fs::set_permissions(&copy, Permissions::from_mode(0o755))?;
        Ok(copy)
    }

    fn command(&self, program: &Path, arguments: &str) -> Command {
        let mut command = Command::new("setpriv");
        let number = NOBODY.to_string();
        command
            .args([
                "--reuid",
                &number,
                "--regid",
                &number,
                "--clear-groups",
                "--inh-caps=-all",
            ])
            .arg(program)
            // What a passing test says is kept back otherwise, and with it that it did not run.
            .arg("--nocapture")
            .args(arguments.split_whitespace())
            .current_dir("/")
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.home())
            .env("PROPTEST_RNG_SEED", "20261116")
            .env(
                "PALISADE_TEST_HELPER",
                self.root.join("palisade-linux-sandbox"),
            )
            .env(
                "PALISADE_TEST_RUNNER_HELPER",
                self.root.join("palisade-helper"),
            )
            // Root has run the whole of it.
            .env("PALISADE_TEST_LOAD_SEQUENCE", "2000")
            .env("PALISADE_TEST_PROBE", self.root.join("palisade-probe"));
        if let Some(strict) = std::env::var_os("PALISADE_CI_STRICT") {
            command.env("PALISADE_CI_STRICT", strict);
        }
        command
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
