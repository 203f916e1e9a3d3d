//! Hosts that commands of a session ask for while they run and the policy does not list: who is asked, what was answered,
//! and the record of every connection.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use palisade_egress_proxy::{Answer, Approval, ConnectionRecord, Hold};
use palisade_exec_policy::approvals::Moment;
use palisade_exec_policy::{GrantScope, PromptCategory, ReviewDecision};
use palisade_policy::{Grant, HostName, NetworkAllowlistEntry, Protocol};

use super::admit::{Admitted, now, unless_cancelled};
use super::state::Shared;
use crate::approve::{Prompt, ask};
use crate::audit::AuditSink;
use crate::egress::{self, About, Alone, Gatekeeper, Outlet, Whose};
use crate::launch::Ground;
use crate::supervise::{Cancellation, block_on};

/// So many questions a command can cause. Who has answered these has better things to do.
const MOST_QUESTIONS: usize = 32;

/// Who runs now, and what was said about hosts.
#[derive(Debug, Default)]
pub(super) struct Hosts(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    running: Vec<Arc<Running>>,
    allowed: Vec<Allowed>,
    /// Not asked about again in this session.
    denied: Vec<(HostName, u16)>,
    /// How often somebody was asked since the last command was started.
    questions: usize,
    /// How many connections were recorded since the last command was started.
    recorded: u32,
}

/// A command that runs.
#[derive(Debug)]
struct Running {
    call: String,
    argv: Vec<OsString>,
    cwd: PathBuf,
    cancel: Cancellation,
    since: Instant,
    /// Whether somebody may be asked to grant it more.
    may_ask: bool,
    /// Where it runs, once that is known and there is a proxy.
    outlet: OnceLock<Outlet>,
    alone: Alone,
}

impl Running {
    fn is_in(&self, outlet: Outlet) -> bool {
        self.outlet.get() == Some(&outlet)
    }
}

/// A host that somebody agreed to, for a time.
#[derive(Debug)]
struct Allowed {
    entry: NetworkAllowlistEntry,
    expires: Option<Moment>,
    /// While one of these runs; where there is none, as long as the session.
    during: Vec<Arc<Running>>,
    scope: GrantScope,
    /// What was opened by it is closed when this is dropped.
    hold: Hold,
}

/// A command is known to run until this is dropped.
#[derive(Debug)]
pub(super) struct Registered {
    shared: Arc<Shared>,
    running: Arc<Running>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut state = self.shared.hosts.lock();
        let ended = |one: &Arc<Running>| Arc::ptr_eq(one, &self.running);
        state.running.retain(|one| !ended(one));
        state.allowed.retain_mut(|allowed| {
            let was_for_runs = !allowed.during.is_empty();
            allowed.during.retain(|one| !ended(one));
            !(was_for_runs && allowed.during.is_empty())
        });
    }
}

impl Hosts {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hosts {
    /// Forgets what is kept in a file, which may have been taken back.
    pub(super) fn forget_kept(&self) {
        let mut state = self.lock();
        state
            .allowed
            .retain(|allowed| allowed.scope != GrantScope::Project);
    }

    /// Whether somebody was asked for this in the session and said no.
    pub(super) fn was_denied(&self, grant: &Grant) -> bool {
        let Grant::Host(entry) = grant else {
            return false;
        };
        let state = self.lock();
        let mut denied = state.denied.iter();
        denied.any(|(host, port)| entry.matches(host, *port, Protocol::Tcp))
    }
}

impl Registered {
    /// Says that a command runs.
    pub(super) fn new(shared: &Arc<Shared>, admitted: &Admitted, cancel: &Cancellation) -> Self {
        let running = Arc::new(Running {
            call: admitted.call.id.clone(),
            argv: admitted.call.argv.clone(),
            cwd: admitted.spec.cwd.clone(),
            cancel: cancel.clone(),
            since: Instant::now(),
            may_ask: !admitted
                .attempts
                .approval
                .rejects(PromptCategory::RequestPermissions),
            outlet: OnceLock::new(),
            alone: Alone::yes(),
        });
        let mut state = shared.hosts.lock();
        state.running.push(Arc::clone(&running));
        state.questions = 0;
        state.recorded = 0;
        drop(state);
        Self {
            shared: Arc::clone(shared),
            running,
        }
    }

