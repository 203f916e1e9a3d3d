//! What the tests here share: a workspace, sessions on it, both drivers.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use palisade_exec_policy::AskForApproval;
use palisade_policy::Environment;
use palisade_runner::approve::{NoPrompter, Prompter};
use palisade_runner::host::{Host, HostParts};
use palisade_runner::judge::RuleBook;
use palisade_runner::outcome::Finished;
use palisade_runner::session::{Command, Policy, Sandbox, Session, SessionOptions};

/// Far longer than anything takes, also on a machine that does much else.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// What commands run on: in a sandbox, and without.
pub(crate) const GROUNDS: [fn(&Stage) -> Policy; 2] = [Stage::confined, Stage::bare];

/// The helper that these tests start.
pub(crate) fn helper() -> PathBuf {
    std::env::var_os("PALISADE_TEST_RUNNER_HELPER").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_palisade-helper")),
        PathBuf::from,
    )
}

/// A directory of its own, removed at the end, with a workspace in it.
pub(crate) struct Stage {
    directory: tempfile::TempDir,
}

impl Stage {
    /// Outside `/tmp`, which is private in a sandbox.
    pub(crate) fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("palisade-load-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let stage = Self { directory };
        for below in ["workspace", "home"] {
            std::fs::create_dir_all(stage.path(below)).unwrap();
        }
        stage
    }

    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.directory.path().join(below)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.path("workspace")
    }

    /// This host, with the stage's home.
    pub(crate) fn host(&self) -> Host {
        host(&self.path("home"))
    }

    /// A program in the workspace, of which no rule knows anything.
    pub(crate) fn program(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;

        let path = self.workspace().join(name);
        std::fs::write(&path, format!("#!/bin/bash\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn confined(&self) -> Policy {
        Policy::workspace(self.workspace()).approval(AskForApproval::OnRequest)
    }

    /// Without a sandbox, and without a question.
    pub(crate) fn bare(&self) -> Policy {
        Policy::full_access(self.workspace()).approval(AskForApproval::OnRequest)
    }

    pub(crate) fn session(&self, policy: Policy) -> Session {
        self.session_with(policy, NoPrompter, SessionOptions::default())
    }

    pub(crate) fn session_with(
        &self,
        policy: Policy,
        prompter: impl Prompter + 'static,
        options: SessionOptions,
    ) -> Session {
        Sandbox::on(self.host(), policy)
            .unwrap()
            .session_with(RuleBook::builtin().unwrap(), prompter, options)
            .unwrap()
    }
}

pub(crate) fn host(home: &Path) -> Host {
    let mut environment = Environment::new();
    environment.insert("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into());
    environment.insert("HOME".into(), home.into());
    let parts = HostParts::look().with_environment(environment);
    Host::from_parts(parts).with_helper(helper())
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Threads for what blocks are counted, too, and are gone soon.
        .thread_keep_alive(Duration::from_millis(50))
        .enable_all()
        .build()
        .unwrap()
}

/// The same command with a runtime and without.
pub(crate) fn both(make: impl Fn() -> Command) -> [Finished; 2] {
    [
        make().output_blocking().unwrap(),
        runtime().block_on(make().output()).unwrap(),
    ]
}

/// Waits until it is so.
#[track_caller]
pub(crate) fn wait_until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + LONG;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < until, "waited too long: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a file is there.
#[track_caller]
pub(crate) fn wait_for(path: &Path) {
    wait_until(&path.display().to_string(), || path.exists().then_some(()));
}

/// Processes whose working directory is in the stage: what runs there, whoever its parent is by now.
pub(crate) fn running_in(stage: &Path) -> Vec<String> {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let directory = std::fs::read_link(entry.path().join("cwd")).ok()?;
            let name = std::fs::read_to_string(entry.path().join("comm")).ok()?;
            directory
                .starts_with(stage)
                .then(|| format!("{} {}", entry.file_name().display(), name.trim()))
        })
        .collect()
}
