//! What an executor runs under, and what it is built from.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_exec_policy::WorkingBackend;
use palisade_policy::{AcceptedLosses, CanonicalSandboxPolicy, HomeRoot, WorkspaceRoot};

use crate::audit::AuditSink;
use crate::host::Host;
use crate::judge::Judge;

/// What commands run under. It can change between runs, never during one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutorConfig {
    /// The policy.
    pub sandbox_policy: CanonicalSandboxPolicy,
    /// What the policy is resolved against: never the directory of a command.
    pub sandbox_cwd: WorkspaceRoot,
    /// Private, so that an update of the rest cannot swap the program that confines.
    linux_sandbox_exe: Option<PathBuf>,
}

impl ExecutorConfig {
    /// Under this policy, for this directory, with this helper of the Linux sandbox; without one, that of the host.
    #[must_use]
    pub const fn new(
        sandbox_policy: CanonicalSandboxPolicy,
        sandbox_cwd: WorkspaceRoot,
        linux_sandbox_exe: Option<PathBuf>,
    ) -> Self {
        Self {
            sandbox_policy,
            sandbox_cwd,
            linux_sandbox_exe,
        }
    }

    /// The helper that was given.
    #[must_use]
    pub fn linux_sandbox_exe(&self) -> Option<&Path> {
        self.linux_sandbox_exe.as_deref()
    }

    /// Another policy and directory, the same helper.
    pub(super) fn replace(&mut self, policy: CanonicalSandboxPolicy, cwd: WorkspaceRoot) {
        self.sandbox_policy = policy;
        self.sandbox_cwd = cwd;
    }
}

/// What an executor is built on, which stays the same for its whole life.
#[derive(Clone)]
#[non_exhaustive]
pub struct Foundation {
    /// The machine and its user.
    pub host: Arc<Host>,
    /// What the rules say.
    pub judge: Arc<Judge>,
    /// The sandbox that works here; without one, what needs a sandbox is asked about or refused.
    pub backend: Option<WorkingBackend>,
    /// Losses of guarantees that were accepted by name.
    pub accepted: AcceptedLosses,
    /// Whether the workspace may be the home directory or hold it.
    pub home_root: HomeRoot,
    /// Who keeps records of runs, if somebody does.
    pub audit: Option<Arc<dyn AuditSink>>,
}

impl fmt::Debug for Foundation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Foundation")
            .field("backend", &self.backend)
            .field("accepted", &self.accepted)
            .field("home_root", &self.home_root)
            .field("audited", &self.audit.is_some())
            .finish_non_exhaustive()
    }
}

impl Foundation {
    /// On this host, under these rules, with this sandbox and no loss accepted.
    #[must_use]
    pub fn new(host: Arc<Host>, judge: Arc<Judge>, backend: Option<WorkingBackend>) -> Self {
        Self {
            host,
            judge,
            backend,
            accepted: AcceptedLosses::none(),
            home_root: HomeRoot::Refuse,
            audit: None,
        }
    }

    /// With these losses accepted.
    #[must_use]
    pub fn accepting(self, accepted: AcceptedLosses) -> Self {
        Self { accepted, ..self }
    }

    /// With records kept there.
    #[must_use]
    pub fn audited_by(self, audit: Arc<dyn AuditSink>) -> Self {
        Self {
            audit: Some(audit),
            ..self
        }
    }

    /// With this answer for a workspace that is the home directory or holds it.
    #[must_use]
    pub fn with_home_root(self, home_root: HomeRoot) -> Self {
        Self { home_root, ..self }
    }

    /// Whether no command may leave its sandbox, whoever agrees: the floor of the system layer.
    pub(super) fn forbids_leaving(&self) -> bool {
        self.judge.rules().policy().floor().no_unsandboxed
    }
}
