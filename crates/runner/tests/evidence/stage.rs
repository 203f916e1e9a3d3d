//! A workspace, a home and an outside, and what the policy says about them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, Enforcement, Guarantee, HostFacts, Measure, Os,
    PolicyContext, PrivatePlaces, ResolvedPolicy, WorkspaceRoot,
};
use palisade_runner::evidence::{Failure, denials};
use palisade_runner::outcome::{Evidence, Outcome};
use tempfile::TempDir;

/// A throw-away tree. In texts, `@W` is the workspace, `@H` the home, `@O` the outside.
pub(crate) struct Stage {
    _base: TempDir,
    pub(crate) workspace: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) outside: PathBuf,
}

impl Stage {
    pub(crate) fn new() -> Self {
        // Not in `/tmp`, which sessions replace.
        let base = tempfile::Builder::new()
            .prefix("palisade-evidence-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let root = fs::canonicalize(base.path()).unwrap();
        let stage = Self {
            _base: base,
            workspace: root.join("app"),
            home: root.join("home"),
            outside: root.join("outside"),
        };
        for directory in [&stage.workspace, &stage.home, &stage.outside] {
            fs::create_dir(directory).unwrap();
        }
        fs::create_dir(stage.home.join(".ssh")).unwrap();
        fs::write(stage.home.join(".ssh/id_ed25519"), "key").unwrap();
        fs::write(stage.home.join(".netrc"), "password").unwrap();
        fs::write(stage.outside.join("file"), "precious\n").unwrap();
        fs::create_dir(stage.outside.join("dir")).unwrap();
        fs::create_dir_all(stage.workspace.join(".git/hooks")).unwrap();
        fs::write(stage.workspace.join(".git/config"), "").unwrap();
        fs::write(stage.workspace.join("notes"), "notes\n").unwrap();
        fs::create_dir(stage.workspace.join("sandbox")).unwrap();
        fs::write(stage.workspace.join("locked"), "locked\n").unwrap();
        // Ordinary permissions, not the sandbox, are in the way of these two.
        set_mode(&stage.workspace.join("locked"), 0o000);
        fs::write(stage.outside.join("unreadable"), "locked\n").unwrap();
        set_mode(&stage.outside.join("unreadable"), 0o000);
        std::os::unix::fs::symlink(
            stage.home.join(".ssh/id_ed25519"),
            stage.workspace.join("key"),
        )
        .unwrap();
        std::os::unix::fs::symlink(stage.outside.join("dir"), stage.workspace.join("out")).unwrap();
        stage
    }

    pub(crate) fn fill(&self, text: &str) -> String {
        [
            ("@W", &self.workspace),
            ("@H", &self.home),
            ("@O", &self.outside),
        ]
        .iter()
        .fold(text.to_owned(), |text, (mark, path)| {
            text.replace(mark, path.to_str().unwrap())
        })
    }

    pub(crate) fn unfill(&self, text: &str) -> String {
        [
            ("@W", &self.workspace),
            ("@H", &self.home),
            ("@O", &self.outside),
        ]
        .iter()
        .fold(text.to_owned(), |text, (mark, path)| {
            text.replace(path.to_str().unwrap(), mark)
        })
    }

    pub(crate) fn root(&self) -> WorkspaceRoot {
        WorkspaceRoot::new(&self.workspace).unwrap()
    }

    pub(crate) fn context(&self) -> PolicyContext {
        let facts = HostFacts::new(Os::Linux)
            .with_uid(rustix::process::geteuid().as_raw())
            .with_home(AbsolutePath::new(&self.home).unwrap());
        PolicyContext::new(facts, self.root())
    }

    pub(crate) fn workspace_write(&self) -> CanonicalSandboxPolicy {
        CanonicalSandboxPolicy::workspace_write([self.root()])
    }

    pub(crate) fn resolve(&self, policy: &CanonicalSandboxPolicy) -> ResolvedPolicy {
        policy
            .resolve(&self.context().with_private(PrivatePlaces::all()))
            .unwrap()
    }
}

fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A report in which everything holds.
pub(crate) fn enforced() -> Enforcement {
    Guarantee::ALL
        .into_iter()
        .fold(Enforcement::new(), |report, guarantee| {
            report.with(guarantee, Measure::enforced("a test"))
        })
}

/// What is concluded, as `resource`, or `system call`.
pub(crate) fn conclusions(
    stage: &Stage,
    policy: &ResolvedPolicy,
    enforcement: &Enforcement,
    argv: &[&str],
    outcome: &Outcome,
    stderr: &str,
) -> Vec<String> {
    let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
    let failure =
        Failure::new(&argv, &stage.workspace, outcome, enforcement).with_stderr(stderr.as_bytes());
    denials(policy, &failure)
        .iter()
        .map(|evidence| match evidence {
            Evidence::Likely { resource, .. } => stage.unfill(resource),
            Evidence::SystemCall => "system call".to_owned(),
            other => format!("{other:?}"),
        })
        .collect()
}
