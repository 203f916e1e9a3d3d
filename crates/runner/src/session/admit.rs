//! From a command to a place where it may run: judged, asked about, placed.

use std::ffi::OsString;
use std::future::{Future, poll_fn};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use palisade_exec_policy::approvals::Moment;
use palisade_exec_policy::authoring::Explanation;
use palisade_exec_policy::{
    ApprovalPurpose, ExecApprovalRequirement, GrantScope, Placement, PromptCategory, Refusal,
    ReviewDecision, SandboxOverride, orchestrator,
};
use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, CommandSpec, Environment, ExecExpiration, Grant,
    SandboxType,
};

use super::asked::Asked;
use super::command::Command;
use super::error::Error;
use super::progress::Progress;
use super::record::word_of;
use super::state::Shared;
use crate::approve::{ApprovalKey, Prompt, ask};
use crate::attempt::Attempts;
use crate::audit::{AnswerSource, DecisionWord, trace};
use crate::environment::{EnvError, Markers};
use crate::host::real_path;
use crate::judge::{Case, Judge, Judgement, Standing, sandbox_view, with_env};
use crate::supervise::Cancellation;

/// How long a command may run if neither it nor the policy says anything.
const DEFAULT_WALL: Duration = Duration::from_millis(ExecExpiration::DEFAULT_TIMEOUT_MS);

/// What is known about a call, whether it may run or not.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: String,
    /// The command with the variables that it asked for, as it is judged, shown and recorded.
    pub(super) argv: Vec<OsString>,
    pub(super) cwd: PathBuf,
    pub(super) judgement: Option<Arc<Judgement>>,
    pub(super) answer: Option<ReviewDecision>,
    pub(super) answered_by: AnswerSource,
}

/// A command that may run.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) call: Call,
    pub(super) spec: CommandSpec,
    /// The same as a person was asked about it.
    pub(super) asked: Asked,
    /// The policy of the session, with what was granted to all of its commands.
    pub(super) session_policy: CanonicalSandboxPolicy,
    pub(super) attempts: Attempts,
    pub(super) wall: Option<Duration>,
}

impl Admitted {
    /// The key of its approvals.
    pub(super) fn key(&self, purpose: ApprovalPurpose) -> ApprovalKey {
        self.asked.key(purpose, &self.session_policy)
    }
}

impl Call {
    fn of(command: &Command) -> Self {
        let shared = &command.shared;
        let id = command.call_id.clone();
        let argv: Vec<OsString> = [command.program.clone()]
            .into_iter()
            .chain(command.args.iter().cloned())
            .collect();
        let root = shared.sandbox.workspace().path().as_path();
        Self {
            id: id.unwrap_or_else(|| shared.next_call()),
            argv: with_env(&command.env, &argv),
            cwd: match &command.cwd {
                Some(directory) => root.join(directory),
                None => root.to_owned(),
            },
            judgement: None,
            answer: None,
            answered_by: AnswerSource::Config,
        }
    }
}

/// Now, for approvals that expire. A clock before 1970 makes nothing valid.
pub(super) fn now() -> Moment {
    Moment::of_clock(
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs()),
    )
}

/// Judges a command, asks where that is needed, and places it. What may not run is recorded here.
///
/// # Errors
/// It may not run.
pub(super) async fn admit(command: &Command) -> Result<Admitted, Error> {
    let mut call = Call::of(command);
    match place(command, &mut call).await {
        Ok(placed) => {
            let admitted = placed.admitted(call);
            keep(&command.shared, &admitted);
            Ok(admitted)
        }
        Err(error) => {
            command.shared.record_refused(&call, &error);
            Err(error)
        }
    }
}

/// What the rules say about a command, and how they came to that; nothing is asked.
///
/// # Errors
/// Nothing can be said.
pub(super) fn look(command: &Command) -> Result<(Judgement, Explanation), Error> {
    let call = Call::of(command);
    let standing = standing(&command.shared);
    let (_, _, both) = judged(command, &call, |judge, case, policy| {
        let now = now();
        let judgement = judge.judge_under(case, &standing, Some(policy), now)?;
        let explanation = judge.explain_under(case, &standing, Some(policy), now)?;
        Ok((judgement, explanation))
    })?;
    Ok(both)
}

