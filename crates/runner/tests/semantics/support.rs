//! A stage: a workspace, a home with a secret, and a session on it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use palisade_exec_policy::{AskForApproval, ReviewDecision};
use palisade_policy::Environment;
use palisade_runner::approve::Prompt;
use palisade_runner::host::{Host, HostParts};
use palisade_runner::judge::RuleBook;
use palisade_runner::session::{Policy, Sandbox, Session};

/// The helper that these tests start.
pub(crate) fn helper() -> PathBuf {
    std::env::var_os("PALISADE_TEST_RUNNER_HELPER").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_palisade-helper")),
        PathBuf::from,
    )
}

/// A workspace and a home of its own, removed at the end.
pub(crate) struct Stage {
    root: PathBuf,
    /// Removes it, where it is ours.
    _directory: Option<tempfile::TempDir>,
}

impl Stage {
    /// Outside `/tmp`, which is private in a sandbox.
    pub(crate) fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("palisade-runner-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let stage = Self {
            root: directory.path().to_owned(),
            _directory: Some(directory),
        };
        for below in ["workspace", "home/.ssh", "outside"] {
            std::fs::create_dir_all(stage.path(below)).unwrap();
        }
        std::fs::write(stage.path("home/.ssh/id_ed25519"), "a secret\n").unwrap();
        std::fs::write(stage.path("workspace/notes.txt"), "notes\n").unwrap();
        stage
    }

    /// One that another process has made.
    pub(crate) fn at(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            _directory: None,
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.join(below)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.path("workspace")
    }

    /// This host, with the stage's home.
    pub(crate) fn host(&self) -> Host {
        let mut environment = Environment::new();
        environment.insert("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into());
        environment.insert("HOME".into(), self.path("home").into());
        environment.insert("API_TOKEN".into(), "never inside".into());
        let parts = HostParts::look().with_environment(environment);
        Host::from_parts(parts).with_helper(helper())
    }

    /// A program in the workspace, of which no rule knows anything.
    pub(crate) fn program(&self, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;

        let path = self.path("workspace/program");
        std::fs::write(&path, format!("#!/bin/bash\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn policy(&self) -> Policy {
        Policy::workspace(self.workspace()).approval(AskForApproval::OnRequest)
    }

    /// A session where these answers are given, one after another, and then no more.
    pub(crate) fn session(&self, policy: Policy, answers: &[ReviewDecision]) -> (Session, Asked) {
        let asked = Asked::new(answers);
        let session = Sandbox::on(self.host(), policy)
            .unwrap()
            .session(RuleBook::builtin().unwrap(), asked.prompter())
            .unwrap();
        (session, asked)
    }

    /// A session in which nobody answers.
    pub(crate) fn quiet(&self) -> Session {
        self.session(self.policy(), &[]).0
    }
}

/// What was asked, and what is still to be answered.
#[derive(Clone, Default)]
pub(crate) struct Asked {
    prompts: Arc<Mutex<Vec<Prompt>>>,
    answers: Arc<Mutex<Vec<ReviewDecision>>>,
}

impl Asked {
    pub(crate) fn new(answers: &[ReviewDecision]) -> Self {
        let asked = Self::default();
        *asked.answers.lock().unwrap() = answers.iter().rev().cloned().collect();
        asked
    }

    pub(crate) fn prompter(&self) -> impl Fn(&Prompt) -> ReviewDecision + Send + Sync + 'static {
        let asked = self.clone();
        move |prompt: &Prompt| {
            asked.prompts.lock().unwrap().push(prompt.clone());
            asked.answers.lock().unwrap().pop().unwrap_or_default()
        }
    }

    pub(crate) fn prompts(&self) -> Vec<Prompt> {
        self.prompts.lock().unwrap().clone()
    }
}