    /// Says where it is about to run, before it does. What comes back says whether it is alone there, until it has ended.
    pub(super) fn enter(&self, ground: &Ground) -> Alone {
        let alone = self.running.alone.clone();
        let Some((outlet, is_occupied)) = ground.outlet() else {
            return alone;
        };
        let state = self.shared.hosts.lock();
        let others = state.running.iter().filter(|one| one.is_in(outlet));
        let mut is_shared = is_occupied;
        for other in others {
            is_shared = true;
            other.alone.no_longer();
        }
        if is_shared {
            alone.no_longer();
        }
        // It runs once.
        let _ = self.running.outlet.set(outlet);
        alone
    }
}

impl State {
    /// What is known about a host, if anything.
    fn known(&mut self, outlet: Outlet, host: &HostName, port: u16, now: Moment) -> Option<Answer> {
        self.allowed
            .retain(|allowed| allowed.expires.is_none_or(|expires| now < expires));
        if self.denied.contains(&(host.clone(), port)) {
            return Some(Answer::Denied);
        }
        let allowed = self.allowed.iter().find(|allowed| {
            // What is for a run is for no other outlet than that run's.
            let during = &allowed.during;
            let is_here = during.is_empty() || during.iter().any(|one| one.is_in(outlet));
            is_here && allowed.entry.matches(host, port, Protocol::Tcp)
        })?;
        // The proxy must not remember what ends before it does, or can be taken back; and closes what lives on it then.
        Some(match (allowed.scope, allowed.expires) {
            (GrantScope::Session, None) => Answer::Granted(Approval::Session),
            (_, None) => Answer::Leased(Approval::Once, allowed.hold.lease()),
            (_, Some(expires)) => {
                let left = expires.unix().saturating_sub(now.unix());
                let left = Duration::from_secs(u64::try_from(left).unwrap_or(0));
                let lease = match Instant::now().checked_add(left) {
                    Some(end) => allowed.hold.lease_until(end),
                    None => allowed.hold.lease(),
                };
                Answer::Leased(Approval::Once, lease)
            }
        })
    }

    fn runs(&self, one: &Arc<Running>) -> bool {
        self.running.iter().any(|known| Arc::ptr_eq(known, one))
    }
}

impl Gatekeeper for Shared {
    fn about(self: Arc<Self>, outlet: Outlet, host: &HostName, port: u16) -> About {
        let Some(grant) = grant_for(host, port) else {
            return About::Known(Answer::NotAsked);
        };
        let mut state = self.hosts.lock();
        if let Some(known) = state.known(outlet, host, port, now()) {
            return About::Known(known);
        }
        // Those who may have asked for it: nobody speaks in the name of a command that runs elsewhere.
        let here = state.running.iter().filter(|one| one.is_in(outlet));
        let asked: Vec<_> = here.cloned().collect();
        // Nobody is asked for what no answer could allow, nor without end.
        let may_ask = asked.iter().any(|one| one.may_ask)
            && state.questions < MOST_QUESTIONS
            && self.prompter.answers_while_running()
            && self.bounds.forbid(&grant).is_none();
        if !may_ask {
            return About::Known(Answer::NotAsked);
        }
        state.questions += 1;
        let prompt = question(&asked, &grant);
        drop(state);
        let prompter = Arc::clone(&self.prompter);
        let (session, host) = (Arc::downgrade(&self), host.clone());
        About::Ask(Box::new(move || {
            let asking = ask(prompter.as_ref(), &prompt);
            let answer = match asked.first() {
                Some(one) => block_on(unless_cancelled(&one.cancel, asking)),
                None => Some(block_on(asking)),
            };
            match (session.upgrade(), answer) {
                (Some(session), Some(answer)) => {
                    session.answered(outlet, &host, port, &asked, answer)
                }
                _ => Answer::NotAsked,
            }
        }))
    }
}

impl Shared {
    /// What an answer about these commands comes to, and what is remembered of it.
    fn answered(
        &self,
        outlet: Outlet,
        host: &HostName,
        port: u16,
        asked: &[Arc<Running>],
        answer: ReviewDecision,
    ) -> Answer {
        let wanted = grant_for(host, port);
        let (grant, scope, expires) = match answer {
            ReviewDecision::Approved | ReviewDecision::ApprovedExecpolicyAmendment { .. } => {
                (wanted, GrantScope::Run, None)
            }
            ReviewDecision::ApprovedForSession => (wanted, GrantScope::Session, None),
            ReviewDecision::ApprovedWithGrant {
                grant,
                scope,
                expires,
            } => (Some(grant), scope, expires),
            ReviewDecision::Abort => {
                for one in asked {
                    one.cancel.cancel();
                }
                return self.denied(host, port);
            }
            ReviewDecision::Denied | ReviewDecision::DeniedWithNote { .. } => {
                return self.denied(host, port);
            }
        };
        // Something may have been given that is not this host.
        let Some(Grant::Host(entry)) = &grant else {
            return self.denied(host, port);
        };
        let grant = Grant::Host(entry.clone());
        if !entry.matches(host, port, Protocol::Tcp) || self.bounds.forbid(&grant).is_some() {
            return self.denied(host, port);
        }
        self.keep_grant(&grant, scope, expires);
        let mut state = self.hosts.lock();
        let during = match scope {
            GrantScope::Run => {
                let still: Vec<_> = asked
                    .iter()
                    .filter(|one| state.runs(one))
                    .cloned()
                    .collect();
                if still.is_empty() {
                    // Whoever it was for is over; it is for nobody else.
                    return Answer::NotAsked;
                }
                still
            }
            GrantScope::Session | GrantScope::Project => Vec::new(),
        };
        state.allowed.push(Allowed {
            entry: entry.clone(),
            expires: expires.map(Moment::of_clock),
            during,
            scope,
            hold: Hold::new(),
        });
        // What has expired already is no yes.
        let known = state.known(outlet, host, port, now());
        known.unwrap_or(Answer::Denied)
    }