/// Where a command would run, and for how long, if whoever is asked agrees. Nothing is recorded or kept.
///
/// # Errors
/// It would not run.
pub(super) async fn would_run(command: &Command) -> Result<(Attempts, Option<Duration>), Error> {
    let place = place(command, &mut Call::of(command)).await?;
    Ok((place.attempts, place.wall))
}

/// An admitted command, but for what is known about its call.
struct Place {
    spec: CommandSpec,
    asked: Asked,
    session_policy: CanonicalSandboxPolicy,
    attempts: Attempts,
    wall: Option<Duration>,
}

impl Place {
    fn admitted(self, call: Call) -> Admitted {
        Admitted {
            call,
            spec: self.spec,
            asked: self.asked,
            session_policy: self.session_policy,
            attempts: self.attempts,
            wall: self.wall,
        }
    }
}

async fn place(command: &Command, call: &mut Call) -> Result<Place, Error> {
    let shared = &command.shared;
    let sandbox = &shared.sandbox;
    let standing = standing(shared);
    let step = trace::decide(&call.id);
    let (spec, asked, judgement) = match step.in_scope(|| judge(command, call, &standing)) {
        Ok(judged) => judged,
        Err(error) => {
            step.decided(DecisionWord::Forbid, "");
            return Err(error);
        }
    };
    step.decided(word(&judgement.requirement), &judgement.source);
    drop(step);
    command.watcher.tell(&Progress::Judged(&judgement));
    let judgement = &Arc::new(judgement);
    call.judgement = Some(Arc::clone(judgement));

    let mut policy = sandbox.placed.policy.clone();
    for grant in shared.granted() {
        policy = policy.with_grant(&grant)?;
    }
    let session_policy = policy.clone();
    for grant in asked.permissions() {
        if let Some(refusal) = shared.bounds.forbid(grant) {
            return Err(refusal.into());
        }
    }
    let answered = answer(
        command,
        call,
        &spec,
        asked.permissions(),
        judgement,
        |purpose| asked.key(purpose, &session_policy),
    )
    .await?;
    if let Some((answer, source)) = answered {
        call.answer = Some(answer);
        call.answered_by = source;
    }
    let decision = orchestrator(&Placement {
        requirement: &judgement.requirement,
        answer: call.answer.as_ref(),
        first_attempt: SandboxOverride::NoOverride,
        preference: standing.preference,
        sandbox: standing.sandbox,
        backend: standing.backend,
        escalate_on_failure: true,
        approval: standing.approval,
    })?;
    let confined = policy.uses_runtime_sandbox();
    if confined && !sandbox.may_leave && decision.initial_sandbox == SandboxType::None {
        // Neither does a rule lead out of a sandbox that nobody may leave.
        return Err(Refusal::MayNotAsk(PromptCategory::SandboxApproval).into());
    }
    let limits = judgement.limits_under(&policy.resource_limits());
    if judgement.limits.is_some() {
        policy = policy.with_limits_override(Some(limits));
    }
    let mut attempts = Attempts::new(
        decision,
        policy,
        sandbox.placed.policy_cwd.clone(),
        standing.approval,
    );
    attempts.accepted = sandbox.placed.accepted.clone();
    attempts.home_root = sandbox.placed.home_root;
    attempts.may_leave = sandbox.may_leave;
    attempts.grants = grants(shared, judgement, asked.permissions(), call.answer.as_ref())?;
    let first = attempts.first()?;
    if first.sandbox != SandboxType::None && first.policy != sandbox.placed.policy {
        shared.bounds.check(sandbox, &first.policy)?;
    }
    Ok(Place {
        wall: spec.expiration.effective_wall(&limits, DEFAULT_WALL),
        spec,
        asked,
        session_policy,
        attempts,
    })
}

/// What decisions about the commands of a session depend on besides the command.
fn standing(shared: &Shared) -> Standing {
    let sandbox = &shared.sandbox;
    Standing {
        approval: sandbox.approval,
        sandbox: sandbox_view(&sandbox.placed.policy),
        preference: sandbox.preference,
        backend: sandbox.backend(),
    }
}

/// What the rules say about the command.
fn judge(
    command: &Command,
    call: &Call,
    standing: &Standing,
) -> Result<(CommandSpec, Asked, Judgement), Error> {
    judged(command, call, |judge, case, policy| {
        Ok(judge.judge_under(case, standing, Some(policy), now())?)
    })
}

