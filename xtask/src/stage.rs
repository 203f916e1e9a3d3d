//! A folder that everybody can read, in which an ordinary user runs what root has built.
//!
//! Cargo builds where an ordinary user may not look, so programs are copied to where they can be.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// The user and group `nobody`, as on every Linux.
pub(crate) const NOBODY: u32 = 65_534;

pub(crate) fn is_root() -> Result<bool> {
    Ok(fs::metadata("/proc/self").context("/proc")?.uid() == 0)
}

/// The folder, with a home for the user who runs in it. It is removed when this is dropped.
pub(crate) struct Stage {
    root: PathBuf,
    /// Whether root has built it for somebody else.
    for_nobody: bool,
}

impl Stage {
    /// `purpose` makes its name one of its own, also if another stage of this process is up.
    pub(crate) fn new(purpose: &str) -> Result<Self> {
        let name = format!("/var/tmp/palisade-{purpose}-{}", std::process::id());
        let root = PathBuf::from(name);
        fs::create_dir(&root).with_context(|| format!("cannot make {}", root.display()))?;
        let stage = Self {
            root,
            for_nobody: is_root()?,
        };
        fs::set_permissions(&stage.root, Permissions::from_mode(0o755))?;
        stage.give_folder("home")?;
        Ok(stage)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Makes a folder that belongs to the user who runs here.
    pub(crate) fn give_folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.root.join(name);
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        if self.for_nobody {
            chown(&folder, Some(NOBODY), Some(NOBODY))
                .with_context(|| format!("cannot give {} away", folder.display()))?;
        }
        Ok(folder)
    }

    /// Copies a program and says where it is now.
    pub(crate) fn add_program(&self, program: &Path, name: &str) -> Result<PathBuf> {
        self.copy(program, name, 0o755)
    }

    /// Copies a file to the same place below this folder as it has below another.
    pub(crate) fn add_file(&self, file: &Path, name: &str) -> Result<PathBuf> {
        self.copy(file, name, 0o644)
    }

    fn copy(&self, from: &Path, name: &str, mode: u32) -> Result<PathBuf> {
        let copy = self.root.join(name);
        if let Some(folder) = copy.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        fs::copy(from, &copy).with_context(|| format!("cannot copy {}", from.display()))?;
        fs::set_permissions(&copy, Permissions::from_mode(mode))?;
        Ok(copy)
    }

    /// Starts a program as an ordinary user with an environment that has only what every program needs.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = if self.for_nobody {
            let number = NOBODY.to_string();
            let mut command = Command::new("setpriv");
            command
                .args(["--reuid", &number, "--regid", &number])
                .args(["--clear-groups", "--inh-caps=-all"])
                .arg(program);
            command
        } else {
            Command::new(program)
        };
        command
            .current_dir("/")
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.home())
            .env("PROPTEST_RNG_SEED", "20261116");
        if let Some(strict) = std::env::var_os("PALISADE_CI_STRICT") {
            command.env("PALISADE_CI_STRICT", strict);
        }
        command
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
