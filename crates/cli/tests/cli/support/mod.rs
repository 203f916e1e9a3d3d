//! A house for each test: a home directory with a project in it, and nothing of the machine's own configuration.

mod sys;
#[cfg(unix)]
pub(crate) mod terminal;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A home directory that goes away with the test, and `project` in it, which is a git repository.
pub(crate) struct House {
    directory: TempDir,
}

/// What a command said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl House {
    pub(crate) fn new() -> Self {
        sys::signals_as_ever();
        // Not in /tmp, which is private in a sandbox.
        let directory = tempfile::Builder::new()
            .prefix("palisade-cli-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let house = Self { directory };
        fs::create_dir_all(house.project()).unwrap();
        house.git(["init", "--quiet", "--initial-branch=main"]);
        house
    }

    pub(crate) fn home(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    /// The text of a file of the project.
    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.project().join(file)).unwrap()
    }

    /// Writes a file below home, and the directories to it.
    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.home().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The program, in the project, with a clean environment and nothing to read.
    pub(crate) fn palisade(&self) -> Command {
        let program = std::env::var_os("PALISADE_TEST_CLI")
            .unwrap_or_else(|| env!("CARGO_BIN_EXE_palisade").into());
        self.command(program)
    }

    /// Some other program, in the same way.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.project())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null());
        command
    }

    /// Runs the program and waits for its end.
    pub(crate) fn say<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Said {
        Said::of(self.palisade().args(arguments).output().unwrap())
    }

    /// Runs git in the project, outside every sandbox.
    pub(crate) fn git<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> String {
        let output = self
            .command("git")
            .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Said {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
