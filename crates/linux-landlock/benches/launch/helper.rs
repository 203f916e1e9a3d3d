//! The helper as it is shipped: linked statically, because loading shared libraries would cost more than the sandbox.

use std::path::PathBuf;
use std::process::Command;

use palisade_linux_landlock::Helper;

pub(crate) struct Built {
    pub(crate) helper: Helper,
    pub(crate) about: &'static str,
}

/// Builds the static helper, or falls back to the one that Cargo built, and says so.
pub(crate) fn build() -> Built {
    if let Some(path) = std::env::var_os("PALISADE_TEST_HELPER") {
        return Built {
            helper: Helper::new(path),
            about: "given",
        };
    }
    let ours = PathBuf::from(env!("CARGO_BIN_EXE_palisade-linux-sandbox"));
    static_helper(&ours).map_or_else(
        || Built {
            helper: Helper::new(&ours),
            about: "linked dynamically: no static C library here",
        },
        |path| Built {
            helper: Helper::new(path),
            about: "linked statically",
        },
    )
}

fn static_helper(ours: &std::path::Path) -> Option<PathBuf> {
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let target = ours
        .ancestors()
        .find(|path| path.join("CACHEDIR.TAG").exists())?
        .join("static");
    let status = Command::new(std::env::var_os("CARGO")?)
        .args([
            "rustc",
            "--quiet",
            "--profile",
            "helper",
            "--package",
            "palisade-linux-landlock",
        ])
        .args([
            "--bin",
            "palisade-linux-sandbox",
            "--target",
            &triple,
            "--target-dir",
        ])
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
        .then(|| target.join(triple).join("helper/palisade-linux-sandbox"))
}
