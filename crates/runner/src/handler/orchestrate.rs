//! Decides, asks and makes the attempts of a tool.
//!
//! What has to happen first is said by `palisade_exec_policy::decide`, or by the tool, which has its command judged by
//! the same; where the first attempt runs is said by `palisade_exec_policy::orchestrator`; what happens after a denial by
//! [`crate::attempt`]. This file carries questions and answers between them and has no opinion of its own.

use palisade_exec_policy::{
    ApprovalPurpose, AskForApproval, ExecApprovalRequirement, ExecPolicyAmendment, GrantScope,
    Placement, PromptCategory, Question, ReviewDecision, SandboxDecision, decide, orchestrator,
};
use palisade_policy::{CanonicalSandboxPolicy, Grant};
use serde::Serialize;

use super::attempt::SandboxAttempt;
use super::error::ToolError;
use super::traits::{ApprovalCtx, DecisionSource, ToolCtx, ToolEvent, ToolRuntime};
use super::turn::{TurnContext, canonical_sandbox_policy};
use crate::approve::{BoxFuture, fingerprint, no_on_panic, with_cached_approval};
use crate::attempt::{self, Attempting, Attempts, Notice, Retry, RetryKind, RetryQuestion, Tried};
use crate::launch::Placed;

/// Runs a tool: what it requires first, a question if there must be one, the first attempt, and after a denial another one
/// if somebody agrees.
///
/// # Errors
/// It may not run, a person said no, or the last attempt failed.
pub async fn run<T, Req, Out>(
    tool: &mut T,
    req: &Req,
    ctx: &ToolCtx,
    turn: &TurnContext,
    approval_policy: AskForApproval,
) -> Result<Out, ToolError>
where
    T: ToolRuntime<Req, Out> + Send,
    Req: Sync,
    Out: Send,
{
    let policy = canonical_sandbox_policy(turn);
    let mut orchestration = Orchestration {
        fingerprint: fingerprint(&policy),
        tool,
        req,
        ctx,
        turn,
        approval_policy,
        denial: String::new(),
        out: std::marker::PhantomData,
    };
    let requirement = orchestration.requirement();
    let answer = orchestration.answer(&requirement).await;
    let placed = orchestration.place(&requirement, answer.as_ref());
    if answer.is_none() {
        orchestration.record_unasked(&requirement, &placed).await;
    }
    let decision = placed?;
    let attempts = orchestration
        .attempts(decision, policy, &requirement, answer)
        .await;
    let attempted = attempt::run(&attempts, &mut orchestration)
        .await
        .map_err(ToolError::internal)?;
    match attempted.retry {
        Retry::Declined(refusal) => Err(ToolError::Rejected(format!(
            "{refusal}; the sandbox had denied it: {}",
            orchestration.denial
        ))),
        _ => attempted.value,
    }
}

/// One run of a tool, between the parts that decide.
struct Orchestration<'a, T, Req, Out> {
    tool: &'a mut T,
    req: &'a Req,
    ctx: &'a ToolCtx,
    turn: &'a TurnContext,
    approval_policy: AskForApproval,
    fingerprint: String,
    /// What the last denial said.
    denial: String,
    out: std::marker::PhantomData<fn() -> Out>,
}

/// Under what an answer is kept for the session: what the tool names, and what every tool might forget to name.
#[derive(Serialize)]
struct SessionKey<'a, K> {
    tool: &'a str,
    purpose: ApprovalPurpose,
    key: K,
    cwd: &'a palisade_policy::AbsolutePath,
    policy: &'a str,
}

/// What is asked of a person, and about what.
struct Asking {
    purpose: ApprovalPurpose,
    reason: Option<String>,
    retry_reason: Option<String>,
    categories: Vec<PromptCategory>,
    amendment: Option<ExecPolicyAmendment>,
    grant: Option<Grant>,
}

