//! Running a plan: asking first, then attempts, through the one attempt engine.

use std::sync::Arc;

use palisade_exec_policy::{
    ApprovalPurpose, ExecPolicyAmendment, GrantScope, Refusal, ReviewDecision, SandboxDecision,
};
use palisade_policy::{Grant, SandboxType};

use super::context::{ExecCommandContext, ToolDecisionSource};
use super::error::{ExecError, RunError};
use super::executing::{Executor, now};
use super::output::ExecToolCallOutput;
use super::plan::{Asking, ExecPlan, Planned};
use super::process::{How, classify, spawn, with_helper};
use super::record::{Record, audit_source, word};
use super::session::{CommandApproval, ExecutorSession};
use crate::approve::{BoxFuture, no_on_panic, visible};
use crate::attempt::{
    self, Attempted, Attempting, Attempts, Notice, Retry, RetryKind, RetryQuestion, Tried,
};
use crate::audit::trace;
use crate::egress::CallLedger;
use crate::host::Host;
use crate::launch::Placed;
use crate::outcome::Outcome;

/// What the model is told after a no.
const REJECTED: &str = "exec command rejected by user";

/// Asks and runs what was planned.
pub(super) async fn run(
    executor: &Executor,
    plan: ExecPlan,
    session: &dyn ExecutorSession,
    context: &ExecCommandContext,
) -> Result<ExecToolCallOutput, ExecError> {
    let helper = plan.config.linux_sandbox_exe().map(Into::into);
    let mut host = with_helper(&executor.foundation.host, helper);
    if let Some(sink) = &executor.foundation.audit {
        let ledger = CallLedger::new(Arc::clone(sink), &context.call_id, plan.cwd());
        host.egress = host.egress.told_to(Arc::new(ledger));
    }
    let mut running = Running {
        host,
        executor,
        plan: &plan,
        session,
        context,
        escalating: None,
    };
    let mut record = Record::of(executor.foundation.audit.as_deref(), context, &plan);
    let result = running.through(&mut record).await;
    if let Err(error) = &result {
        record.refused_later(&error.to_string());
    }
    record.keep();
    result
}

/// What all attempts together come to.
fn concluded(
    attempted: Attempted<Result<ExecToolCallOutput, RunError>>,
) -> Result<ExecToolCallOutput, ExecError> {
    match (attempted.retry, attempted.value) {
        (Retry::Declined(refusal), _) => Err(rejected(refusal)),
        (_, Err(RunError::Sandbox(error))) if !attempted.evidence.is_empty() => {
            let sandbox = attempted.placed.sandbox;
            Err(ExecError::rejection(format!(
                "failed in sandbox {sandbox:?} with execution error: {error:?}"
            )))
        }
        (_, value) => value.map_err(ExecError::from),
    }
}

/// The refusal of a person, with the note to the model if there is one.
fn rejected(refusal: Refusal) -> ExecError {
    match refusal {
        Refusal::Denied { note: Some(note) } => ExecError::rejection(format!("{REJECTED}: {note}")),
        Refusal::Denied { note: None } | Refusal::Aborted => ExecError::rejection(REJECTED),
        other => ExecError::rejection(other.to_string()),
    }
}

/// One run in progress.
struct Running<'a> {
    host: Host,
    executor: &'a Executor,
    plan: &'a ExecPlan,
    session: &'a dyn ExecutorSession,
    context: &'a ExecCommandContext,
    /// What began with a question about another attempt, and ends with that attempt.
    escalating: Option<trace::Step>,
}

