//! What is worked on: a repository of many files, a crate, a package.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::PATIENCE;
use crate::bench::bare;
use crate::bench::stage::{Stage, write};
use crate::bench::ways::environment;

/// Files of the repository, so many directories of so many.
const DIRECTORIES: usize = 500;
const FILES_IN_EACH: usize = 100;
/// What a search looks for; one file of each directory has it.
pub(super) const NEEDLE: &str = "needle_in_the_haystack";

/// Everything is in the workspace, which is the repository.
pub(super) struct Material {
    pub(super) workspace: PathBuf,
    /// Below the workspace: the many files.
    pub(super) tree: &'static str,
    /// Below the workspace: a crate without dependencies.
    pub(super) project: PathBuf,
    /// Below the workspace: where a package is installed, and its tarball.
    pub(super) app: PathBuf,
    pub(super) tarball: PathBuf,
    /// Why there is no repository, if there is none.
    pub(super) repository: Result<(), String>,
}

impl Material {
    pub(super) fn make(stage: &Stage) -> Result<Self> {
        let workspace = stage.workspace.clone();
        let material = Self {
            tree: "files",
            project: workspace.join("crate"),
            app: workspace.join("app"),
            tarball: workspace.join("package.tgz"),
            repository: Ok(()),
            workspace,
        };
        write(
            &material.workspace.join(".gitignore"),
            "/crate\n/app\n/package\n/package.tgz\n/cache\n.env\n",
        )?;
        material.files()?;
        material.sources()?;
        material.package(stage)?;
        let repository = material.repository(stage);
        Ok(Self {
            repository: repository.map_err(|error| format!("{error:#}")),
            ..material
        })
    }

    fn files(&self) -> Result<()> {
        for directory in 0..DIRECTORIES {
            let path = self
                .workspace
                .join(self.tree)
                .join(format!("{:02}", directory / 25))
                .join(format!("{directory:03}"));
            fs::create_dir_all(&path)?;
            for file in 0..FILES_IN_EACH {
                let mut text = format!("// {file}\n").repeat(20);
                if file == 0 {
                    text.push_str(NEEDLE);
                }
                fs::write(path.join(format!("file-{file:02}.txt")), text)?;
            }
        }
        Ok(())
    }

    /// A crate whose check takes about as long as that of a small one that people write.
    fn sources(&self) -> Result<()> {
        const MODULES: usize = 5;
        let mut root = String::new();
        for module in 0..MODULES {
            writeln!(root, "pub mod part{module};")?;
            let mut text = String::from("use std::collections::BTreeMap;\nuse std::fmt;\n");
            for item in 0..12 {
                text.push_str(&ITEM.replace('@', &format!("{module}x{item}")));
            }
            write(&self.project.join(format!("src/part{module}.rs")), text)?;
        }
        write(&self.project.join("src/lib.rs"), root)?;
        let manifest =
            "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
        write(&self.project.join("Cargo.toml"), manifest)
    }

    fn package(&self, stage: &Stage) -> Result<()> {
        let package = self.workspace.join("package");
        write(
            &package.join("package.json"),
            "{\"name\": \"local-package\", \"version\": \"1.0.0\", \"main\": \"lib/0.js\"}\n",
        )?;
        for file in 0..200 {
            let text = format!("module.exports = {file};\n").repeat(10);
            write(&package.join(format!("lib/{file}.js")), text)?;
        }
        fs::create_dir_all(&self.app)?;
        let mut tar = bare::quiet("tar", &self.workspace);
        tar.envs(environment(stage))
            .args(["-czf", "package.tgz", "package"]);
        bare::run(&mut tar, PATIENCE).context("tar")
    }

    fn repository(&self, stage: &Stage) -> Result<()> {
        fs::remove_dir_all(self.workspace.join(".git"))?;
        for line in [
            "init --quiet --initial-branch=main",
            "add --all",
            "-c commit.gpgsign=false commit --quiet --message=files",
            // Looks at every file once more, so that nobody who is measured has to.
            "status --short",
        ] {
            let mut git = bare::quiet("git", &self.workspace);
            git.envs(environment(stage)).args(line.split(' '));
            bare::complaint(&mut git, PATIENCE).context("git")?;
        }
        Ok(())
    }
}

/// One of many items: derived, generic and matched, as ordinary code is.
const ITEM: &str = "
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Thing@ { pub name: String, pub parts: Vec<u32>, pub next: Option<Box<Thing@>> }

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind@ { None, One(Thing@), Many { things: Vec<Thing@>, total: usize } }

impl fmt::Display for Kind@ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str(\"none\"),
            Self::One(thing) => write!(f, \"{} of {:?}\", thing.name, thing.parts),
            Self::Many { things, total } => write!(f, \"{} of {total}\", things.len()),
        }
    }
}

pub fn count@<'a>(things: impl IntoIterator<Item = &'a Thing@>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for thing in things {
        *counts.entry(thing.name.clone()).or_insert(0) += thing.parts.iter().filter(|part| **part % 2 == 0).count();
        if let Some(next) = &thing.next { counts.extend(count@(std::iter::once(&**next).collect::<Vec<_>>())); }
    }
    counts
}
";
