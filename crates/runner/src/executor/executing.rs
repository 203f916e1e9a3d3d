//! The executor: one way from a request to its output.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use palisade_exec_policy::approvals::Moment;
use palisade_exec_policy::executor::Step;
use palisade_exec_policy::{
    ApprovalPurpose, AskForApproval, ReviewDecision, SandboxablePreference,
};
use palisade_policy::{CanonicalSandboxPolicy, Grant, WorkspaceRoot};

use super::apply_patch::{ApplyPatch, digest, every_path_writable};
use super::backend::{Prepared, backend_for_mode};
use super::config::{ExecutorConfig, Foundation};
use super::context::{ExecCommandContext, ToolDecisionSource};
use super::error::ExecError;
use super::judged::{Judged, judge_all, permissions};
use super::output::ExecToolCallOutput;
use super::plan::{Asking, ExecPlan, Planned, Subject, Tables, absolute};
use super::record::Record;
use super::request::{ExecutionMode, ExecutionRequest};
use super::session::ExecutorSession;
use super::shell::maybe_translate_shell_command;
use crate::approve::{ApprovalCache, ApprovalKey};
use crate::audit::{DecisionWord, trace};
use crate::environment::code_loading;
use crate::judge::{Case, Standing, sandbox_view, with_env};

/// Runs commands and patches of tools. Clones are the same executor.
#[derive(Clone, Debug)]
pub struct Executor {
    config: Arc<RwLock<ExecutorConfig>>,
    pub(super) foundation: Foundation,
    pub(super) approvals: ApprovalCache,
    pub(super) granted: SessionGrants,
}

impl Executor {
    /// An executor to which nobody has approved anything yet.
    #[must_use]
    pub fn new(config: ExecutorConfig, foundation: Foundation) -> Self {
        Self {
            config: Arc::new(RwLock::new(config)),
            foundation,
            approvals: ApprovalCache::new(),
            granted: SessionGrants::default(),
        }
    }

    /// What it is built on.
    #[must_use]
    pub const fn foundation(&self) -> &Foundation {
        &self.foundation
    }

    /// What was approved in this session.
    #[must_use]
    pub const fn approvals(&self) -> &ApprovalCache {
        &self.approvals
    }

    /// Another policy and directory for the runs that come. Runs that have begun keep theirs, and so does the helper.
    ///
    /// After a panic of another holder nothing changes here: every run is refused already.
    pub fn update_environment(&self, policy: CanonicalSandboxPolicy, cwd: WorkspaceRoot) {
        if let Ok(mut config) = self.config.write() {
            config.replace(policy, cwd);
        }
    }

    /// Decides, asks where it must, runs, and offers again what the sandbox denied.
    ///
    /// # Errors
    /// It may not run, was not approved, took too long, or could not be started. The error says which, and carries what
    /// was written.
    pub async fn run(
        &self,
        request: ExecutionRequest,
        session: &dyn ExecutorSession,
        approval: AskForApproval,
        context: &ExecCommandContext,
    ) -> Result<ExecToolCallOutput, ExecError> {
        let step = trace::decide(&context.call_id);
        let (command, cwd) = (request.params.command.clone(), request.params.cwd.clone());
        let plan = step.in_scope(|| self.plan(request, session, approval));
        match &plan {
            Ok(plan) => {
                let word = match plan.asks() {
                    Some(_) => DecisionWord::Ask,
                    None => DecisionWord::Allow,
                };
                step.decided(word, plan.source.as_deref().unwrap_or_default());
            }
            Err(error) => {
                step.decided(DecisionWord::Forbid, "");
                context.record(&ReviewDecision::Denied, ToolDecisionSource::Config);
                let sink = self.foundation.audit.as_deref();
                Record::refused(sink, context, &command, &cwd, &error.to_string());
            }
        }
        drop(step);
        self.run_with_plan(plan?, session, context).await
    }

