//! A bench for real tools: where each is on this machine, and a short way to run a script with them.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command as HostCommand;

use palisade_linux_landlock::{Command, Session, Tier};
use palisade_policy::{CanonicalSandboxPolicy, GitAccess, PathRules};

use crate::support::{Output, Stage, run};

/// Where Debian puts programs. The test's own search path may lead to places that only its user can read.
const PATH: &str = "/usr/bin:/bin:/usr/local/bin:/usr/sbin:/sbin";

/// The tools that are missing here are named in the output, and the test does not go on.
pub(crate) fn all_installed(programs: &[&str]) -> bool {
    programs.iter().all(|program| {
        let there = find(program).is_some();
        if !there {
            println!("skipped: {program} is not installed");
        }
        there
    })
}

/// Whether Python can make virtual environments with pip; Debian has that in a package of its own.
pub(crate) fn has_venv() -> bool {
    if !all_installed(&["python3"]) {
        return false;
    }
    let imported = find("python3").is_some_and(|python| {
        HostCommand::new(python)
            .args(["-c", "import ensurepip, venv"])
            .output()
            .is_ok_and(|output| output.status.success())
    });
    if !imported {
        println!("skipped: python3 has no ensurepip");
    }
    imported
}

/// A program of the system.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    PATH.split(':')
        .map(|directory| Path::new(directory).join(program))
        .find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
        && path.metadata().is_ok_and(|found| found.is_file())
}

/// The directory of a cargo that this user can run without a proxy in front of it: the system's, or a toolchain's own.
pub(crate) fn toolchain() -> Option<PathBuf> {
    if find("cargo").is_some() && find("rustc").is_some() {
        return Some(PathBuf::from("/usr/bin"));
    }
    let of_rustup = |output: std::process::Output| {
        let sysroot = String::from_utf8(output.stdout).ok()?;
        Some(Path::new(sysroot.trim()).join("bin"))
    };
    let asked = HostCommand::new("rustc")
        .args(["--print", "sysroot"])
        .output();
    let in_path = std::env::var_os("PATH").unwrap_or_default();
    asked
        .ok()
        .and_then(of_rustup)
        .into_iter()
        .chain(std::env::split_paths(&in_path))
        .find(|bin| {
            // A proxy of rustup would look for its toolchains below the home of the stage.
            is_executable(&bin.join("cargo"))
                && is_executable(&bin.join("rustc"))
                && !is_executable(&bin.join("rustup"))
        })
}

/// A stage with what tools need.
pub(crate) struct Bench {
    pub(crate) stage: Stage,
    path: OsString,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self {
            stage: Stage::new(),
            path: PATH.into(),
        }
    }

    /// With a directory of programs before all others.
    pub(crate) fn with_programs(mut self, directory: &Path) -> Self {
        let mut path = directory.as_os_str().to_owned();
        path.push(":");
        path.push(&self.path);
        self.path = path;
        self
    }

    /// A session in workspace-write without network.
    pub(crate) fn session(&self, tier: Tier) -> Session {
        self.stage.session(&self.stage.workspace_write(), tier)
    }

    pub(crate) fn git(&self, access: GitAccess) -> CanonicalSandboxPolicy {
        self.stage
            .workspace_write()
            .with_paths(PathRules::default().with_git(access))
    }

    pub(crate) fn write(&self, below: &str, text: &str) {
        let path = self.stage.workspace.join(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn command<A: AsRef<OsStr>>(&self, argv: &[A]) -> Command {
        let mut env = self.stage.env();
        for (name, value) in [
            ("PATH", self.path.as_os_str()),
            ("TERM", OsStr::new("dumb")),
            ("GIT_CONFIG_NOSYSTEM", OsStr::new("1")),
        ] {
            env.insert(name.into(), value.to_owned());
        }
        Command::new(argv.iter().map(AsRef::as_ref), &self.stage.workspace).with_env(env)
    }

    pub(crate) fn try_run(&self, session: &Session, script: &str) -> Output {
        run(session, &self.command(&["/bin/bash", "-c", script])).unwrap()
    }

    /// Runs a script of which every command must succeed, and gives what it wrote.
    #[track_caller]
    pub(crate) fn run(&self, session: &Session, script: &str) -> String {
        let output = self.try_run(session, &format!("set -euo pipefail\n{script}"));
        assert!(
            output.exit.success(),
            "{:?}: {script}\n{}",
            output.exit.cause,
            output.text
        );
        output.text
    }

    /// Runs a script on the host, as whoever prepares a workspace would.
    #[track_caller]
    pub(crate) fn on_host(&self, script: &str) -> String {
        let output = HostCommand::new("/bin/bash")
            .args(["-c", &format!("set -euo pipefail\n{script}")])
            .current_dir(&self.stage.workspace)
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", &self.stage.home)
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{script}\n{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        text
    }
}

/// Every path below a directory with what is there: two of these are equal if nothing has changed.
pub(crate) fn snapshot(directory: &Path) -> Vec<String> {
    use std::os::unix::fs::MetadataExt as _;

    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(path) = left.pop() {
        let about = std::fs::symlink_metadata(&path).unwrap();
        found.push(format!(
            "{} {:o} {} {} {}.{}",
            path.display(),
            about.permissions().mode(),
            about.ino(),
            about.len(),
            about.mtime(),
            about.mtime_nsec(),
        ));
        if about.is_dir() {
            left.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
    }
    found.sort();
    found
}
