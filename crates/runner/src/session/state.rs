//! A session: what its commands share.

use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use palisade_exec_policy::approvals::Moment;
use palisade_policy::{CanonicalSandboxPolicy, Enforcement, Grant, PolicyContext};

use super::admit::now;
use super::command::Command;
use super::error::Error;
use super::ground::Grounds;
use super::sandbox::Sandbox;
use crate::approve::{ApprovalCache, Prompter};
use crate::audit::AuditSink;
use crate::config::{Own, State};
use crate::judge::{Judge, RuleBook};
use crate::launch::PATIENCE;
use crate::supervise::Timing;
use crate::workspace::Wait;

/// What can be said about a session besides its rules and who asks.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Where approvals and grants that people keep are stored; `None`: they last as long as the session.
    pub state: Option<State>,
    /// Who is told about every run.
    pub audit: Option<Arc<dyn AuditSink>>,
    /// How commands are ended.
    pub timing: Timing,
    /// Whether what commands leave in the workspace that somebody outside may run later is looked for
    /// ([`Session::aftermath`]). It means two walks through the workspace.
    pub watch_aftermath: bool,
    /// How long a command waits for another on this workspace that guards more, instead of ten seconds; no time at all is
    /// a refusal at once.
    pub wait_for_others: Option<Duration>,
}

impl std::fmt::Debug for SessionOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionOptions")
            .field("state", &self.state)
            .field("audit", &self.audit.is_some())
            .field("timing", &self.timing)
            .finish_non_exhaustive()
    }
}

impl SessionOptions {
    /// With this directory for what people keep.
    #[must_use]
    pub fn with_state(mut self, state: State) -> Self {
        self.state = Some(state);
        self
    }

    /// With this sink for records.
    #[must_use]
    pub fn with_audit(mut self, sink: Arc<dyn AuditSink>) -> Self {
        self.audit = Some(sink);
        self
    }

    /// Waits this long for other commands on the workspace that guard more.
    #[must_use]
    pub const fn waiting_for_others(mut self, time: Duration) -> Self {
        self.wait_for_others = Some(time);
        self
    }

    pub(super) fn wait(&self) -> Wait {
        Wait::For(self.wait_for_others.unwrap_or(PATIENCE))
    }

    /// Looks for what commands leave in the workspace.
    #[must_use]
    pub const fn watching_aftermath(mut self) -> Self {
        self.watch_aftermath = true;
        self
    }

    /// With this timing.
    #[must_use]
    pub const fn with_timing(mut self, timing: Timing) -> Self {
        self.timing = timing;
        self
    }
}

/// A sandbox with rules and somebody to ask. Clones are the same session; it ends with the last of them, and everything
/// that runs in it ends with it.
#[derive(Clone, Debug)]
pub struct Session {
    pub(super) shared: Arc<Shared>,
}

/// What the commands of a session share.
pub(super) struct Shared {
    pub(super) sandbox: Sandbox,
    pub(super) judge: Judge,
    pub(super) prompter: Arc<dyn Prompter>,
    pub(super) options: SessionOptions,
    pub(super) approved: ApprovalCache,
    pub(super) grounds: Grounds,
    /// What was granted until the session ends.
    pub(super) granted: Mutex<Vec<(Grant, Option<Moment>)>>,
    calls: AtomicU64,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("sandbox", &self.sandbox)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// A name for the next run that no other run of this session has.
    pub(super) fn next_call(&self) -> String {
        format!("run-{}", self.calls.fetch_add(1, Ordering::Relaxed))
    }

    /// What holds now.
    pub(super) fn granted(&self) -> Vec<Grant> {
        let now = now();
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        granted.retain(|(_, expires)| expires.is_none_or(|expires| now < expires));
        granted.iter().map(|(grant, _)| grant.clone()).collect()
    }

    /// The policy of the session, with one more grant, if there can be such a policy and it leaves what decides about
    /// commands alone.
    ///
    /// # Errors
    /// There cannot, or it does not.
    pub(super) fn with_grant(
        &self,
        policy: CanonicalSandboxPolicy,
        grant: &Grant,
    ) -> Result<CanonicalSandboxPolicy, Error> {
        let placed = &self.sandbox.placed;
        let policy = policy.with_grant(grant)?;
        let context =
            PolicyContext::new(self.sandbox.host.facts.clone(), placed.policy_cwd.clone())
                .with_home_root(placed.home_root);
        let own = Own::of(&self.sandbox.host);
        own.check(&own.guarded(&policy).resolve(&context)?)?;
        Ok(policy)
    }
}

impl Session {
    pub(super) fn new(
        mut sandbox: Sandbox,
        rules: RuleBook,
        prompter: Arc<dyn Prompter>,
        options: SessionOptions,
    ) -> Result<Self, Error> {
        let judge = Judge::new(
            rules,
            sandbox.workspace().clone(),
            sandbox.host.facts.clone(),
        )?;
        let mut granted = Vec::new();
        if let Some(state) = &options.state {
            let facts = sandbox.host.facts.clone();
            state.check_out_of_reach(sandbox.policy(), sandbox.workspace(), &facts)?;
            if sandbox.host.state_dir.as_deref() != Some(state.directory()) {
                // It was set up before anybody knew of this directory.
                drop(sandbox.take_first());
            }
            // Whatever is granted later, too.
            Arc::make_mut(&mut sandbox.host)
                .guarded
                .push(state.directory().to_owned());
            judge.set_stored(state.approvals().read()?);
            let project = sandbox.workspace().path();
            let here = state.grants().read()?.into_iter();
            granted = here
                .filter(|stored| stored.project == *project && stored.holds_at(now()))
                .map(|stored| (stored.grant, stored.expires))
                .collect();
        }
        let grounds = Grounds::new(sandbox.take_first(), options.watch_aftermath);
        Ok(Self {
            shared: Arc::new(Shared {
                sandbox,
                judge,
                prompter,
                options,
                approved: ApprovalCache::new(),
                grounds,
                granted: Mutex::new(granted),
                calls: AtomicU64::new(1),
            }),
        })
    }

    /// A command, not yet judged. It runs in the workspace unless it says otherwise.
    pub fn command(&self, program: impl Into<OsString>) -> Command {
        Command::new(Arc::clone(&self.shared), program.into())
    }

    /// A script for a shell of this host. Its parts are judged one by one.
    pub fn script(&self, text: impl Into<OsString>) -> Command {
        self.command("bash").arg("-c").arg(text)
    }

    /// What holds for its commands.
    pub fn enforcement(&self) -> &Enforcement {
        self.shared.sandbox.enforcement()
    }

    /// The sandbox.
    #[must_use]
    pub fn sandbox(&self) -> &Sandbox {
        &self.shared.sandbox
    }

    /// What commands made or changed that somebody outside may run later, such as hooks and build files, and what they
    /// left under a guarded name. Nothing, unless the session was told to look.
    #[must_use]
    pub fn aftermath(&self) -> Vec<String> {
        self.shared.grounds.aftermath()
    }

    /// What was granted to all commands since the session began.
    #[must_use]
    pub fn granted(&self) -> Vec<Grant> {
        self.shared.granted()
    }
}