impl Running<'_> {
    /// Asks, attempts, and says what came of it.
    async fn through(&mut self, record: &mut Record<'_>) -> Result<ExecToolCallOutput, ExecError> {
        let (plan, foundation) = (self.plan, &self.executor.foundation);
        let (decision, given) = self.decide(record).await?;
        let mut attempts = Attempts::new(
            decision,
            plan.config.sandbox_policy.clone(),
            plan.config.sandbox_cwd.clone(),
            plan.approval,
        );
        attempts.accepted = foundation.accepted.clone();
        attempts.home_root = foundation.home_root;
        attempts.grants = plan.grants.iter().cloned().chain(given).collect();
        attempts.may_leave = plan.may_leave;
        let attempted = attempt::run(&attempts, self)
            .await
            .map_err(RunError::from)?;
        record.ended(&attempted);
        concluded(attempted)
    }

    /// Where the first attempt runs, and what the answer that let it run adds to its sandbox.
    async fn decide(
        &mut self,
        record: &mut Record<'_>,
    ) -> Result<(SandboxDecision, Option<Grant>), ExecError> {
        let (how, reason, purpose) = match &self.plan.step {
            Planned::Run { decision, because } => {
                self.context.record(&because.0, because.1);
                record.answered(&because.0, because.1);
                return Ok((*decision, None));
            }
            Planned::Ask {
                how,
                reason,
                purpose,
            } => (how, reason, *purpose),
        };
        let question = CommandApproval {
            proposed_execpolicy_amendment: self.offered(),
            ..self.question(reason.clone(), purpose)
        };
        let step = trace::approve(&self.context.call_id);
        let answer = step.wait(self.answer(question)).await;
        step.answered(word(&answer), audit_source(ToolDecisionSource::User));
        self.context.record(&answer, ToolDecisionSource::User);
        record.answered(&answer, ToolDecisionSource::User);
        let decision = match how {
            Asking::Table(ask, tables) => {
                let decision = ask.answered(&answer).map_err(rejected)?;
                tables.kept_inside(decision)?
            }
            Asking::Rules(decision) => {
                refuse(&answer)?;
                *decision
            }
        };
        // Before the launch: a command that runs long is not asked about again meanwhile.
        if answer == ReviewDecision::ApprovedForSession {
            let key = self.plan.prepared.key_for(&self.plan.key, purpose);
            self.executor.approvals.insert(key);
        }
        let given = match answer {
            ReviewDecision::ApprovedExecpolicyAmendment {
                proposed_execpolicy_amendment,
            } => {
                self.keep_amendment(&proposed_execpolicy_amendment).await;
                None
            }
            ReviewDecision::ApprovedWithGrant {
                grant,
                scope,
                expires,
            } => {
                if scope != GrantScope::Run {
                    self.keep_grant(&grant, scope, expires).await;
                }
                Some(grant)
            }
            _ => None,
        };
        Ok((decision, given))
    }

    fn offered(&self) -> Option<ExecPolicyAmendment> {
        let offer = self.plan.offer.as_ref()?;
        Some(offer.amendment.clone())
    }

    fn question(&self, reason: Option<String>, purpose: ApprovalPurpose) -> CommandApproval {
        CommandApproval {
            sub_id: self.context.sub_id.clone(),
            call_id: self.context.call_id.clone(),
            command: self.plan.shown.clone(),
            cwd: self.plan.prepared.params.cwd.clone(),
            reason: reason.as_deref().map(visible),
            justification: self
                .plan
                .prepared
                .params
                .justification
                .as_deref()
                .map(visible),
            purpose,
            proposed_execpolicy_amendment: None,
            proposed_grant: None,
        }
    }

    /// The answer; a question that was dropped is denied, and so is one whose asking panicked.
    async fn answer(&self, question: CommandApproval) -> ReviewDecision {
        let session = self.session;
        no_on_panic(|| -> BoxFuture<'_, ReviewDecision> {
            let answer = session.request_command_approval(question);
            Box::pin(async move { answer.await.unwrap_or_default() })
        })
        .await
    }

    /// Keeps the prefix that was offered. Another one was not asked about, so it approves this once.
    async fn keep_amendment(&self, accepted: &ExecPolicyAmendment) {
        let offer = self.plan.offer.as_ref();
        let Some(offer) = offer.filter(|offer| offer.amendment == *accepted) else {
            return;
        };
        let kept = match self.executor.foundation.judge.accept(offer, now()) {
            Ok(edit) => self.session.persist_amendment(edit).await,
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = kept {
            self.tell(format!("the approval was not kept: {why}")).await;
        }
    }

    async fn keep_grant(&self, grant: &Grant, scope: GrantScope, expires: Option<u64>) {
        let key = &self.plan.key;
        self.executor.granted.keep(key, grant, expires);
        if scope != GrantScope::Project {
            return;
        }
        let kept = self.session.persist_grant(grant.clone(), scope, expires);
        if let Err(why) = kept.await {
            let message = format!("the grant is kept for this session only: {why}");
            self.tell(message).await;
        }
    }

    async fn tell(&self, message: String) {
        let sub_id = &self.context.sub_id;
        // It may quote what a command wrote.
        let message = visible(&message);
        self.session.notify_background_event(sub_id, message).await;
    }
}