    /// What [`run`](Self::run) would do, without asking anybody.
    ///
    /// # Errors
    /// It may not run.
    pub fn plan(
        &self,
        request: ExecutionRequest,
        session: &dyn ExecutorSession,
        approval: AskForApproval,
    ) -> Result<ExecPlan, ExecError> {
        let asked_for = request.params.command.clone();
        let params = match &request.mode {
            ExecutionMode::Shell => maybe_translate_shell_command(
                request.params,
                session.user_shell().as_ref(),
                request.use_shell_profile,
            ),
            ExecutionMode::ApplyPatch(_) => request.params,
        };
        let config = self.snapshot()?;
        let backend = backend_for_mode(&request.mode);
        let host = &self.foundation.host;
        let helper = config.linux_sandbox_exe().or(host.helper.as_deref());
        let mut prepared = backend.prepare(params, &request.mode, helper)?;
        // What is judged is what is run: no link on the way there can lead elsewhere later.
        prepared.params.cwd = absolute(&prepared.params.cwd)?.as_path().to_owned();
        prepared.look();
        let stream = request.stdout_stream.filter(|_| backend.stream_stdout());
        let draft = Draft {
            key: self.key(&prepared, &config),
            prepared,
            config,
            approval,
        };
        let (step, judged) = match &request.mode {
            ExecutionMode::Shell => self.select_for_shell(&draft, &asked_for)?,
            ExecutionMode::ApplyPatch(patch) => self.select_for_patch(&draft, patch)?,
        };
        let mut config = draft.config;
        let mut plan_grants = self.granted.of(&draft.key);
        let (mut offer, mut explanation, mut source) = (None, String::new(), None);
        if let Some(judged) = judged {
            if let Some(limits) = judged.limits {
                config.sandbox_policy = config.sandbox_policy.with_limits_override(Some(limits));
            }
            plan_grants.extend(judged.grants);
            offer = judged.offer;
            explanation = judged.explanation;
            source = Some(judged.source);
        }
        // Whoever is asked sees what makes another command of this one.
        let loading = code_loading(&draft.prepared.params.env);
        let shown = match loading.is_empty() {
            true => request.approval_command,
            false => with_env(&loading, &request.approval_command),
        };
        Ok(ExecPlan {
            prepared: draft.prepared,
            shown,
            stream,
            config,
            approval,
            key: draft.key,
            step,
            offer,
            grants: plan_grants,
            may_leave: !self.foundation.forbids_leaving(),
            explanation,
            source,
        })
    }

