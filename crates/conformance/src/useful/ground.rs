//! Where commands run: for each a home with a project in it, at the same path outside and inside, as new each time.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use anyhow::{Context as _, Result, bail};

use super::list::Ecosystem;

/// The identity that git knows people by.
const GIT_CONFIG: &str = "[user]\n\tname = Dev\n\temail = dev@example.invalid\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n";

/// The folder of all; it is removed with this.
#[derive(Debug)]
pub struct Ground {
    root: PathBuf,
}

/// One place in it.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The user's home.
    pub home: PathBuf,
    /// The project in it.
    pub project: PathBuf,
    /// For what belongs to the subject.
    pub scratch: PathBuf,
}

impl Ground {
    /// A new folder.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(purpose: &str) -> Result<Self> {
        // Not in /tmp, which is private in a sandbox.
        let root = PathBuf::from(format!(
            "/var/tmp/palisade-{purpose}-{}",
            std::process::id()
        ));
        fs::create_dir(&root).with_context(|| format!("cannot make {}", root.display()))?;
        fs::set_permissions(&root, Permissions::from_mode(0o755))?;
        Ok(Self { root })
    }

    /// A home as an ecosystem's commands find it.
    ///
    /// # Errors
    /// It cannot be filled.
    pub fn template(&self, ecosystem: &Ecosystem) -> Result<PathBuf> {
        self.filled(&ecosystem.name, &ecosystem.before)
    }

    /// A home with a project that a script has filled.
    ///
    /// # Errors
    /// It cannot be filled.
    pub fn filled(&self, name: &str, script: &str) -> Result<PathBuf> {
        let home = self.root.join("templates").join(name);
        fill(&home, script).with_context(|| name.to_owned())?;
        Ok(home)
    }

    /// A place with a home that is a copy of a template. What was there before is gone.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn fresh(&self, name: &str, template: &Path) -> Result<Slot> {
        let slot = self.root.join(name);
        if slot.exists() {
            remove(&slot)?;
        }
        fs::create_dir_all(slot.join("scratch"))?;
        let home = slot.join("home");
        let copied = Process::new("cp")
            .arg("-a")
            .args([template, &home])
            .status();
        if !copied.context("cp")?.success() {
            bail!("cannot copy {}", template.display());
        }
        Ok(Slot {
            project: home.join("project"),
            scratch: slot.join("scratch"),
            home,
        })
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = remove(&self.root);
    }
}

/// Also what a command has closed to its owner.
fn remove(path: &Path) -> Result<()> {
    if fs::remove_dir_all(path).is_err() {
        let _ = Process::new("chmod")
            .args(["-R", "u+rwX"])
            .arg(path)
            .status();
        fs::remove_dir_all(path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    Ok(())
}

/// Makes a home and a project in it, and lets a script fill the project.
fn fill(home: &Path, script: &str) -> Result<()> {
    let project = home.join("project");
    fs::create_dir_all(&project)?;
    fs::write(home.join(".gitconfig"), GIT_CONFIG)?;
    let output = Process::new("bash")
        .args(["-euc", script])
        .current_dir(&project)
        .env_clear()
        .envs(environment(home))
        .stdin(Stdio::null())
        .output()
        .context("bash")?;
    if !output.status.success() {
        bail!(
            "cannot be laid out: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}

/// The environment of a person's shell, as far as commands need it.
#[must_use]
pub fn environment(home: &Path) -> Vec<(OsString, OsString)> {
    vec![
        ("PATH".into(), super::PATH.into()),
        ("HOME".into(), home.into()),
        ("LANG".into(), "C.UTF-8".into()),
        ("TERM".into(), "dumb".into()),
        ("SHELL".into(), "/bin/bash".into()),
        ("USER".into(), user().into()),
    ]
}

fn user() -> &'static str {
    match rustix::process::getuid().is_root() {
        true => "root",
        false => "nobody",
    }
}
