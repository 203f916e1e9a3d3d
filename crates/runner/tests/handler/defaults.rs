//! What the traits say where a tool says nothing, and what the contexts carry.

use std::ffi::OsString;
use std::future::Future;
use std::sync::Arc;

use palisade_exec_policy::{
    AskForApproval, RejectConfig, ReviewDecision, SandboxOverride, SandboxablePreference,
    should_bypass_approval, wants_no_sandbox_approval,
};
use palisade_policy::WorkspaceRoot;
use palisade_runner::approve::{ApprovalKey, BoxFuture};
use palisade_runner::handler::{
    Approvable, ApprovalCtx, SandboxAttempt, Sandboxable, ToolCtx, ToolError, ToolRuntime,
    TurnContext, canonical_sandbox_policy,
};

use crate::host::FakeHost;

/// Says only what it must.
struct Plain;

impl Sandboxable for Plain {}

impl Approvable<Vec<OsString>> for Plain {
    type ApprovalKey = ApprovalKey;

    fn approval_key(&self, req: &Vec<OsString>) -> ApprovalKey {
        let turn = TurnContext::new(WorkspaceRoot::new("/srv/app").unwrap());
        ApprovalKey::new(
            palisade_exec_policy::ApprovalPurpose::Run,
            req.clone(),
            "/srv/app",
            &canonical_sandbox_policy(&turn),
        )
    }

    fn start_approval_async<'a>(
        &'a mut self,
        req: &'a Vec<OsString>,
        ctx: ApprovalCtx<'a>,
    ) -> BoxFuture<'a, ReviewDecision> {
        let cwd = ctx.turn.cwd.path().as_path();
        ctx.ask(req.clone(), cwd)
    }
}

impl ToolRuntime<Vec<OsString>, usize> for Plain {
    async fn run(
        &mut self,
        req: &Vec<OsString>,
        _: &SandboxAttempt,
        _: &ToolCtx,
    ) -> Result<usize, ToolError> {
        Ok(req.len())
    }
}

fn policies() -> Vec<AskForApproval> {
    let mut policies = AskForApproval::SIMPLE.to_vec();
    for bits in 0..4_u8 {
        policies.push(AskForApproval::Reject(RejectConfig {
            sandbox_approval: bits & 1 != 0,
            rules: bits & 2 != 0,
            ..RejectConfig::default()
        }));
    }
    policies
}

#[test]
fn sandboxable_defaults_are_auto_and_escalate() {
    assert_eq!(Plain.sandbox_preference(), SandboxablePreference::Auto);
    assert!(Plain.escalate_on_failure());
}

#[test]
fn sandbox_mode_for_first_attempt_defaults_to_no_override() {
    assert_eq!(
        Plain.sandbox_mode_for_first_attempt(&Vec::new()),
        SandboxOverride::NoOverride
    );
}

#[test]
fn exec_approval_requirement_defaults_to_none() {
    assert_eq!(Plain.exec_approval_requirement(&Vec::new()), None);
}

#[test]
fn should_bypass_approval_delegates_already_approved_or_never() {
    for policy in policies() {
        for already in [true, false] {
            let expected = already || policy == AskForApproval::Never;
            assert_eq!(Plain.should_bypass_approval(policy, already), expected);
            assert_eq!(should_bypass_approval(policy, already), expected);
        }
    }
}

#[test]
fn wants_no_sandbox_approval_delegates_to_the_policy() {
    for policy in policies() {
        let expected = match policy {
            AskForApproval::OnFailure | AskForApproval::UnlessTrusted => true,
            AskForApproval::Never | AskForApproval::OnRequest => false,
            AskForApproval::Reject(config) => !config.sandbox_approval,
        };
        assert_eq!(Plain.wants_no_sandbox_approval(policy), expected);
        assert_eq!(wants_no_sandbox_approval(policy), expected);
    }
}

#[test]
fn approvable_and_its_key_can_cross_threads_and_its_futures_can_be_sent() {
    fn bounds<R, T: Approvable<R> + Send + Sync>()
    where
        T::ApprovalKey: std::hash::Hash
            + Eq
            + Clone
            + std::fmt::Debug
            + serde::Serialize
            + Send
            + Sync
            + 'static,
    {
    }
    fn sent<F: Future + Send>(_: &F) {}
    bounds::<Vec<OsString>, Plain>();
    let session = FakeHost::told(true, &[]);
    let turn = Arc::new(TurnContext::new(WorkspaceRoot::new("/srv/app").unwrap()));
    let ctx = ToolCtx::new(session, Arc::clone(&turn), "call-1", "shell");
    let (mut tool, req) = (Plain, Vec::new());
    let run = palisade_runner::handler::run(&mut tool, &req, &ctx, &turn, AskForApproval::Never);
    sent(&run);
    let boxed: BoxFuture<'_, Result<usize, ToolError>> = Box::pin(run);
    sent(&boxed);
}

#[tokio::test]
async fn contexts_carry_session_turn_call_and_tool_and_the_question_carries_them_on() {
    let host = FakeHost::told(true, &[ReviewDecision::Approved]);
    let turn = Arc::new(TurnContext::new(WorkspaceRoot::new("/srv/app").unwrap()));
    let ctx = ToolCtx::new(host.clone(), Arc::clone(&turn), "call-7", "shell");
    assert_eq!(ctx.tool_name, "shell");
    assert_eq!(ctx.turn.cwd, turn.cwd);
    let req = vec![OsString::from("make"), OsString::from("all")];
    let policy = *turn.approval_policy.get();
    let done = palisade_runner::handler::run(&mut Plain, &req, &ctx, &turn, policy).await;
    assert_eq!(done.unwrap(), 2);
    let asked = host.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].call_id, "call-7");
    assert_eq!(asked[0].display_line(), "make all");
    assert_eq!(asked[0].cwd, turn.cwd.path().as_path());
    assert_eq!(asked[0].retry_reason, None);
}