    /// Asks and runs what was planned.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn run_with_plan(
        &self,
        plan: ExecPlan,
        session: &dyn ExecutorSession,
        context: &ExecCommandContext,
    ) -> Result<ExecToolCallOutput, ExecError> {
        super::running::run(self, plan, session, context).await
    }

    fn snapshot(&self) -> Result<ExecutorConfig, ExecError> {
        match self.config.read() {
            Ok(config) => Ok(config.clone()),
            Err(_) => Err(ExecError::rejection("executor config poisoned")),
        }
    }

    /// What an approval of this command is kept under: the words that run, and everything that they read.
    fn key(&self, prepared: &Prepared, config: &ExecutorConfig) -> ApprovalKey {
        // A variable that loads other code makes another command of it, so it is approved with it.
        let loading = code_loading(&prepared.params.env);
        let mut argv = with_env(&loading, &prepared.params.command);
        if let Some(patch) = &prepared.patch {
            argv.push(digest(patch).into());
        }
        let loading = code_loading(&prepared.params.env);
        if !loading.is_empty() {
            argv = with_env(&loading, &argv);
        }
        ApprovalKey::new(
            ApprovalPurpose::Run,
            argv,
            prepared.params.cwd.clone(),
            &config.sandbox_policy,
        )
    }

    fn select_for_shell(
        &self,
        draft: &Draft,
        asked_for: &[std::ffi::OsString],
    ) -> Result<(Planned, Option<Judged>), ExecError> {
        let params = &draft.prepared.params;
        let cwd = absolute(&params.cwd)?;
        let permissions = permissions(params.with_escalated_permissions);
        let mut forms: Vec<&[_]> = vec![&params.command];
        if asked_for != params.command {
            forms.push(asked_for);
        }
        // What makes programs load other code makes another command of this one.
        let loading = code_loading(&params.env);
        let case = Case {
            argv: &params.command,
            env: &loading,
            cwd: &cwd,
            search_path: params
                .env
                .get(std::ffi::OsStr::new("PATH"))
                .map(|path| &**path),
            permissions: &permissions,
        };
        let standing = Standing {
            approval: draft.approval,
            sandbox: sandbox_view(&draft.config.sandbox_policy),
            preference: SandboxablePreference::Auto,
            backend: self.foundation.backend,
        };
        let judge = &self.foundation.judge;
        let judged = judge_all(
            judge,
            &forms,
            &case,
            &standing,
            &draft.config.sandbox_policy,
            now(),
        )?;
        let subject = Subject::Shell {
            risk: judged.risk,
            escalation_requested: params.with_escalated_permissions,
        };
        let step = self.select(draft, subject, judged.asks.as_ref(), judged.bypass)?;
        Ok((step, Some(judged)))
    }

    fn select_for_patch(
        &self,
        draft: &Draft,
        patch: &ApplyPatch,
    ) -> Result<(Planned, Option<Judged>), ExecError> {
        let base = absolute(&draft.prepared.params.cwd)?;
        let foundation = &self.foundation;
        let changes = patch.read()?;
        let every_path_writable = match &changes {
            Some(changes) => every_path_writable(changes, &base, foundation, &draft.config)?,
            None => false,
        };
        let subject = Subject::Patch {
            explicitly_approved: patch.explicitly_approved,
            is_empty: changes.is_none(),
            every_path_writable,
        };
        Ok((self.select(draft, subject, None, false)?, None))
    }

    /// The tables, the question of the rules, and what the session approved, put together.
    fn select(
        &self,
        draft: &Draft,
        subject: Subject,
        rules_ask: Option<&Option<String>>,
        bypass: bool,
    ) -> Result<Planned, ExecError> {
        let policy = &draft.config.sandbox_policy;
        let tables = Tables::new(&self.foundation, policy, draft.approval, subject);
        let approved = |purpose| {
            let key = draft.prepared.key_for(&draft.key, purpose);
            self.approvals.contains(&key)
        };
        let by_table = approved(tables.purpose());
        let reason = rules_ask.cloned().flatten();
        let earlier = (ReviewDecision::ApprovedForSession, ToolDecisionSource::User);
        Ok(match tables.step(by_table || bypass)? {
            Step::Ask(ask) => Planned::Ask {
                how: Asking::Table(ask, tables),
                reason,
                purpose: tables.purpose(),
            },
            Step::Run(decision) if by_table => Planned::Run {
                decision,
                because: earlier,
            },
            Step::Run(decision) if rules_ask.is_some() && !approved(ApprovalPurpose::Run) => {
                Planned::Ask {
                    how: Asking::Rules(decision),
                    reason,
                    purpose: ApprovalPurpose::Run,
                }
            }
            Step::Run(decision) => Planned::Run {
                decision,
                because: match rules_ask {
                    Some(_) => earlier,
                    None => (ReviewDecision::Approved, ToolDecisionSource::Config),
                },
            },
            Step::Reject(refusal) => return Err(ExecError::rejection(refusal.to_string())),
        })
    }
}

/// A plan before it is known where it runs.
struct Draft {
    prepared: Prepared,
    config: ExecutorConfig,
    approval: AskForApproval,
    key: ApprovalKey,
}

/// What was granted to commands until the session ends, each to the command that it was granted to.
#[derive(Clone, Debug, Default)]
pub(super) struct SessionGrants {
    kept: Arc<Mutex<HashMap<ApprovalKey, Vec<Kept>>>>,
}

#[derive(Clone, Debug)]
struct Kept {
    grant: Grant,
    expires: Option<u64>,
}

impl SessionGrants {
    /// What holds now for this command. After a panic, nothing does.
    fn of(&self, key: &ApprovalKey) -> Vec<Grant> {
        let Ok(kept) = self.kept.lock() else {
            return Vec::new();
        };
        let now = unix_now();
        let holds = |kept: &&Kept| kept.expires.is_none_or(|expires| now < expires);
        let of_key = kept.get(key).into_iter().flatten();
        of_key
            .filter(holds)
            .map(|kept| kept.grant.clone())
            .collect()
    }

    pub(super) fn keep(&self, key: &ApprovalKey, grant: &Grant, expires: Option<u64>) {
        if let Ok(mut kept) = self.kept.lock() {
            let of_key = kept.entry(key.clone()).or_default();
            of_key.retain(|one| one.grant != *grant);
            of_key.push(Kept {
                grant: grant.clone(),
                expires,
            });
        }
    }
}

/// The seconds of the clock. One that stands before 1970 makes nothing valid.
fn unix_now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// The moment, as approvals count it.
pub(super) fn now() -> Moment {
    Moment::of_clock(unix_now())
}

// The paths in it are those of Unix.
#[cfg(test)]
#[cfg(unix)]
#[path = "executing_tests.rs"]
mod tests;
