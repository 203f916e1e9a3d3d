//! The helper as it is shipped: small, and linked statically.

use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) struct Built {
    pub(crate) path: PathBuf,
    pub(crate) about: &'static str,
}

/// Builds the static helper, or falls back to the one that Cargo built, and says so.
pub(crate) fn build() -> Built {
    if let Some(path) = std::env::var_os("PALISADE_TEST_RUNNER_HELPER") {
        return Built {
            path: path.into(),
            about: "given",
        };
    }
    let ours = PathBuf::from(env!("CARGO_BIN_EXE_palisade-helper"));
    match static_helper(&ours) {
        Some(path) => Built {
            path,
            about: "linked statically",
        },
        None => Built {
            path: ours,
            about: "linked dynamically: no static C library here",
        },
    }
}

fn static_helper(ours: &Path) -> Option<PathBuf> {
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let target = ours
        .ancestors()
        .find(|path| path.join("CACHEDIR.TAG").exists())?
        .join("static");
    let status = Command::new(std::env::var_os("CARGO")?)
        .args(["rustc", "--quiet", "--profile", "helper"])
        .args(["--package", "palisade-runner", "--bin", "palisade-helper"])
        .args(["--target", &triple, "--target-dir"])
        .arg(&target)
        .args([
            "--",
            "-Ctarget-feature=+crt-static",
            "-Crelocation-model=static",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    status
        .is_ok_and(|status| status.success())
        .then(|| target.join(triple).join("helper/palisade-helper"))
}
