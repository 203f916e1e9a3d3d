//! A session: what its commands share.

use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use palisade_exec_policy::approvals::Moment;
use palisade_policy::{Enforcement, Grant};

use super::admit::now;
use super::bounds::Bounds;
use super::command::Command;
use super::error::Error;
use super::ground::Grounds;
use super::hosts::{Hosts, Ledger};
use super::sandbox::Sandbox;
use crate::approve::{ApprovalCache, Prompter};
use crate::audit::AuditSink;
use crate::config::State;
use crate::judge::{Judge, RuleBook};
use crate::launch::PATIENCE;
use crate::os::ConfinedSession;
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

/// A grant that holds for all commands of a session.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) grant: Grant,
    /// From when on it no longer holds.
    pub(super) expires: Option<Moment>,
    /// Whether a file says so, and not only this session.
    pub(super) stored: bool,
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
    pub(super) granted: Mutex<Vec<Kept>>,
    pub(super) bounds: Bounds,
    /// Who runs now, and what was said about hosts.
    pub(super) hosts: Arc<Hosts>,
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

    /// What is granted to all commands now.
    pub(super) fn granted(&self) -> Vec<Grant> {
        let now = now();
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        granted.retain(|kept| kept.expires.is_none_or(|expires| now < expires));
        granted.iter().map(|kept| kept.grant.clone()).collect()
    }
}

impl Shared {
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
        let bounds = Bounds::of(&sandbox, &options)?;
        let mut granted = Vec::new();
        if let Some(state) = &options.state {
            // Whatever is granted later, too.
            Arc::make_mut(&mut sandbox.host)
                .guarded
                .push(state.directory().to_owned());
            judge.set_stored(state.approvals().read()?);
            granted = stored_grants(state, &sandbox, &bounds)?;
        }
        let mut shared = Self {
            grounds: Grounds::new(None, options.watch_aftermath),
            sandbox,
            judge,
            prompter,
            options,
            approved: ApprovalCache::new(),
            granted: Mutex::new(granted),
            bounds,
            hosts: Arc::default(),
            calls: AtomicU64::new(1),
        };
        shared.take_first();
        Ok(shared)
    }

    /// The same with the session that its sandbox was found to work with.
    pub(super) fn with_first(mut self, first: ConfinedSession) -> Self {
        self.sandbox.set_up(first);
        self.take_first();
        self
    }

    /// The session that the probe started is for the first command, unless it was set up before anybody knew of the
    /// directory with what people keep.
    fn take_first(&mut self) {
        let known = self.sandbox.host.state_dir.as_deref();
        let state = self.options.state.as_ref();
        let first = self.sandbox.take_first();
        let first = first.filter(|_| state.is_none_or(|state| known == Some(state.directory())));
        self.grounds = Grounds::new(first, self.options.watch_aftermath);
    }
}

impl Session {
    pub(super) fn new(
        sandbox: Sandbox,
        rules: RuleBook,
        prompter: Arc<dyn Prompter>,
        options: SessionOptions,
    ) -> Result<Self, Error> {
        Shared::new(sandbox, rules, prompter, options).map(Self::of)
    }

    pub(super) fn of(shared: Shared) -> Self {
        let shared = Arc::new(shared);
        let keeper: Weak<Shared> = Arc::downgrade(&shared);
        let ledger = Arc::new(Ledger::of(&shared));
        shared.sandbox.host.egress.attend(keeper, ledger);
        Self { shared }
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

    /// Reads again what people agreed to keep, so that what was agreed to in other sessions holds in this one too, and what
    /// was taken back no longer does. Nothing changes for what runs already.
    ///
    /// # Errors
    /// It cannot be read, or would let commands write what decides about them; what was known before still holds.
    pub fn reload(&self) -> Result<(), Error> {
        let shared = &self.shared;
        let Some(state) = &shared.options.state else {
            return Ok(());
        };
        let approvals = state.approvals().read()?;
        let stored = stored_grants(state, &shared.sandbox, &shared.bounds)?;
        shared.judge.set_stored(approvals);
        shared.hosts.forget_kept();
        let mut granted = shared
            .granted
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        granted.retain(|kept| !kept.stored);
        granted.extend(stored);
        Ok(())
    }

    /// What is granted to all commands: what was kept for the project, and what was agreed to since.
    #[must_use]
    pub fn granted(&self) -> Vec<Grant> {
        self.shared.granted()
    }
}

/// What is kept for the project and holds now. What goes below the floor is left out; what would open the files that decide
/// is an error, because somebody has to take it back.
fn stored_grants(state: &State, sandbox: &Sandbox, bounds: &Bounds) -> Result<Vec<Kept>, Error> {
    let (now, project) = (now(), sandbox.workspace().path());
    let stored = state.grants().read()?.into_iter();
    let here = stored.filter(|one| one.project == *project && one.holds_at(now));
    let mut policy = sandbox.policy().clone();
    let mut kept = Vec::new();
    for one in here.filter(|one| bounds.forbid(&one.grant).is_none()) {
        policy = policy.with_grant(&one.grant)?;
        kept.push(Kept {
            grant: one.grant,
            expires: one.expires,
            stored: true,
        });
    }
    // The policy alone was looked at already, unless this directory was not known then.
    if !kept.is_empty() || sandbox.host.state_dir.as_deref() != Some(state.directory()) {
        bounds.check(sandbox, &policy)?;
    }
    Ok(kept)
}