impl<T, Req, Out> Orchestration<'_, T, Req, Out>
where
    T: ToolRuntime<Req, Out> + Send,
    Req: Sync,
    Out: Send,
{
    fn requirement(&self) -> ExecApprovalRequirement {
        self.tool
            .exec_approval_requirement(self.req)
            .unwrap_or_else(|| {
                decide(&Question {
                    approval: self.approval_policy,
                    sandbox: *self.turn.sandbox_policy.get(),
                    preference: self.tool.sandbox_preference(),
                    backend: self.ctx.session.sandboxes().working_backend(),
                    command: None,
                })
                .requirement
            })
    }

    /// What a person answers, or answered before for the whole session. Nothing if nobody has to be asked, or nobody can.
    async fn answer(&mut self, requirement: &ExecApprovalRequirement) -> Option<ReviewDecision> {
        let ExecApprovalRequirement::NeedsApproval {
            reason,
            proposed_execpolicy_amendment,
            purpose,
        } = requirement
        else {
            return None;
        };
        let purpose = *purpose;
        // A run that nobody may be asked about is not approved by that.
        if self.approval_policy == AskForApproval::Never {
            return None;
        }
        let elsewhere = self
            .tool
            .should_bypass_approval(self.approval_policy, false);
        if elsewhere && purpose == ApprovalPurpose::Run {
            self.record(&ReviewDecision::Approved, DecisionSource::Config, purpose)
                .await;
            return Some(ReviewDecision::Approved);
        }
        let asking = Asking {
            purpose,
            reason: reason.clone(),
            retry_reason: None,
            categories: Vec::new(),
            amendment: proposed_execpolicy_amendment.clone(),
            grant: None,
        };
        Some(self.cached_or_asked(asking).await)
    }

    /// The answer of this session, or of a person.
    async fn cached_or_asked(&mut self, asking: Asking) -> ReviewDecision {
        let purpose = asking.purpose;
        let key = SessionKey {
            tool: &self.ctx.tool_name,
            purpose,
            key: self.tool.approval_key(self.req),
            cwd: self.turn.cwd.path(),
            policy: &self.fingerprint,
        };
        let (ctx, turn, req) = (self.ctx, self.turn, self.req);
        let mut asked = false;
        let was_asked = &mut asked;
        let tool = &mut *self.tool;
        let decision = with_cached_approval(ctx.session.approvals(), key, || {
            *was_asked = true;
            ask_tool(tool, req, ctx, turn, asking)
        })
        .await;
        let source = match asked {
            true => DecisionSource::User,
            false => DecisionSource::Config,
        };
        self.record(&decision, source, purpose).await;
        decision
    }

    fn place(
        &self,
        requirement: &ExecApprovalRequirement,
        answer: Option<&ReviewDecision>,
    ) -> Result<SandboxDecision, ToolError> {
        let may_try_again = self.tool.escalate_on_failure()
            && self.tool.wants_no_sandbox_approval(self.approval_policy);
        Ok(orchestrator(&Placement {
            requirement,
            answer,
            first_attempt: self.tool.sandbox_mode_for_first_attempt(self.req),
            preference: self.tool.sandbox_preference(),
            sandbox: *self.turn.sandbox_policy.get(),
            backend: self.ctx.session.sandboxes().working_backend(),
            escalate_on_failure: may_try_again,
            approval: self.approval_policy,
        })?)
    }

    /// Records what was decided without asking anybody.
    async fn record_unasked(
        &self,
        requirement: &ExecApprovalRequirement,
        placed: &Result<SandboxDecision, ToolError>,
    ) {
        let decision = match placed {
            Ok(_) => ReviewDecision::Approved,
            Err(_) => ReviewDecision::Denied,
        };
        let purpose = match requirement {
            ExecApprovalRequirement::Skip {
                bypass_sandbox: true,
                ..
            } => ApprovalPurpose::RunUnsandboxed,
            ExecApprovalRequirement::NeedsApproval { purpose, .. } => *purpose,
            ExecApprovalRequirement::Skip { .. } | ExecApprovalRequirement::Forbidden { .. } => {
                ApprovalPurpose::Run
            }
        };
        self.record(&decision, DecisionSource::Config, purpose)
            .await;
    }

    /// The attempts that were decided on, after what was answered besides yes is kept.
    async fn attempts(
        &self,
        decision: SandboxDecision,
        policy: CanonicalSandboxPolicy,
        requirement: &ExecApprovalRequirement,
        answer: Option<ReviewDecision>,
    ) -> Attempts {
        // A policy that confines nothing has nothing to add to.
        let confines = policy.uses_runtime_sandbox();
        let mut grants = self.ctx.session.grants();
        match answer {
            Some(ReviewDecision::ApprovedExecpolicyAmendment {
                proposed_execpolicy_amendment,
            }) => {
                self.keep_amendment(requirement, &proposed_execpolicy_amendment)
                    .await;
            }
            Some(ReviewDecision::ApprovedWithGrant {
                grant,
                scope,
                expires,
            }) => {
                if scope != GrantScope::Run {
                    self.keep_grant(&grant, scope, expires).await;
                }
                if !grants.contains(&grant) {
                    grants.push(grant);
                }
            }
            _ => {}
        }
        let mut attempts = Attempts::new(
            decision,
            policy,
            self.turn.cwd.clone(),
            self.approval_policy,
        );
        attempts.may_leave = self.turn.may_leave_sandbox;
        if confines {
            attempts.grants = grants;
        }
        attempts
    }

    /// Keeps the prefix that was offered. Another one would be a rule that nobody offered: it approves once.
    async fn keep_amendment(
        &self,
        requirement: &ExecApprovalRequirement,
        amendment: &ExecPolicyAmendment,
    ) {
        let offered = match requirement {
            ExecApprovalRequirement::NeedsApproval {
                proposed_execpolicy_amendment,
                ..
            } => proposed_execpolicy_amendment.as_ref() == Some(amendment),
            ExecApprovalRequirement::Skip { .. } | ExecApprovalRequirement::Forbidden { .. } => {
                false
            }
        };
        let kept = match offered {
            true => self.ctx.session.keep_amendment(amendment).await,
            false => Err(super::KeepError(
                "the prefix is not the one that was offered".to_owned(),
            )),
        };
        self.tell_if_not(kept).await;
    }

    async fn keep_grant(&self, grant: &Grant, scope: GrantScope, expires: Option<u64>) {
        let kept = self.ctx.session.keep_grant(grant, scope, expires).await;
        self.tell_if_not(kept).await;
    }

    async fn tell_if_not(&self, kept: Result<(), super::KeepError>) {
        if let Err(error) = kept {
            tracing::warn!(call_id = %self.ctx.call_id, "not kept: {error}");
            let why = error.to_string();
            self.report(ToolEvent::NotKept { why: &why }).await;
        }
    }

    async fn record(
        &self,
        decision: &ReviewDecision,
        source: DecisionSource,
        purpose: ApprovalPurpose,
    ) {
        self.report(ToolEvent::Decided {
            tool_name: &self.ctx.tool_name,
            decision,
            source,
            purpose,
        })
        .await;
    }

    async fn report(&self, event: ToolEvent<'_>) {
        self.ctx.session.report(&self.ctx.call_id, event).await;
    }
}

