//! Cargo for foreign targets: the system's, with the standard library built from its sources.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::tools::{self, system};
use crate::workspace::Workspace;

/// Windows as Wine 8 can run it: programs for `x86_64-pc-windows-gnu` need functions that it does not have.
pub(super) const WINDOWS: &str = "x86_64-win7-windows-gnu";
/// Windows as its users have it. There is no linker for it here.
pub(super) const MSVC: &str = "x86_64-pc-windows-msvc";
pub(super) const MACOS: &str = "aarch64-apple-darwin";

/// Members that are for us alone: they are not built for other systems.
const OURS: &[&str] = &["palisade-conformance", "palisade-probes", "xtask"];

/// The system's `cargo COMMAND` for this target. Targets share one folder, so that each builds `std` once.
pub(super) fn cargo(workspace: &Workspace, command: &str, target: &str) -> Result<Command> {
    let folder = folder(workspace)?;
    let mut cargo = Command::new(system("cargo"));
    cargo
        .current_dir(workspace.root())
        .args([command, "--locked", "-Zbuild-std", "--target", target])
        .env("CARGO_TERM_COLOR", "never")
        .env("CARGO_TARGET_DIR", &folder)
        .env("PATH", tools::search_path())
        // By their full names: where rustup is installed, clippy and rustdoc would find its compiler instead.
        .env("CARGO", system("cargo"))
        .env("RUSTC", system("rustc"))
        .env("RUSTDOC", system("rustdoc"))
        // The standard library is ours to build only with this.
        .env("RUSTC_BOOTSTRAP", "1");
    for name in [
        "LD_LIBRARY_PATH",
        "RUSTC_WRAPPER",
        "RUSTFLAGS",
        "RUSTUP_TOOLCHAIN",
    ] {
        cargo.env_remove(name);
    }
    // Some dependencies bring a little C and assembly.
    match target {
        MACOS => {
            cargo
                .env(variable("CC", target), tools::clang().unwrap_or_default())
                // There are no headers of macOS here, only the compiler's own.
                .env(variable("CFLAGS", target), "-ffreestanding");
        }
        MSVC => {
            cargo
                .env(variable("CC", target), tools::MINGW)
                .env(variable("AR", target), archiver(&folder)?);
        }
        _ => {}
    }
    Ok(cargo)
}

/// The name of a variable that build scripts read for one target.
fn variable(name: &str, target: &str) -> String {
    format!("{name}_{}", target.replace('-', "_"))
}

/// An archiver that is spoken to like Microsoft's, which is what build scripts do for its target, and is another.
fn archiver(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("lib-by-ar");
    if !path.is_file() {
        let script = format!(
            "#!/bin/sh\narchive=${{1#-out:}}\nshift 2\nexec {} crs \"$archive\" \"$@\"\n",
            tools::MINGW.replace("gcc", "ar")
        );
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, script))
            .and_then(|()| fs::set_permissions(&path, Permissions::from_mode(0o755)))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(path)
}

pub(super) fn folder(workspace: &Workspace) -> Result<PathBuf> {
    Ok(workspace.metadata()?.target_directory.join("cross"))
}

/// `--package` for every member that is for others.
pub(super) fn shipped(workspace: &Workspace) -> Result<Vec<String>> {
    let names = workspace.metadata()?.members().map(|package| &package.name);
    Ok(names
        .filter(|name| !OURS.contains(&name.as_str()))
        .map(|name| format!("--package={name}"))
        .collect())
}
