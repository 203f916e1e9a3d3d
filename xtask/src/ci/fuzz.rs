//! Step `fuzz`: the fuzz targets compile on the pinned toolchain, and every seed, those that once broke something among
//! them, goes through its target. Looking for new inputs needs nightly: `cargo xtask fuzz`.

use std::process::{Command, Stdio};

use anyhow::Result;

use super::Outcome;
use crate::process;
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let Some(manifest) = workspace.fuzz_manifest() else {
        return Ok(Outcome::Skipped("there is no fuzz/Cargo.toml".to_owned()));
    };
    if !has_cpp_compiler() {
        return Ok(Outcome::Skipped(
            "libfuzzer-sys needs a C++ compiler".to_owned(),
        ));
    }
    // Otherwise `fuzz/target` would appear, a second place to clean.
    let target_dir = workspace.metadata()?.target_directory.join("fuzz");
    let cargo = |subcommand: &str, what: &str| {
        let mut command =
            workspace.cargo(&[subcommand, "--quiet", what, "--manifest-path", manifest]);
        command.arg("--target-dir").arg(&target_dir);
        command
    };
    process::run_each([cargo("check", "--bins"), cargo("test", "--lib")])
}

fn has_cpp_compiler() -> bool {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    Command::new(compiler)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
