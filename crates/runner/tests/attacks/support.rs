//! A stage: a workspace, a home with a secret, and a session on it whose person does what a test says.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use palisade_exec_policy::{AskForApproval, GrantScope, ReviewDecision};
use palisade_policy::{AbsolutePath, Environment, Grant, SandboxPermissions};
use palisade_runner::approve::Prompt;
use palisade_runner::host::{Host, HostParts};
use palisade_runner::judge::RuleBook;
use palisade_runner::session::{Command, Policy, Sandbox, Session, SessionOptions};

/// The helper: where Cargo built it, or where whoever runs the tests as another user put it.
pub(crate) fn helper() -> PathBuf {
    std::env::var_os("PALISADE_TEST_RUNNER_HELPER").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_palisade-helper")),
        PathBuf::from,
    )
}

/// A workspace and a home of its own, removed at the end.
pub(crate) struct Stage {
    directory: tempfile::TempDir,
}

impl Stage {
    /// Outside `/tmp`, which is private in a sandbox.
    pub(crate) fn new() -> Self {
        Self::below("/var/tmp").unwrap()
    }

    /// Where not everybody can write; `None`, said why, where this user cannot either.
    #[expect(
        clippy::print_stderr,
        reason = "whoever reads a test's output wants to know"
    )]
    pub(crate) fn elsewhere() -> Option<Self> {
        let stage = ["/srv", "/opt", "/var/lib"]
            .into_iter()
            .find_map(Self::below);
        if stage.is_none() {
            eprintln!("skipped: this user can make directories only where everybody can");
        }
        stage
    }

    fn below(directory: &str) -> Option<Self> {
        let directory = tempfile::Builder::new()
            .prefix("palisade-attacks-")
            .tempdir_in(directory)
            .ok()?;
        let stage = Self { directory };
        for below in ["workspace", "home/.ssh", "outside", "bin"] {
            std::fs::create_dir_all(stage.path(below)).unwrap();
        }
        std::fs::write(stage.path("home/.ssh/id_ed25519"), "a secret\n").unwrap();
        Some(stage)
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.directory.path().join(below)
    }

    /// This host, with the stage's home, and a search path that begins with a directory of the stage.
    pub(crate) fn host(&self) -> Host {
        let mut environment = Environment::new();
        let path = format!(
            "{}:/usr/local/bin:/usr/bin:/bin",
            self.path("bin").display()
        );
        environment.insert("PATH".into(), path.into());
        environment.insert("HOME".into(), self.path("home").into());
        let parts = HostParts::look().with_environment(environment);
        Host::from_parts(parts).with_helper(helper())
    }

    /// A shell script that can be run.
    pub(crate) fn script(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        std::fs::write(&path, format!("#!/bin/bash\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn policy(&self) -> Policy {
        Policy::workspace(self.path("workspace")).approval(AskForApproval::OnRequest)
    }

    /// A session with the built-in rules, whose person does this.
    pub(crate) fn session(
        &self,
        policy: Policy,
        person: impl Fn(&Prompt) -> ReviewDecision + Send + Sync + 'static,
    ) -> Session {
        self.session_under("", policy, person, SessionOptions::default())
    }

    pub(crate) fn session_under(
        &self,
        rules: &str,
        policy: Policy,
        person: impl Fn(&Prompt) -> ReviewDecision + Send + Sync + 'static,
        options: SessionOptions,
    ) -> Session {
        let rules = match rules {
            "" => RuleBook::builtin().unwrap(),
            text => RuleBook::from_text("user.toml", text).unwrap(),
        };
        Sandbox::on(self.host(), policy)
            .unwrap()
            .session_with(rules, person, options)
            .unwrap()
    }
}

/// A command that asks to run without the sandbox.
pub(crate) fn outside(command: Command) -> Command {
    command.asking_for(SandboxPermissions::RequireEscalated, "it must")
}

/// Write access to a path, for the session.
pub(crate) fn writing(path: impl AsRef<Path>) -> ReviewDecision {
    ReviewDecision::ApprovedWithGrant {
        grant: Grant::Write(AbsolutePath::new(path.as_ref()).unwrap()),
        scope: GrantScope::Session,
        expires: None,
    }
}

/// Prompts that were seen, and answers that are given one after another, and then no more.
#[derive(Clone, Default)]
pub(crate) struct Person {
    pub(crate) seen: Arc<Mutex<Vec<Prompt>>>,
    answers: Arc<Mutex<Vec<ReviewDecision>>>,
}

impl Person {
    pub(crate) fn new(answers: &[ReviewDecision]) -> Self {
        let person = Self::default();
        *person.answers.lock().unwrap() = answers.iter().rev().cloned().collect();
        person
    }

    pub(crate) fn answering(&self) -> impl Fn(&Prompt) -> ReviewDecision + Send + Sync + 'static {
        let person = self.clone();
        move |prompt: &Prompt| {
            person.seen.lock().unwrap().push(prompt.clone());
            person.answers.lock().unwrap().pop().unwrap_or_default()
        }
    }

    pub(crate) fn prompts(&self) -> Vec<Prompt> {
        self.seen.lock().unwrap().clone()
    }
}
