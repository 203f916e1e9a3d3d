//! A sandbox that was found to work on this host.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use palisade_exec_policy::language::model::Floor;
use palisade_exec_policy::{AskForApproval, SandboxablePreference, WorkingBackend};
use palisade_policy::{
    CanonicalSandboxPolicy, Enforcement, ResolvedPolicy, SandboxType, WorkspaceRoot,
};

use super::error::Error;
use super::policy::Policy;
use super::state::{Session, SessionOptions, Shared};
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
    /// What no grant may open.
    pub(super) floor: Floor,
    /// The policy files that said so.
    pub(super) sources: Vec<PathBuf>,
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
        let mut sandbox = Self::assumed(host, policy)?;
        if sandbox.placed.sandbox == SandboxType::None {
            return Ok(sandbox.unconfined());
        }
        let first = ConfinedSession::open(&sandbox.host, &sandbox.placed)?;
        sandbox.set_up(first);
        Ok(sandbox)
    }

    /// A session on a host that was looked at before: [`on`](Self::on) and [`session_with`](Self::session_with) in one. The
    /// rules are made ready while the sandbox is set up, so that the first command waits for the longer of the two only.
    ///
    /// # Errors
    /// As those; where several things are wrong, as `on` first.
    pub fn session_on(
        host: Host,
        policy: Policy,
        rules: RuleBook,
        prompter: impl Prompter + 'static,
        options: SessionOptions,
    ) -> Result<Session, Error> {
        let sandbox = Self::assumed(host, policy)?;
        if sandbox.placed.sandbox == SandboxType::None {
            return sandbox.unconfined().session_with(rules, prompter, options);
        }
        let opening = ConfinedSession::begin(&sandbox.host, &sandbox.placed)?;
        let shared = Shared::new(sandbox, rules, Arc::new(prompter), options);
        if let Ok(shared) = &shared {
            let _ = shared.judge.rules().ruleset();
        }
        let first = opening.finish()?;
        Ok(Session::of(shared?.with_first(first)))
    }

    /// Where nothing confines, no helper is needed.
    fn unconfined(mut self) -> Self {
        self.host = Arc::new(Host::clone(&self.host).without_helper_ahead());
        self
    }

    /// The sandbox that a policy asks for, not set up: for whoever only wants to know what would become of a command.
    pub(super) fn assumed(host: Host, policy: Policy) -> Result<Self, Error> {
        let on_host = policy.on(&host)?;
        let sandbox = match on_host.policy.uses_runtime_sandbox() {
            true => platform_sandbox()?,
            false => SandboxType::None,
        };
        let mut placed = Placed::new(sandbox, on_host.policy, on_host.root);
        placed.home_root = on_host.home_root;
        placed.accepted = policy.accepted;
        // Each sandbox has a session of its own that is asked about hosts.
        let egress = host.egress.for_sandbox();
        Ok(Self {
            host: Arc::new(host.with_egress(egress)),
            placed,
            approval: policy.approval,
            preference: policy.preference,
            environment: policy.environment.with_exclude(policy.bound_secrets),
            may_leave: policy.may_leave,
            floor: policy.floor,
            sources: policy.sources,
            enforcement: Enforcement::new(),
            first: Mutex::new(None),
        })
    }

    /// What holds for every command in it.
    pub const fn enforcement(&self) -> &Enforcement {
        &self.enforcement
    }

    /// What the sandbox that was set up permits, as the evidence of denials reads it: with everything that it has of its
    /// own, and with the files that decide about commands guarded. `None` where nothing confines commands, and once a
    /// session was made of it.
    #[must_use]
    pub fn oracle(&self) -> Option<ResolvedPolicy> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.as_ref().map(|session| session.policy().clone())
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

    /// The command line that runs a command under this policy, for those who own the spawning; where the policy confines
    /// nothing it is the command itself. Nothing is judged, asked, timed or recorded, and the environment is what whoever
    /// spawns it gives.
    ///
    /// # Errors
    /// There is no command, or no helper is known that a command line could name.
    pub fn wrap<A: Into<OsString>>(
        &self,
        argv: impl IntoIterator<Item = A>,
    ) -> Result<Vec<OsString>, Error> {
        let helper = self.host.helper.as_deref();
        Ok(SandboxManager::new(&self.host)
            .accepting(self.placed.accepted.clone())
            .wrap(argv, &self.placed.policy, self.workspace(), helper)?)
    }

    /// Keeps the session that showed that it works.
    pub(super) fn set_up(&mut self, first: ConfinedSession) {
        self.enforcement = first.enforcement().clone();
        self.first = Mutex::new(Some(first));
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
