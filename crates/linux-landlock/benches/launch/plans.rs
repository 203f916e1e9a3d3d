//! A workspace as people have them, and the plans for it.

use std::path::PathBuf;

use palisade_linux_landlock::host::NamespaceSupport;
use palisade_linux_landlock::survey::{self, SurveyOptions};
use palisade_linux_landlock::{LinuxLandlock, Plan, Tier, private_places};
use palisade_policy::{
    AbsolutePath, AcceptedLosses, Backend as _, CanonicalSandboxPolicy, Guarantee, HostFacts, Os,
    PolicyContext, WorkspaceRoot,
};

/// A workspace with a `.git`, and a home with a few secrets. The other protected names are missing, as usual.
pub(crate) struct Stage {
    _base: tempfile::TempDir,
    pub(crate) workspace: PathBuf,
    home: PathBuf,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let base = tempfile::Builder::new()
            .prefix("palisade-bench-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let workspace = base.path().join("workspace");
        let home = base.path().join("home");
        std::fs::create_dir_all(workspace.join(".git")).unwrap();
        std::fs::create_dir_all(home.join(".ssh")).unwrap();
        std::fs::write(home.join(".bash_history"), "ls\n").unwrap();
        Self {
            _base: base,
            workspace,
            home,
        }
    }

    fn context(&self) -> PolicyContext {
        let facts = HostFacts::new(Os::Linux)
            .with_uid(rustix::process::geteuid().as_raw())
            .with_home(AbsolutePath::new(&self.home).unwrap());
        PolicyContext::new(facts, WorkspaceRoot::new(&self.workspace).unwrap())
    }

    /// From the policy to the plan: what a caller does before a launch.
    pub(crate) fn plan(&self, tier: Tier) -> Plan {
        let context = self.context();
        let mut host = survey::kernel(&context.facts);
        let mut losses = AcceptedLosses::none();
        if tier == Tier::Landlock {
            host.namespaces = NamespaceSupport::Refused {
                why: "not used".to_owned(),
                cure: None,
            };
            losses = [
                Guarantee::ProtectedPaths,
                Guarantee::MetadataOutside,
                Guarantee::ProcessIsolation,
            ]
            .into_iter()
            .collect();
        }
        let policy =
            CanonicalSandboxPolicy::workspace_write([WorkspaceRoot::new(&self.workspace).unwrap()]);
        let policy = policy
            .resolve(&context.with_private(private_places(&host)))
            .unwrap();
        survey::look(&mut host, &policy, &SurveyOptions::launch());
        LinuxLandlock
            .lower(&policy, &host)
            .unwrap()
            .admit(&losses)
            .unwrap()
            .0
    }
}
