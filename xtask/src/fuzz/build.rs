//! Building the targets: every crate instrumented, so that libFuzzer sees where an input leads.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::workspace::Workspace;

/// The package that holds the targets.
const PACKAGE: &str = "palisade-fuzz";

/// What libFuzzer needs: counters and comparisons that its C++ part reads. They are inserted by a pass that every compiler
/// has, so that the pinned toolchain will do.
const COVERAGE: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "--cfg fuzzing",
];

/// What a nightly compiler adds: somebody who watches every access to memory. No target calls unsafe code of ours, so this
/// is about the crates that they depend on, and it takes half of the speed.
const ADDRESS: &str = "-Zsanitizer=address";

/// Every target, in the order of their names.
pub(super) fn targets(workspace: &Workspace) -> Result<Vec<String>> {
    let manifest = workspace
        .fuzz_manifest()
        .context("there is no fuzz/Cargo.toml")?;
    let metadata = workspace.metadata_of(manifest)?;
    let package = metadata
        .packages
        .iter()
        .find(|package| package.name == PACKAGE)
        .with_context(|| format!("{manifest} has no package {PACKAGE}"))?;
    let binaries = package.targets.iter().filter(|target| target.is("bin"));
    let mut names: Vec<String> = binaries.map(|target| target.name.clone()).collect();
    names.sort();
    Ok(names)
}

/// Targets that are ready to run.
pub(super) struct Built {
    folder: PathBuf,
}

impl Built {
    /// Builds targets with the profile of tests, which notices overflows and failed debug assertions.
    pub(super) fn new(workspace: &Workspace, targets: &[String], address: bool) -> Result<Self> {
        let manifest = workspace
            .fuzz_manifest()
            .context("there is no fuzz/Cargo.toml")?;
        let host = host(address)?;
        // Different flags would build everything anew each time.
        let folder = if address { "fuzz-address" } else { "fuzz" };
        let target_dir = workspace.metadata()?.target_directory.join(folder);
        let mut flags = COVERAGE.to_vec();
        flags.extend(address.then_some(ADDRESS));
        let mut command = tool("cargo", address);
        command
            .current_dir(workspace.root())
            .args(["build", "--manifest-path", manifest])
            // With a target, what only runs while building is not instrumented.
            .args(["--target", &host])
            .arg("--target-dir")
            .arg(&target_dir)
            .env("CARGO_TERM_COLOR", "never")
            .env("RUSTFLAGS", flags.join(" "));
        for target in targets {
            command.args(["--bin", target]);
        }
        println!("building {} targets", targets.len());
        let captured = process::capture(command)?;
        if !captured.success {
            bail!("the targets do not build\n{}", captured.report());
        }
        let folder = target_dir.join(host).join("debug");
        Ok(Self { folder })
    }

    /// The program of a target.
    pub(super) fn program(&self, target: &str) -> PathBuf {
        self.folder.join(target)
    }
}

/// A tool of the pinned toolchain, or of nightly, which is told nothing that the pinned one told its children.
fn tool(name: &str, nightly: bool) -> Command {
    if !nightly {
        return match name {
            "cargo" => process::cargo(),
            _ => Command::new(name),
        };
    }
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", name]);
    for name in [
        "CARGO",
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC",
        "RUSTDOC",
        "RUSTUP_TOOLCHAIN",
    ] {
        command.env_remove(name);
    }
    command
}

/// The system that the compiler is for.
fn host(nightly: bool) -> Result<String> {
    let mut command = tool("rustc", nightly);
    command.arg("-vV");
    let help = if nightly {
        "the address sanitizer needs a nightly compiler: `rustup toolchain install nightly --profile minimal`"
    } else {
        "there is no rustc"
    };
    let captured = process::capture(command).context(help)?;
    if !captured.success {
        bail!("{help}\n{}", captured.text.trim_end());
    }
    host_of(&captured.text).context("rustc does not say what it is for")
}

fn host_of(version: &str) -> Option<String> {
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))?;
    Some(host.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_what_the_compiler_says() {
        let version = "rustc 1.97.0-nightly\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\n";
        assert_eq!(
            host_of(version).as_deref(),
            Some("x86_64-unknown-linux-gnu")
        );
        assert_eq!(host_of("rustc 1.97.0"), None);
    }
}
