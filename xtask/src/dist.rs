//! `cargo xtask dist`: the programs as they ship for Linux.
//!
//! Both are linked statically, at a fixed address: whoever types `palisade run` waits until it is loaded, twice, because the
//! program is its own helper, and loading a C library takes longer than most of what follows.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::executables::{self, Kind};
use crate::workspace::Workspace;

/// The profile that the command ships with.
pub(crate) const PROFILE: &str = "release";

/// A program that ships.
pub(crate) struct Shipped {
    /// Its package and its own name.
    pub(crate) names: [&'static str; 2],
    profile: &'static str,
    /// Whether it has to know names and users.
    asks: bool,
}

pub(crate) const SHIPPED: [Shipped; 2] = [
    Shipped {
        names: ["palisade-cli", "palisade"],
        profile: PROFILE,
        asks: true,
    },
    Shipped {
        names: ["palisade-linux-landlock", "palisade-linux-sandbox"],
        profile: "helper",
        asks: false,
    },
];

/// A program that was built.
pub(crate) struct Built {
    pub(crate) name: &'static str,
    pub(crate) path: PathBuf,
}

/// Builds what ships and says where it is.
pub(crate) fn run(workspace: &Workspace) -> Result<bool> {
    for built in build(workspace)? {
        println!("{}", built.path.display());
    }
    Ok(true)
}

/// Builds what ships.
pub(crate) fn build(workspace: &Workspace) -> Result<Vec<Built>> {
    let built = SHIPPED.iter().map(|shipped| {
        let [package, name] = shipped.names;
        let path = match linked(workspace, shipped, Linked::Statically) {
            Ok(path) => path,
            Err(why) => {
                println!("{package} cannot be linked statically here, and is slower: {why:#}");
                linked(workspace, shipped, Linked::AsUsual)?
            }
        };
        Ok(Built { name, path })
    });
    built.collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Linked {
    Statically,
    AsUsual,
}

fn linked(workspace: &Workspace, shipped: &Shipped, how: Linked) -> Result<PathBuf> {
    let [package, name] = shipped.names;
    let mut command = workspace.cargo(&["build", "--message-format=json"]);
    command.args(["--profile", shipped.profile, "--package", package]);
    command.args(["--bin", name]);
    if how == Linked::Statically {
        // With a target of its own, so that nothing which only helps to build is linked like this; and a directory of its
        // own: other flags would build everything anew each time.
        let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        command.args(["--target", &triple, "--target-dir"]);
        command.arg(workspace.path("target/static"));
        // Not after `--`, where they would be for the last crate only: the others have to know as well.
        let flags = r#"["-Ctarget-feature=+crt-static", "-Crelocation-model=static"]"#;
        command.arg("--config");
        command.arg(format!("target.{triple}.rustflags={flags}"));
    }
    let built = executables::build(command)?;
    let found = built
        .into_iter()
        .find(|one| one.kind == Kind::Program && one.name == name);
    let found = found.with_context(|| format!("Cargo did not say where {name} is"))?;
    if how == Linked::Statically && shipped.asks && !asks(&found.path)? {
        bail!("it would load modules of another C library for names and users");
    }
    Ok(found.path)
}

/// Whether a program knows the system's own program for names and users.
fn asks(program: &Path) -> Result<bool> {
    let bytes = std::fs::read(program).with_context(|| program.display().to_string())?;
    let mut places = bytes.windows(GETENT.len());
    Ok(places.any(|place| place == GETENT))
}

const GETENT: &[u8] = b"/usr/bin/getent";
