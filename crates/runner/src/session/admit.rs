//! From a command to a place where it may run: judged, asked about, placed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use palisade_exec_policy::approvals::Moment;
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
use super::state::Shared;
use crate::approve::{ApprovalKey, Prompt, ask};
use crate::attempt::Attempts;
use crate::audit::AnswerSource;
use crate::environment::{EnvError, Markers};
use crate::judge::{Case, Judgement, Standing, sandbox_view};

/// How long a command may run if neither it nor the policy says anything.
const DEFAULT_WALL: Duration = Duration::from_millis(ExecExpiration::DEFAULT_TIMEOUT_MS);

/// A command that may run.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) call_id: String,
    pub(super) spec: CommandSpec,
    /// The same as a person was asked about it.
    pub(super) asked: Asked,
    pub(super) judgement: Judgement,
    pub(super) answer: Option<ReviewDecision>,
    pub(super) answered_by: AnswerSource,
    /// The policy of the session, with what was granted to all of its commands.
    pub(super) session_policy: CanonicalSandboxPolicy,
    pub(super) attempts: Attempts,
    pub(super) wall: Option<Duration>,
}

impl Admitted {
    pub(super) fn argv(&self) -> Vec<OsString> {
        [self.spec.program.clone()]
            .into_iter()
            .chain(self.spec.args.iter().cloned())
            .collect()
    }

    /// The key of its approvals.
    pub(super) fn key(&self, purpose: ApprovalPurpose) -> ApprovalKey {
        self.asked.key(purpose, &self.session_policy)
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

/// Judges a command, asks where that is needed, and places it.
///
/// # Errors
/// It may not run.
pub(super) async fn admit(command: &Command) -> Result<Admitted, Error> {
    let shared = &command.shared;
    let call_id = command
        .call_id
        .clone()
        .unwrap_or_else(|| shared.next_call());
    let mut spec = spec(command)?;
    let argv: Vec<OsString> = [spec.program.clone()]
        .into_iter()
        .chain(spec.args.iter().cloned())
        .collect();
    let cwd = absolute(&spec.cwd)?;
    // What is judged is what is run: no link on the way there can lead elsewhere later.
    spec.cwd = cwd.as_path().to_owned();
    let asked = Asked::look(command, &spec);
    let standing = Standing {
        approval: shared.sandbox.approval,
        sandbox: sandbox_view(&shared.sandbox.placed.policy),
        preference: shared.sandbox.preference,
        backend: shared.sandbox.backend(),
    };
    let search_path = spec.env.get(std::ffi::OsStr::new("PATH")).cloned();
    let case = Case {
        argv: &argv,
        cwd: &cwd,
        search_path: search_path.as_deref(),
        env: &command.env,
        permissions: &spec.sandbox_permissions,
    };
    let mut policy = shared.sandbox.placed.policy.clone();
    for grant in shared.granted() {
        policy = policy.with_grant(&grant)?;
    }
    let judgement = shared
        .judge
        .judge_under(&case, &standing, Some(&policy), now())?;
    let session_policy = policy.clone();
    let key = |purpose| asked.key(purpose, &policy);
    let wants = asked.permissions();
    let (answer, answered_by) = answer(command, &call_id, &spec, wants, &judgement, key).await?;
    if let Some(ReviewDecision::ApprovedWithGrant { grant, .. }) = &answer
        && policy.uses_runtime_sandbox()
    {
        // Before anything is kept: a grant that cannot be given would refuse everything later.
        shared.with_grant(policy.clone(), grant)?;
    }
    let decision = orchestrator(&Placement {
        requirement: &judgement.requirement,
        answer: answer.as_ref(),
        first_attempt: SandboxOverride::NoOverride,
        preference: standing.preference,
        sandbox: standing.sandbox,
        backend: standing.backend,
        escalate_on_failure: true,
        approval: standing.approval,
    })?;
    if let Some(limits) = judgement.limits {
        policy = policy.with_limits_override(Some(limits));
    }
    let limits = policy.resource_limits();
    let mut attempts = Attempts::new(
        decision,
        policy,
        shared.sandbox.placed.policy_cwd.clone(),
        standing.approval,
    );
    attempts.accepted = shared.sandbox.placed.accepted.clone();
    attempts.home_root = shared.sandbox.placed.home_root;
    attempts.may_leave = shared.sandbox.may_leave;
    attempts.grants = grants(&judgement, asked.permissions(), answer.as_ref());
    let admitted = Admitted {
        call_id,
        wall: spec.expiration.effective_wall(&limits, DEFAULT_WALL),
        spec,
        asked,
        judgement,
        answer,
        answered_by,
        session_policy,
        attempts,
    };
    keep(shared, &admitted);
    Ok(admitted)
}

/// The command in full: its directory resolved, its environment rebuilt.
fn spec(command: &Command) -> Result<CommandSpec, Error> {
    let sandbox = &command.shared.sandbox;
    let root = sandbox.workspace().path().as_path();
    let cwd = match &command.cwd {
        Some(directory) => root.join(directory),
        None => root.to_owned(),
    };
    let placed = &sandbox.placed;
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
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    AbsolutePath::new(real).map_err(|error| Error::Path {
        path: path.to_owned(),
        why: error.to_string(),
    })
}

/// The answer that the requirement needs: kept from earlier in this session, or a person's.
async fn answer(
    command: &Command,
    call_id: &str,
    spec: &CommandSpec,
    wants: &[Grant],
    judgement: &Judgement,
    key: impl Fn(ApprovalPurpose) -> ApprovalKey,
) -> Result<(Option<ReviewDecision>, AnswerSource), Error> {
    let (reason, purpose) = match &judgement.requirement {
        ExecApprovalRequirement::Skip { .. } => return Ok((None, AnswerSource::Config)),
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
    let key = key(purpose);
    if shared.approved.contains(&key) {
        return Ok((Some(ReviewDecision::Approved), AnswerSource::Config));
    }
    let mut prompt = Prompt::new(call_id, key.argv.iter().cloned(), &spec.cwd)
        .with_purpose(purpose)
        .with_categories(judgement.categories.iter().copied())
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
    let answer = ask(shared.prompter.as_ref(), &prompt).await;
    Ok((Some(answer), AnswerSource::User))
}

/// What the command is granted from the start: by its rules, by what it asked for and got, by the answer.
fn grants(
    judgement: &Judgement,
    permissions: &[Grant],
    answer: Option<&ReviewDecision>,
) -> Vec<Grant> {
    let mut grants = judgement.grants.clone();
    let asked = judgement
        .categories
        .contains(&PromptCategory::RequestPermissions);
    if asked && answer.is_some_and(ReviewDecision::is_approval) {
        grants.extend(permissions.iter().cloned());
    }
    if let Some(ReviewDecision::ApprovedWithGrant { grant, .. }) = answer {
        grants.push(grant.clone());
    }
    grants
}

/// Keeps what the answer says is to be kept, before anything runs.
fn keep(shared: &Shared, admitted: &Admitted) {
    match &admitted.answer {
        Some(ReviewDecision::ApprovedForSession) => {
            let purpose = match &admitted.judgement.requirement {
                ExecApprovalRequirement::NeedsApproval { purpose, .. } => *purpose,
                _ => ApprovalPurpose::Run,
            };
            shared.approved.insert(admitted.key(purpose));
        }
        Some(ReviewDecision::ApprovedExecpolicyAmendment {
            proposed_execpolicy_amendment,
        }) => {
            // Only what was offered: an answer cannot make a rule of its own.
            let offer = admitted.judgement.offer.as_ref();
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