impl Attempting for Running<'_> {
    type Value = Result<ExecToolCallOutput, RunError>;

    fn attempt<'a>(&'a mut self, placed: &'a Placed) -> BoxFuture<'a, Tried<Self::Value>> {
        Box::pin(async move {
            let how = How {
                call_id: &self.context.call_id,
                limits: self.plan.config.sandbox_policy.resource_limits(),
                stream: self.plan.stream.as_ref(),
                cancel: self.context.cancel.clone(),
            };
            let escalating = self.escalating.take();
            let run = spawn(&self.host, &self.plan.prepared, placed, how);
            let finished = match &escalating {
                Some(step) => step.wait(run).await,
                None => run.await,
            };
            let finished = match finished {
                Ok(finished) => finished,
                Err(error) => return Tried::Done(Err(error)),
            };
            if let Some(step) = &escalating {
                step.ended(&finished.outcome);
            }
            let evidence = match &finished.outcome {
                Outcome::Denied { evidence, .. } => Some(evidence.clone()),
                _ => None,
            };
            let value = classify(finished);
            match evidence {
                Some(evidence) => Tried::Denied { value, evidence },
                None => Tried::Done(value),
            }
        })
    }

    fn ask<'a>(&'a mut self, question: &'a RetryQuestion) -> BoxFuture<'a, ReviewDecision> {
        Box::pin(async move {
            let purpose = question.kind.purpose();
            let asked = CommandApproval {
                proposed_grant: match &question.kind {
                    RetryKind::Narrower(grant) => Some(grant.clone()),
                    _ => None,
                },
                ..self.question(Some(question.text()), purpose)
            };
            let next = match question.kind {
                RetryKind::Unsandboxed => SandboxType::None,
                _ => question.sandbox,
            };
            let step = trace::escalate(&self.context.call_id, next);
            let answer = step.wait(self.answer(asked)).await;
            step.answered(word(&answer), audit_source(ToolDecisionSource::User));
            self.context.record(&answer, ToolDecisionSource::User);
            let leaves = question.kind == RetryKind::Unsandboxed;
            if leaves && answer == ReviewDecision::ApprovedForSession {
                let key = self.plan.prepared.key_for(&self.plan.key, purpose);
                self.executor.approvals.insert(key);
            }
            if answer.is_approval() {
                self.escalating = Some(step);
            }
            answer
        })
    }

    fn notice<'a>(&'a mut self, notice: &'a Notice) -> BoxFuture<'a, ()> {
        Box::pin(self.tell(notice.to_string()))
    }

    fn keep<'a>(
        &'a mut self,
        grant: &'a Grant,
        scope: GrantScope,
        expires: Option<u64>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(self.keep_grant(grant, scope, expires))
    }
}

/// Ends the run after a no.
fn refuse(answer: &ReviewDecision) -> Result<(), ExecError> {
    match answer {
        ReviewDecision::Denied => Err(ExecError::rejection(REJECTED)),
        ReviewDecision::DeniedWithNote { note } => Err(rejected(Refusal::Denied {
            note: Some(note.clone()),
        })),
        ReviewDecision::Abort => Err(rejected(Refusal::Aborted)),
        ReviewDecision::Approved
        | ReviewDecision::ApprovedForSession
        | ReviewDecision::ApprovedExecpolicyAmendment { .. }
        | ReviewDecision::ApprovedWithGrant { .. } => Ok(()),
    }
}
