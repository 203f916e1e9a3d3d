//! A workspace, and sessions on it.

use std::path::{Path, PathBuf};

use palisade_exec_policy::AskForApproval;
use palisade_policy::Environment;
use palisade_runner::approve::NoPrompter;
use palisade_runner::host::{Host, HostParts};
use palisade_runner::judge::RuleBook;
use palisade_runner::session::{Policy, Sandbox, Session};

pub(crate) struct Stage {
    directory: tempfile::TempDir,
    helper: PathBuf,
}

impl Stage {
    pub(crate) fn new(helper: &Path) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("palisade-bench-")
            .tempdir_in("/var/tmp")
            .unwrap();
        for below in ["workspace/.git", "home/.ssh"] {
            std::fs::create_dir_all(directory.path().join(below)).unwrap();
        }
        Self {
            directory,
            helper: helper.to_owned(),
        }
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.directory.path().join("workspace")
    }

    /// A program in the workspace.
    pub(crate) fn program(&self, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;

        let path = self.workspace().join("program");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn confined(&self) -> Session {
        self.session(Policy::workspace(self.workspace()))
    }

    pub(crate) fn bare(&self) -> Session {
        self.session(Policy::full_access(self.workspace()))
    }

    fn session(&self, policy: Policy) -> Session {
        let mut environment = Environment::new();
        environment.insert("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into());
        environment.insert("HOME".into(), self.directory.path().join("home").into());
        let parts = HostParts::look().with_environment(environment);
        let host = Host::from_parts(parts).with_helper(&self.helper);
        let policy = policy.approval(AskForApproval::OnRequest);
        Sandbox::on(host, policy)
            .unwrap()
            .session(RuleBook::builtin().unwrap(), NoPrompter)
            .unwrap()
    }
}
