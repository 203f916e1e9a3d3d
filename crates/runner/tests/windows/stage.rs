//! A directory, a host, and commands that are acts of this program.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use palisade_policy::{
    CanonicalSandboxPolicy, CommandSpec, Environment, HostFacts, Os, SandboxType, WorkspaceRoot,
};
use palisade_runner::host::Host;
use palisade_runner::launch::{self, Driver, Launch, Placed};
use palisade_runner::outcome::Finished;
use palisade_runner::supervise::Timing;

use super::acts::ACT;

/// Longer than anything here takes, on a machine that does much else.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// How long the streams of a command that ended are waited for.
pub(crate) const PATIENT: Duration = Duration::from_secs(20);

/// Both ways of waiting.
pub(crate) const DRIVERS: [Driver; 2] = [Driver::Blocking, Driver::Tokio];

/// A directory of its own, removed at the end.
pub(crate) struct Stage {
    directory: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("palisade-").tempdir();
        Self {
            directory: directory.unwrap(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// An act of this program, here.
    pub(crate) fn act<A: AsRef<OsStr>>(&self, act: &str, arguments: &[A]) -> CommandSpec {
        self.act_of(&own(), act, arguments)
    }

    /// The same of a copy.
    pub(crate) fn act_of<A: AsRef<OsStr>>(
        &self,
        program: &Path,
        act: &str,
        arguments: &[A],
    ) -> CommandSpec {
        let rest = arguments
            .iter()
            .map(|argument| argument.as_ref().to_owned());
        CommandSpec::new(program)
            .with_args([ACT.into(), act.into()].into_iter().chain(rest))
            .with_cwd(self.path())
            .with_env(environment())
    }

    /// A place without a sandbox.
    pub(crate) fn bare(&self) -> Placed {
        let root = WorkspaceRoot::new(self.path()).unwrap();
        Placed::new(
            SandboxType::None,
            CanonicalSandboxPolicy::full_access(),
            root,
        )
    }

    /// Runs it, and waits for its streams for as long as a busy machine may take, unless the launch says otherwise: a
    /// stream that somebody else has is open for longer than this.
    pub(crate) fn run(&self, mut launch: Launch, driver: Driver) -> Finished {
        if launch.timing == Timing::default() {
            launch.timing = launch.timing.with_drain(PATIENT);
        }
        let host = Host::new(HostFacts::new(Os::Windows));
        block_on(launch::run(&host, &self.bare(), launch, driver))
    }
}

/// This program.
pub(crate) fn own() -> PathBuf {
    std::env::current_exe().unwrap()
}

/// What programs need of the environment here.
pub(crate) fn environment() -> Environment {
    ["SystemRoot", "SystemDrive", "TEMP", "TMP"]
        .into_iter()
        .filter_map(|name| Some((name.into(), std::env::var_os(name)?)))
        .collect()
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// Whether somebody has a file that nobody else can open.
pub(crate) fn is_held(file: &Path) -> bool {
    let opened = OpenOptions::new().read(true).write(true).open(file);
    match opened {
        Ok(_) => false,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Waits for something to come true.
pub(crate) fn until(what: &str, mut check: impl FnMut() -> bool) {
    let started = Instant::now();
    while !check() {
        assert!(started.elapsed() < SOON, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