    fn denied(&self, host: &HostName, port: u16) -> Answer {
        self.hosts.lock().denied.push((host.clone(), port));
        Answer::Denied
    }
}

/// The smallest grant for a host and port.
fn grant_for(host: &HostName, port: u16) -> Option<Grant> {
    let entry = NetworkAllowlistEntry::with_port(&host.to_string(), port).ok()?;
    Some(Grant::Host(entry))
}

/// Records connections, also those that end with their session.
pub(super) struct Ledger {
    hosts: Arc<Hosts>,
    sink: Option<Arc<dyn AuditSink>>,
    workspace: PathBuf,
}

impl Ledger {
    pub(super) fn of(shared: &Shared) -> Self {
        Self {
            hosts: Arc::clone(&shared.hosts),
            sink: shared.options.audit.clone(),
            workspace: shared.sandbox.workspace().path().as_path().to_owned(),
        }
    }
}

impl egress::Ledger for Ledger {
    fn ended(&self, outlet: Outlet, connection: &ConnectionRecord) {
        let Some(sink) = &self.sink else {
            return;
        };
        let (running, manieth) = {
            let mut state = self.hosts.lock();
            state.recorded = state.recorded.saturating_add(1);
            let here = state.running.iter().filter(|one| one.is_in(outlet));
            (here.cloned().collect::<Vec<_>>(), state.recorded)
        };
        // Commands of a sandbox share its network: where several run, an earlier one began it, or something of an earlier one
        // is left, nobody knows whose it was.
        let begun = Instant::now().checked_sub(connection.duration);
        let whose = match running.as_slice() {
            [one] if one.alone.is() && begun.is_some_and(|begun| begun >= one.since) => Whose {
                call: &one.call,
                cwd: &one.cwd,
                perhaps: Vec::new(),
            },
            several => Whose {
                call: "",
                cwd: &self.workspace,
                perhaps: several.iter().map(|one| one.call.clone()).collect(),
            },
        };
        egress::keep(sink.as_ref(), manieth, whose, connection);
    }
}

/// The question, about the command that asks, or about those that may be the one.
fn question(running: &[Arc<Running>], grant: &Grant) -> Prompt {
    let prompt = match running {
        [one] => Prompt::new(&one.call, one.argv.iter().cloned(), &one.cwd),
        _ => {
            let cwd = running.first().map(|one| one.cwd.clone());
            let calls: Vec<&str> = running.iter().map(|one| one.call.as_str()).collect();
            Prompt::new(
                calls.join(","),
                Vec::<OsString>::new(),
                cwd.unwrap_or_default(),
            )
        }
    };
    let prompt = match running.len() {
        0 | 1 => prompt.with_reason(format!("it runs, and asks to {grant}")),
        _ => running.iter().fold(
            prompt.with_reason(format!("one of these runs and asks to {grant}:")),
            |prompt, one| {
                let line =
                    Prompt::new(&one.call, one.argv.iter().cloned(), &one.cwd).display_line();
                prompt.with_reason(line)
            },
        ),
    };
    let prompt = match running.iter().all(|one| one.alone.is()) {
        true => prompt,
        false => {
            prompt.with_reason("it may also be something that an earlier command left running")
        }
    };
    prompt
        .with_categories([PromptCategory::RequestPermissions])
        .with_proposed_grant(Some(grant.clone()))
}
