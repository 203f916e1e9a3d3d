//! Step `fuzz`: the fuzz targets compile on the pinned toolchain. Running them needs nightly and is done by hand.

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
    let mut command = workspace.cargo(&["check", "--quiet", "--bins", "--manifest-path", manifest]);
    // Otherwise `fuzz/target` would appear, a second place to clean.
    command
        .arg("--target-dir")
        .arg(workspace.metadata()?.target_directory.join("fuzz"));
    process::run_each([command])
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
