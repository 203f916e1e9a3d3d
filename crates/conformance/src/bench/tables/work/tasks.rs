//! The tasks, with what is wanted of each.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::material::{Material, NEEDLE};
use crate::bench::Bench;
use crate::bench::ways;

/// What is done.
pub(super) struct Task<'a> {
    name: &'static str,
    kind: Kind,
    pub(super) material: &'a Material,
    /// The command line, or why there is none.
    pub(super) line: Result<Vec<OsString>, String>,
    /// Makes everything as it was before the first run.
    pub(super) prepare: fn(&Material) -> Result<()>,
    /// Whether it was really done.
    pub(super) check: fn(&Material) -> Result<()>,
    pub(super) rounds: usize,
    pub(super) seconds: u64,
}

/// What work is like, which says what it may cost.
#[derive(Clone, Copy)]
enum Kind {
    Compiles,
    OpensMuch,
    Other,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Compiles, Self::OpensMuch, Self::Other];

    const fn words(self) -> &'static str {
        match self {
            Self::Compiles => " (compiles)",
            Self::OpensMuch => " (opens much)",
            Self::Other => "",
        }
    }

    const fn limit(self) -> Option<f64> {
        match self {
            Self::Compiles => Some(1.05),
            Self::OpensMuch => Some(1.2),
            Self::Other => None,
        }
    }
}

impl Task<'_> {
    /// The words of its rows.
    pub(super) fn case(&self) -> String {
        format!("{}{}", self.name, self.kind.words())
    }
}

/// What a task with this name may cost, as a multiple of bare.
pub(super) fn limit_of(case: &str) -> Option<f64> {
    let kind = Kind::ALL
        .into_iter()
        .find(|kind| case.ends_with(kind.words()))?;
    kind.limit()
}

/// All of them.
pub(super) fn all<'a>(bench: &Bench<'_>, material: &'a Material) -> Vec<Task<'a>> {
    let nothing: fn(&Material) -> Result<()> = |_| Ok(());
    let task = |name, kind, line, rounds, seconds| Task {
        name,
        kind,
        material,
        line,
        prepare: nothing,
        check: nothing,
        rounds,
        seconds,
    };
    vec![
        Task {
            prepare: |material| remove(&material.project.join("target")),
            check: |material| exists(&material.project.join("target/debug")),
            ..task(
                "cargo check of a small crate",
                Kind::Compiles,
                cargo(bench, material),
                12,
                60,
            )
        },
        task(
            "git status on 50,000 files",
            Kind::OpensMuch,
            git(material),
            20,
            20,
        ),
        task(
            "ripgrep over 50,000 files",
            Kind::OpensMuch,
            program("rg")
                .map(|rg| words([rg, "--count".into(), NEEDLE.into(), material.tree.into()])),
            20,
            25,
        ),
        task(
            "tar of 50,000 files",
            Kind::OpensMuch,
            program("tar").map(|_| {
                // To a pipe: tar reads nothing if it sees that it writes to /dev/null.
                let script = format!("tar -cf - {} | cat >/dev/null", material.tree);
                words(["/bin/sh".into(), "-c".into(), script.into()])
            }),
            15,
            25,
        ),
        task(
            "python3 -c 'import json, http.client'",
            Kind::Other,
            program("python3")
                .map(|python| words([python, "-c".into(), "import json, http.client".into()])),
            40,
            20,
        ),
        Task {
            prepare: |material| {
                remove(&material.app)?;
                fs::create_dir_all(&material.app)?;
                fs::write(material.app.join("package.json"), "{\"private\": true}\n")?;
                Ok(())
            },
            check: |material| exists(&material.app.join("node_modules/local-package/lib/0.js")),
            ..task(
                "npm install of a local tarball",
                Kind::Other,
                npm(material),
                8,
                30,
            )
        },
    ]
}

fn cargo(bench: &Bench<'_>, material: &Material) -> Result<Vec<OsString>, String> {
    let cargo = match &bench.cargo {
        Some(cargo) => cargo.clone().into(),
        None => program("cargo")?,
    };
    // Beside it is the compiler that belongs to it.
    let beside = Path::new(&cargo).parent().unwrap_or(Path::new("/"));
    Ok(words([
        "/usr/bin/env".into(),
        "-C".into(),
        material.project.clone().into(),
        format!("PATH={}:{}", beside.display(), ways::PATH).into(),
        format!(
            "CARGO_HOME={}",
            material.workspace.join("cache/cargo").display()
        )
        .into(),
        cargo,
        "check".into(),
        "--offline".into(),
        "--quiet".into(),
    ]))
}

fn git(material: &Material) -> Result<Vec<OsString>, String> {
    material.repository.clone()?;
    let git = program("git")?;
    Ok(words([git, "status".into(), "--short".into()]))
}

fn npm(material: &Material) -> Result<Vec<OsString>, String> {
    let npm = program("npm")?;
    let cache = material.workspace.join("cache/npm");
    let options = "install --offline --no-audit --no-fund --ignore-scripts --no-update-notifier --logs-max=0 --cache";
    let start = [
        "/usr/bin/env".into(),
        "-C".into(),
        material.app.clone().into(),
        npm,
    ];
    let options = options.split(' ').map(OsString::from);
    let end = [cache.into(), material.tarball.clone().into()];
    Ok(start.into_iter().chain(options).chain(end).collect())
}

fn program(name: &str) -> Result<OsString, String> {
    let found = ways::find(name).with_context(|| format!("there is no {name} here"));
    found.map(Into::into).map_err(|error| error.to_string())
}

fn words<const N: usize>(words: [OsString; N]) -> Vec<OsString> {
    words.into()
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| path.display().to_string())
        }
        _ => Ok(()),
    }
}

fn exists(path: &Path) -> Result<()> {
    anyhow::ensure!(path.exists(), "{} was not made", path.display());
    Ok(())
}
