//! A sandbox that was found to work on this host.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};

use palisade_exec_policy::{AskForApproval, SandboxablePreference, WorkingBackend};
use palisade_policy::{
    CanonicalSandboxPolicy, CommandSpec, Enforcement, ExecEnv, SandboxTransformError, SandboxType,
    WorkspaceRoot,
};

use super::error::Error;
use super::policy::Policy;
use super::state::{Session, SessionOptions};
use crate::approve::Prompter;
use crate::environment::EnvironmentPolicy;
use crate::host::Host;
use crate::judge::RuleBook;
use crate::launch::Placed;
use crate::os::ConfinedSession;
use crate::select::{SandboxManager, platform_sandbox};

/// A policy that this host keeps.
///
/// It exists only if the sandbox was really set up once, so what [`enforcement`](Self::enforcement) says was seen, not
/// assumed.
#[derive(Debug)]
pub struct Sandbox {
    pub(super) host: Arc<Host>,
    pub(super) placed: Placed,
    pub(super) approval: AskForApproval,
    pub(super) preference: SandboxablePreference,
    pub(super) environment: EnvironmentPolicy,
    pub(super) may_leave: bool,
    enforcement: Enforcement,
    /// The session that the probe started, for whoever needs one first.
    first: Mutex<Option<ConfinedSession>>,
}

impl Sandbox {
    /// Looks at this host and sets the policy up, once.
    ///
    /// # Errors
    /// The workspace is none, or this host cannot keep the policy; the message says which guarantee, why, what would mend
    /// it, and how to go without it.
    pub fn probe(policy: Policy) -> Result<Self, Error> {
        Self::on(Host::look(), policy)
    }

    /// The same, on a host that was looked at before.
    ///
    /// # Errors
    /// As [`probe`](Self::probe).
    pub fn on(host: Host, policy: Policy) -> Result<Self, Error> {
        let on_host = policy.on(&host)?;
        let sandbox = match on_host.policy.uses_runtime_sandbox() {
            true => platform_sandbox()?,
            false => SandboxType::None,
        };
        let mut placed = Placed::new(sandbox, on_host.policy, on_host.root);
        placed.home_root = on_host.home_root;
        placed.accepted = policy.accepted;
        let (first, enforcement) = match sandbox {
            SandboxType::None => (None, Enforcement::new()),
            _ => {
                let first = ConfinedSession::open(&host, &placed)?;
                let enforcement = first.enforcement().clone();
                (Some(first), enforcement)
            }
        };
        Ok(Self {
            host: Arc::new(host),
            placed,
            approval: policy.approval,
            preference: policy.preference,
            environment: policy.environment,
            may_leave: policy.may_leave,
            enforcement,
            first: Mutex::new(first),
        })
    }

    /// What holds for every command in it.
    pub const fn enforcement(&self) -> &Enforcement {
        &self.enforcement
    }

    /// The policy in full.
    #[must_use]
    pub const fn policy(&self) -> &CanonicalSandboxPolicy {
        &self.placed.policy
    }

    /// The workspace, with its links resolved.
    #[must_use]
    pub const fn workspace(&self) -> &WorkspaceRoot {
        &self.placed.policy_cwd
    }

    /// The host that it was found to work on.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// A session in it: commands are judged by these rules, and this prompter asks.
    ///
    /// # Errors
    /// The rules do not load or their examples do not hold.
    pub fn session(
        self,
        rules: RuleBook,
        prompter: impl Prompter + 'static,
    ) -> Result<Session, Error> {
        self.session_with(rules, prompter, SessionOptions::default())
    }

    /// A session with more that can be said about it.
    ///
    /// # Errors
    /// As [`session`](Self::session); what was kept earlier cannot be read.
    pub fn session_with(
        self,
        rules: RuleBook,
        prompter: impl Prompter + 'static,
        options: SessionOptions,
    ) -> Result<Session, Error> {
        Session::new(self, rules, Arc::new(prompter), options)
    }

    /// The command line that runs a command under this policy, for those who own the spawning. Nothing is judged or asked:
    /// that is up to whoever spawns it.
    ///
    /// # Errors
    /// No helper is known that a command line could name.
    pub fn wrap<A: Into<OsString>>(
        &self,
        argv: impl IntoIterator<Item = A>,
    ) -> Result<Vec<OsString>, SandboxTransformError> {
        let mut argv = argv.into_iter().map(Into::into);
        let program = argv.next().unwrap_or_default();
        let spec = CommandSpec::new(program).with_args(argv);
        let manager = SandboxManager::new(&self.host).accepting(self.placed.accepted.clone());
        let ExecEnv { program, args, .. } = manager.transform(
            spec,
            &self.placed.policy,
            self.placed.sandbox,
            &self.placed.policy_cwd,
            self.host.helper.as_deref(),
        )?;
        Ok([program].into_iter().chain(args).collect())
    }

    /// The mechanism that works, as the decision wants it.
    pub(super) const fn backend(&self) -> Option<WorkingBackend> {
        WorkingBackend::new(self.placed.sandbox)
    }

    /// The session that the probe started, unless somebody has it already.
    pub(super) fn take_first(&self) -> Option<ConfinedSession> {
        self.first
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}
