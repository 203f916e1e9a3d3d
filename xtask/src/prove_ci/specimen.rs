//! The clone that is broken: a throwaway copy of `HEAD` with ways to edit it, to run CI in it and to take edits back.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::files;
use crate::process::{self, Captured};
use crate::workspace::Workspace;

pub(super) struct Specimen {
    root: PathBuf,
    /// Shared by all runs and kept between them: only what was edited is built again.
    target: PathBuf,
}

impl Specimen {
    pub(super) fn make(workspace: &Workspace) -> Result<Self> {
        let folder = workspace.metadata()?.target_directory.join("prove-ci");
        let specimen = Self {
            root: folder.join("clone"),
            target: folder.join("target"),
        };
        if specimen.root.exists() {
            fs::remove_dir_all(&specimen.root).context("cannot remove the previous clone")?;
        }
        let mut command = Command::new("git");
        // HEAD itself, not a branch: it may be detached, or that of a linked worktree.
        command
            .args(["clone", "--quiet", "--no-checkout"])
            .arg(workspace.root())
            .arg(&specimen.root);
        succeed(command)?;
        let head = git(workspace.root(), &["rev-parse", "HEAD"])?;
        git(
            &specimen.root,
            &["checkout", "--quiet", "--detach", head.trim()],
        )?;
        Ok(specimen)
    }

    /// Runs `cargo xtask ci` as the clone has it, with these steps only.
    pub(super) fn ci(&self, steps: &[&str]) -> Result<Captured> {
        self.xtask("ci", steps)
    }

    /// Runs one part of a step that is also a command of its own.
    pub(super) fn part_of(&self, command: &str, part: &str) -> Result<Captured> {
        self.xtask(command, &[part])
    }

    fn xtask(&self, name: &str, only: &[&str]) -> Result<Captured> {
        let mut command = process::cargo();
        command
            .args(["xtask", name])
            .args(only.iter().flat_map(|step| ["--only", step]))
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target);
        process::capture(command)
    }

    /// Takes every edit back, ignored files included.
    pub(super) fn restore(&self) -> Result<()> {
        git(&self.root, &["checkout", "--quiet", "--", "."])?;
        git(&self.root, &["clean", "-xdf", "--quiet"])?;
        Ok(())
    }

    pub(super) fn append(&self, path: &str, text: &str) -> Result<()> {
        let before = self.read(path)?;
        self.write(path, &format!("{before}{text}"))
    }

    pub(super) fn replace(&self, path: &str, from: &str, to: &str) -> Result<()> {
        let before = self.read(path)?;
        if !before.contains(from) {
            bail!("{path} does not contain `{from}`");
        }
        self.write(path, &before.replacen(from, to, 1))
    }

    pub(super) fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.root.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// The first file under a folder whose name ends like this.
    pub(super) fn first_file(&self, folder: &str, ending: &str) -> Result<String> {
        let missing = || format!("no file `{folder}/**{ending}`");
        let folder = self.root.join(folder);
        if !folder.is_dir() {
            bail!(missing());
        }
        let names = files::all(&folder)?
            .into_iter()
            .map(|path| files::relative(&self.root, &path));
        names
            .into_iter()
            .find(|name| name.ends_with(ending))
            .with_context(missing)
    }

    fn read(&self, path: &str) -> Result<String> {
        // The name from the root is enough: the message is for a table.
        fs::read_to_string(self.root.join(path)).with_context(|| format!("cannot read {path}"))
    }
}

fn git(folder: &Path, args: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    command.current_dir(folder).args(args);
    succeed(command)
}

fn succeed(command: Command) -> Result<String> {
    let captured = process::capture(command)?;
    if captured.success {
        Ok(captured.text)
    } else {
        bail!("{}", captured.report())
    }
}
