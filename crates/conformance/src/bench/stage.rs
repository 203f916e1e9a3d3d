//! A project and a home as people have them, thrown away afterwards; and the plans of our sandbox for them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use palisade::runner::policy::{
    AbsolutePath, AcceptedLosses, Backend as _, CanonicalSandboxPolicy, Guarantee, HostFacts, Os,
    PolicyContext, WorkspaceRoot,
};
use palisade_linux_landlock::host::NamespaceSupport;
use palisade_linux_landlock::survey::{self, SurveyOptions};
use palisade_linux_landlock::{LinuxLandlock, Plan, Tier, private_places};

/// What is missing in the landlock tier.
const LOST_WITHOUT_NAMESPACES: [Guarantee; 3] = [
    Guarantee::ProtectedPaths,
    Guarantee::MetadataOutside,
    Guarantee::ProcessIsolation,
];

/// Secrets and settings of a home: there is something to mask.
const IN_THE_HOME: [(&str, &str); 6] = [
    (".ssh/id_ed25519", "secret\n"),
    (".aws/credentials", "secret\n"),
    (".config/gh/hosts.yml", "secret\n"),
    (".netrc", "secret\n"),
    (".bash_history", "ls\n"),
    (
        ".gitconfig",
        "[user]\n\tname = dev\n\temail = dev@example.org\n",
    ),
];

/// Files of a project: it has a repository, so there is something to protect; other protected names are missing, as usual.
const IN_THE_WORKSPACE: [(&str, &str); 5] = [
    (".git/HEAD", "ref: refs/heads/main\n"),
    (
        ".git/config",
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
    ),
    (".git/hooks/pre-commit.sample", "#!/bin/sh\n"),
    ("src/main.rs", "fn main() {}\n"),
    (".env", "TOKEN=secret\n"),
];

/// Throw-away directories.
pub(super) struct Stage {
    base: tempfile::TempDir,
    /// The project.
    pub(super) workspace: PathBuf,
    /// The user's home.
    pub(super) home: PathBuf,
}

impl Stage {
    pub(super) fn new() -> Result<Self> {
        // Not below `/tmp`, which a sandbox may replace.
        let base = tempfile::Builder::new()
            .prefix("palisade-bench-")
            .tempdir_in("/var/tmp")
            .context("/var/tmp")?;
        let path = base.path().to_owned();
        // Some of the others look at it as another user.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        let stage = Self {
            base,
            workspace: path.join("workspace"),
            home: path.join("home"),
        };
        for (directory, files) in [
            (&stage.workspace, IN_THE_WORKSPACE.as_slice()),
            (&stage.home, IN_THE_HOME.as_slice()),
        ] {
            for (name, text) in files {
                write(&directory.join(name), text)?;
            }
        }
        for empty in [".git/objects", ".git/refs/heads"] {
            fs::create_dir_all(stage.workspace.join(empty))?;
        }
        Ok(stage)
    }

    /// A directory of its own outside the project and the home.
    pub(super) fn aside(&self, name: &str) -> Result<PathBuf> {
        let path = self.base.path().join(name);
        fs::create_dir_all(&path)?;
        Ok(path)
    }

    /// What our sandbox is told: write the project, and no network.
    pub(super) fn policy(&self) -> Result<CanonicalSandboxPolicy> {
        Ok(CanonicalSandboxPolicy::workspace_write([
            WorkspaceRoot::new(&self.workspace)?,
        ]))
    }

    /// From that policy to a plan.
    pub(super) fn plan(&self, tier: Tier) -> Result<Plan> {
        self.plan_for(&self.policy()?, tier)
    }

    /// From a policy to a plan: what a caller does before a launch.
    pub(super) fn plan_for(&self, policy: &CanonicalSandboxPolicy, tier: Tier) -> Result<Plan> {
        let facts = HostFacts::new(Os::Linux)
            .with_uid(rustix::process::geteuid().as_raw())
            .with_home(AbsolutePath::new(&self.home)?);
        let context = PolicyContext::new(facts, WorkspaceRoot::new(&self.workspace)?);
        let mut host = survey::kernel(&context.facts);
        let mut losses = AcceptedLosses::none();
        if tier == Tier::Landlock {
            host.namespaces = NamespaceSupport::Refused {
                why: "not used".to_owned(),
                cure: None,
            };
            losses = LOST_WITHOUT_NAMESPACES.into_iter().collect();
        }
        let policy = policy.resolve(&context.with_private(private_places(&host)))?;
        survey::look(&mut host, &policy, &SurveyOptions::launch());
        let lowered = LinuxLandlock.lower(&policy, &host)?;
        let (plan, _) = lowered.admit(&losses)?;
        anyhow::ensure!(plan.tier == tier, "this host has no {tier:?} tier");
        Ok(plan)
    }
}

/// Writes a file, with the directories above it.
pub(super) fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::write(path, contents).with_context(|| path.display().to_string())
}