/// Asks through the tool, which may have something to add.
async fn ask_tool<T, Req, Out>(
    tool: &mut T,
    req: &Req,
    ctx: &ToolCtx,
    turn: &TurnContext,
    asking: Asking,
) -> ReviewDecision
where
    T: ToolRuntime<Req, Out> + Send,
    Req: Sync,
{
    let approval = ApprovalCtx {
        session: &ctx.session,
        turn,
        call_id: &ctx.call_id,
        retry_reason: asking.retry_reason,
        reason: asking.reason,
        purpose: asking.purpose,
        categories: asking.categories,
        proposed_amendment: asking.amendment,
        proposed_grant: asking.grant,
    };
    no_on_panic(|| tool.start_approval_async(req, approval)).await
}

impl<T, Req, Out> Attempting for Orchestration<'_, T, Req, Out>
where
    T: ToolRuntime<Req, Out> + Send,
    Req: Sync,
    Out: Send,
{
    type Value = Result<Out, ToolError>;

    fn attempt<'b>(&'b mut self, placed: &'b Placed) -> BoxFuture<'b, Tried<Self::Value>> {
        Box::pin(async move {
            let attempt = SandboxAttempt::new(
                placed,
                self.turn.linux_sandbox_exe.clone(),
                self.ctx.session.sandboxes().clone(),
            );
            let value = self.tool.run(self.req, &attempt, self.ctx).await;
            match &value {
                Err(ToolError::SandboxDenied(denial)) => {
                    self.denial = denial.to_string();
                    let evidence = denial.evidence.clone();
                    Tried::Denied { value, evidence }
                }
                _ => Tried::Done(value),
            }
        })
    }

    fn ask<'b>(&'b mut self, question: &'b RetryQuestion) -> BoxFuture<'b, ReviewDecision> {
        Box::pin(async move {
            let asking = Asking {
                purpose: question.kind.purpose(),
                reason: Some(question.text()),
                retry_reason: Some(self.denial.clone()),
                categories: Vec::new(),
                amendment: None,
                grant: None,
            };
            match &question.kind {
                RetryKind::Narrower(grant) => {
                    // An approval for the session was for a run without this grant, so it answers nothing here.
                    let asking = Asking {
                        categories: vec![PromptCategory::RequestPermissions],
                        grant: Some(grant.clone()),
                        ..asking
                    };
                    let purpose = asking.purpose;
                    let decision = ask_tool(self.tool, self.req, self.ctx, self.turn, asking).await;
                    self.record(&decision, DecisionSource::User, purpose).await;
                    decision
                }
                RetryKind::Unsandboxed => {
                    let asking = Asking {
                        categories: vec![PromptCategory::SandboxApproval],
                        ..asking
                    };
                    self.cached_or_asked(asking).await
                }
            }
        })
    }

    fn notice<'b>(&'b mut self, notice: &'b Notice) -> BoxFuture<'b, ()> {
        Box::pin(async move {
            // A tool can say more than its evidence, or have none.
            let text = match notice {
                Notice::Failed(_) => format!("Execution failed: {}", self.denial),
                other => other.to_string(),
            };
            self.report(ToolEvent::Notice(&text)).await;
        })
    }

    fn keep<'b>(
        &'b mut self,
        grant: &'b Grant,
        scope: GrantScope,
        expires: Option<u64>,
    ) -> BoxFuture<'b, ()> {
        Box::pin(async move { self.keep_grant(grant, scope, expires).await })
    }
}