/// Puts a command to the judge, as it would run.
fn judged<T>(
    command: &Command,
    call: &Call,
    ask: impl FnOnce(&Judge, &Case<'_>, &CanonicalSandboxPolicy) -> Result<T, Error>,
) -> Result<(CommandSpec, Asked, T), Error> {
    let mut spec = spec(command, &call.cwd)?;
    let cwd = absolute(&spec.cwd)?;
    // What is judged is what is run: no link on the way there can lead elsewhere later.
    spec.cwd = cwd.as_path().to_owned();
    let asked = Asked::look(command, &spec);
    let argv: Vec<OsString> = [spec.program.clone()]
        .into_iter()
        .chain(spec.args.iter().cloned())
        .collect();
    let search_path = spec.env.get(std::ffi::OsStr::new("PATH")).cloned();
    let case = Case {
        argv: &argv,
        cwd: &cwd,
        search_path: search_path.as_deref(),
        env: &command.env,
        permissions: &spec.sandbox_permissions,
    };
    let mut policy = command.shared.sandbox.placed.policy.clone();
    for grant in command.shared.granted() {
        policy = policy.with_grant(&grant)?;
    }
    let said = ask(&command.shared.judge, &case, &policy)?;
    Ok((spec, asked, said))
}

/// What a decision is called in records.
pub(super) const fn word(requirement: &ExecApprovalRequirement) -> DecisionWord {
    match requirement {
        ExecApprovalRequirement::Skip { .. } => DecisionWord::Allow,
        ExecApprovalRequirement::NeedsApproval { .. } => DecisionWord::Ask,
        ExecApprovalRequirement::Forbidden { .. } => DecisionWord::Forbid,
    }
}

/// The command in full, its environment rebuilt.
fn spec(command: &Command, cwd: &Path) -> Result<CommandSpec, Error> {
    let placed = &command.shared.sandbox.placed;
    let env = environment(command, placed.sandbox, &placed.policy)
        .map_err(|error| Error::Environment(error.to_string()))?;
    let mut spec = CommandSpec::new(command.program.clone())
        .with_args(command.args.iter().cloned())
        .with_cwd(cwd)
        .with_env(env)
        .with_expiration(command.expiration)
        .with_sandbox_permissions(command.permissions.clone());
    spec.justification = command.justification.clone();
    Ok(spec)
}

/// The environment of an attempt: what the command says and inherits, and what its sandbox is.
pub(super) fn environment(
    command: &Command,
    sandbox: SandboxType,
    policy: &CanonicalSandboxPolicy,
) -> Result<Environment, EnvError> {
    let shared = &command.shared.sandbox;
    let mut environment = shared.environment.clone();
    for (name, value) in &command.env {
        environment = environment.with_set(name.clone(), value.clone());
    }
    let markers = Markers::for_policy(sandbox, policy);
    Ok(environment.build(&shared.host.environment, &markers)?.env)
}

fn absolute(path: &Path) -> Result<AbsolutePath, Error> {
    // Where a command runs is judged without links, as everything is.
    let real = real_path(path).unwrap_or_else(|_| PathBuf::from(path));
    AbsolutePath::new(real).map_err(|error| Error::Path {
        path: path.to_owned(),
        why: error.to_string(),
    })
}

/// The answer that the requirement needs, and who gave it: kept from earlier in this session, or a person's. `None` where
/// none is needed.
async fn answer(
    command: &Command,
    call: &Call,
    spec: &CommandSpec,
    wants: &[Grant],
    judgement: &Judgement,
    key: impl Fn(ApprovalPurpose) -> ApprovalKey,
) -> Result<Option<(ReviewDecision, AnswerSource)>, Error> {
    let (reason, purpose) = match &judgement.requirement {
        ExecApprovalRequirement::Skip { .. } => return Ok(None),
        ExecApprovalRequirement::Forbidden { reason } => {
            return Err(Refusal::Forbidden {
                reason: reason.clone(),
            }
            .into());
        }
        ExecApprovalRequirement::NeedsApproval {
            reason, purpose, ..
        } => (reason, *purpose),
    };
    let shared = &command.shared;
    if purpose == ApprovalPurpose::RunUnsandboxed && !shared.sandbox.may_leave {
        // Nobody is asked for what no answer could allow.
        return Err(Refusal::MayNotAsk(PromptCategory::SandboxApproval).into());
    }
    let step = trace::approve(&call.id);
    let key = key(purpose);
    if shared.approved.contains(&key) {
        let approved = ReviewDecision::Approved;
        step.answered(word_of(&approved), AnswerSource::Config);
        return Ok(Some((approved, AnswerSource::Config)));
    }
    let mut prompt = Prompt::new(&call.id, call.argv.iter().cloned(), &spec.cwd)
        .with_purpose(purpose)
        .with_categories(judgement.categories.iter().copied())
        .with_rule(asking_rule(shared, judgement).as_deref())
        .with_proposed_amendment(
            judgement
                .offer
                .as_ref()
                .map(|offer| offer.amendment.clone()),
        )
        .with_justification(spec.justification.as_deref());
    if let Some(reason) = reason {
        prompt = prompt.with_reason(reason);
    }
    for grant in wants {
        prompt = prompt.with_reason(format!("it asks to {grant}"));
    }
    let asking = ask(shared.prompter.as_ref(), &prompt);
    let answer = step
        .wait(unless_cancelled(&command.cancel, asking))
        .await
        .ok_or(Error::Cancelled)?;
    step.answered(word_of(&answer), AnswerSource::User);
    Ok(Some((answer, AnswerSource::User)))
}

/// The rule that asks, and where it stands.
fn asking_rule(shared: &Shared, judgement: &Judgement) -> Option<String> {
    if !judgement.categories.contains(&PromptCategory::Rules) {
        return None;
    }
    let rules = shared.judge.rules();
    let mut rules = rules.policy().rules().iter();
    let rule = rules.find(|rule| rule.id == judgement.source)?;
    let (source, line) = (&rule.origin.source, rule.origin.line);
    Some(format!("{} stands at {source}:{line}", rule.id))
}

/// Waits for something, unless somebody cancels first. Needs no runtime.
pub(super) async fn unless_cancelled<T>(
    cancel: &Cancellation,
    waiting: impl Future<Output = T>,
) -> Option<T> {
    let (mut waiting, mut cancelled) = (pin!(waiting), pin!(cancel.cancelled()));
    poll_fn(|context| {
        if cancelled.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        waiting.as_mut().poll(context).map(Some)
    })
    .await
}

/// What the command is granted from the start: by its rules, by what it asked for and got, by the answer.
///
/// # Errors
/// The answer goes below the floor. What rules that know nothing of the floor add below it is left out.
fn grants(
    shared: &Shared,
    judgement: &Judgement,
    permissions: &[Grant],
    answer: Option<&ReviewDecision>,
) -> Result<Vec<Grant>, Error> {
    let bounds = &shared.bounds;
    let mut grants = judgement.grants.clone();
    if !bounds.is_floor(shared.judge.rules().policy().floor()) {
        grants.retain(|grant| bounds.forbid(grant).is_none());
    }
    let asked = judgement
        .categories
        .contains(&PromptCategory::RequestPermissions);
    if asked && answer.is_some_and(ReviewDecision::is_approval) {
        grants.extend(permissions.iter().cloned());
    }
    if let Some(ReviewDecision::ApprovedWithGrant { grant, .. }) = answer {
        if let Some(refusal) = bounds.forbid(grant) {
            return Err(refusal.into());
        }
        grants.push(grant.clone());
    }
    Ok(grants)
}

/// Keeps what the answer says is to be kept, before anything runs.
fn keep(shared: &Shared, admitted: &Admitted) {
    let judgement = admitted.call.judgement.as_ref();
    match &admitted.call.answer {
        Some(ReviewDecision::ApprovedForSession) => {
            let purpose = match judgement.map(|judgement| &judgement.requirement) {
                Some(ExecApprovalRequirement::NeedsApproval { purpose, .. }) => *purpose,
                _ => ApprovalPurpose::Run,
            };
            shared.approved.insert(admitted.key(purpose));
        }
        Some(ReviewDecision::ApprovedExecpolicyAmendment {
            proposed_execpolicy_amendment,
        }) => {
            // Only what was offered: an answer cannot make a rule of its own.
            let offer = judgement.and_then(|judgement| judgement.offer.as_ref());
            match offer.filter(|offer| offer.amendment == *proposed_execpolicy_amendment) {
                Some(offer) => shared.keep_offer(offer),
                None => tracing::warn!("an amendment that was not offered approves once"),
            }
        }
        Some(ReviewDecision::ApprovedWithGrant {
            grant,
            scope,
            expires,
        }) if *scope != GrantScope::Run => shared.keep_grant(grant, *scope, *expires),
        _ => {}
    }
}
