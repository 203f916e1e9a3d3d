//! What is asked, kept, told and remembered on the way.

use std::sync::Arc;

use palisade_exec_policy::{
    ApprovalPurpose, AskForApproval, ExecApprovalRequirement, ExecPolicyAmendment, GrantScope,
    PromptCategory, ReviewDecision,
};
use palisade_policy::{
    AbsolutePath, Grant, NetworkAccess, SandboxMode, SandboxPolicy, SandboxType,
};
use palisade_runner::handler::{Constrained, ToolCtx, ToolError, TurnContext, run};

use crate::host::FakeHost;
use crate::table::{Scripted, turn};

const INSIDE: (SandboxType, bool) = (SandboxType::LinuxLandlock, true);
const OUTSIDE: (SandboxType, bool) = (SandboxType::None, false);

fn amendment(prefix: &[&str]) -> ExecPolicyAmendment {
    ExecPolicyAmendment::new(prefix.iter().copied()).unwrap()
}

fn needs(purpose: ApprovalPurpose, offered: Option<&[&str]>) -> Option<ExecApprovalRequirement> {
    Some(ExecApprovalRequirement::NeedsApproval {
        reason: Some("rule `cargo-add` asks".to_owned()),
        proposed_execpolicy_amendment: offered.map(amendment),
        purpose,
    })
}

async fn play(
    host: &Arc<FakeHost>,
    tool: &mut Scripted,
    request: &'static str,
    turn: &Arc<TurnContext>,
    approval: AskForApproval,
) -> Result<usize, ToolError> {
    let ctx = ToolCtx::new(host.clone(), Arc::clone(turn), "call-1", "shell");
    run(tool, &request, &ctx, turn, approval).await
}

#[tokio::test]
async fn a_forbidden_tool_is_rejected_with_the_reason_and_nobody_is_asked() {
    let host = FakeHost::told(true, &[ReviewDecision::Approved]);
    let mut tool = Scripted::new(false);
    tool.requirement = Some(ExecApprovalRequirement::Forbidden {
        reason: "releases are made by people".to_owned(),
    });
    let turn = turn(SandboxMode::WorkspaceWrite);
    let error = play(&host, &mut tool, "x", &turn, AskForApproval::OnRequest)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "Tool rejected: releases are made by people"
    );
    assert!(tool.ran.is_empty() && host.asked().is_empty());
    assert_eq!(host.events(), ["Denied by Config to Run"]);
}

#[tokio::test]
async fn a_session_approval_is_asked_once_and_ends_with_another_policy_request_or_purpose() {
    let host = FakeHost::told(true, &[ReviewDecision::ApprovedForSession]);
    let mut tool = Scripted::new(false);
    let write = turn(SandboxMode::WorkspaceWrite);
    let ask = AskForApproval::OnRequest;
    for _ in 0..3 {
        play(&host, &mut tool, "make", &write, ask).await.unwrap();
    }
    assert_eq!(host.asked().len(), 1);
    assert_eq!(
        host.events(),
        [
            "ApprovedForSession by User to Run",
            "Approved by Config to Run",
            "Approved by Config to Run"
        ]
    );
    // Each of these is another question, and nobody approves it.
    assert!(
        play(&host, &mut tool, "make all", &write, ask)
            .await
            .is_err()
    );
    let read = turn(SandboxMode::ReadOnly);
    assert!(play(&host, &mut tool, "make", &read, ask).await.is_err());
    tool.requirement = needs(ApprovalPurpose::RunUnsandboxed, None);
    assert!(play(&host, &mut tool, "make", &write, ask).await.is_err());
    assert_eq!(host.asked().len(), 4);
    assert_eq!(tool.ran, [INSIDE, INSIDE, INSIDE]);
}

#[tokio::test]
async fn a_no_is_not_remembered_as_a_yes_and_is_asked_again() {
    let host = FakeHost::told(true, &[ReviewDecision::Denied, ReviewDecision::Approved]);
    let mut tool = Scripted::new(false);
    let turn = turn(SandboxMode::WorkspaceWrite);
    let ask = AskForApproval::OnRequest;
    assert!(play(&host, &mut tool, "make", &turn, ask).await.is_err());
    assert!(play(&host, &mut tool, "make", &turn, ask).await.is_ok());
    assert!(play(&host, &mut tool, "make", &turn, ask).await.is_err());
    assert_eq!(
        host.asked().len(),
        3,
        "an approval of one run is for one run"
    );
}

#[tokio::test]
async fn an_approved_amendment_is_applied_and_runs_contained() {
    let answer = ReviewDecision::ApprovedExecpolicyAmendment {
        proposed_execpolicy_amendment: amendment(&["cargo", "add"]),
    };
    let host = FakeHost::told(true, &[answer]);
    let mut tool = Scripted::new(false);
    tool.requirement = needs(ApprovalPurpose::Run, Some(&["cargo", "add"]));
    let turn = turn(SandboxMode::WorkspaceWrite);
    play(
        &host,
        &mut tool,
        "cargo add x",
        &turn,
        AskForApproval::OnRequest,
    )
    .await
    .unwrap();
    assert_eq!(
        *host.amendments.lock().unwrap(),
        [amendment(&["cargo", "add"])]
    );
    assert_eq!(tool.ran, [INSIDE]);
    let asked = &host.asked()[0];
    assert_eq!(asked.proposed_amendment, Some(amendment(&["cargo", "add"])));
    assert_eq!(asked.reasons, ["rule `cargo-add` asks"]);
}

#[tokio::test]
async fn an_amendment_that_was_not_offered_or_cannot_be_kept_approves_once_and_says_so() {
    let answer = ReviewDecision::ApprovedExecpolicyAmendment {
        proposed_execpolicy_amendment: amendment(&["cargo"]),
    };
    let turn = turn(SandboxMode::WorkspaceWrite);
    for (offered, keeps) in [
        (Some(&["cargo", "add"][..]), true),
        (None, true),
        (Some(&["cargo"]), false),
    ] {
        let mut host = FakeHost::told(true, std::slice::from_ref(&answer));
        Arc::get_mut(&mut host).unwrap().keeps = keeps;
        let mut tool = Scripted::new(false);
        tool.requirement = needs(ApprovalPurpose::Run, offered);
        play(
            &host,
            &mut tool,
            "cargo add x",
            &turn,
            AskForApproval::OnRequest,
        )
        .await
        .unwrap();
        assert!(host.amendments.lock().unwrap().is_empty());
        let events = host.events();
        assert!(events[1].starts_with("not kept: "), "{events:?}");
    }
}

#[tokio::test]
async fn a_denial_is_told_asked_with_its_reason_and_tried_again_without_sandbox_and_helper() {
    let host = FakeHost::told(true, &[ReviewDecision::Approved]);
    let mut tool = Scripted::new(true);
    let turn = turn(SandboxMode::WorkspaceWrite);
    let done = play(&host, &mut tool, "make", &turn, AskForApproval::OnFailure).await;
    assert_eq!(done.unwrap(), 2);
    assert_eq!(tool.ran, [INSIDE, OUTSIDE]);
    let asked = &host.asked()[0];
    assert_eq!(asked.purpose, ApprovalPurpose::RunUnsandboxed);
    assert_eq!(asked.retry_reason.as_deref(), Some("write /etc/hosts"));
    assert_eq!(asked.reasons, ["command failed; retry without sandbox?"]);
    assert_eq!(asked.categories, [PromptCategory::SandboxApproval]);
    assert_eq!(
        host.events(),
        [
            "Approved by Config to Run",
            "Execution failed: write /etc/hosts",
            "Approved by User to RunUnsandboxed",
            "retrying command without sandbox"
        ]
    );
}

#[tokio::test]
async fn approving_the_run_never_answers_the_retry_and_a_session_answer_to_the_retry_does() {
    let answers = [
        ReviewDecision::ApprovedForSession,
        ReviewDecision::ApprovedForSession,
    ];
    let host = FakeHost::told(true, &answers);
    let mut tool = Scripted::new(true);
    let turn = turn(SandboxMode::WorkspaceWrite);
    let ask = AskForApproval::UnlessTrusted;
    play(&host, &mut tool, "make", &turn, ask).await.unwrap();
    let purposes: Vec<_> = host.asked().iter().map(|asked| asked.purpose).collect();
    assert_eq!(
        purposes,
        [ApprovalPurpose::Run, ApprovalPurpose::RunUnsandboxed]
    );
    // Both are answered for the session now. The sandbox still comes first.
    play(&host, &mut tool, "make", &turn, ask).await.unwrap();
    assert_eq!(host.asked().len(), 2);
    assert_eq!(tool.ran, [INSIDE, OUTSIDE, INSIDE, OUTSIDE]);
}

#[tokio::test]
async fn a_turn_that_may_not_leave_the_sandbox_is_not_offered_that() {
    let host = FakeHost::told(true, &[ReviewDecision::Approved]);
    let mut tool = Scripted::new(true);
    let policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, NetworkAccess::Restricted);
    let turn = turn(SandboxMode::WorkspaceWrite);
    let turn = TurnContext::clone(&turn)
        .with_sandbox_policy(Constrained::any(policy))
        .never_leaving_the_sandbox();
    let turn = Arc::new(turn);
    let error = play(&host, &mut tool, "make", &turn, AskForApproval::OnFailure).await;
    assert!(matches!(error, Err(ToolError::SandboxDenied(_))));
    assert!(host.asked().is_empty());
    assert_eq!(tool.ran, [INSIDE]);
}

#[tokio::test]
async fn a_grant_with_the_answer_opens_that_much_and_is_kept_for_its_scope() {
    let grant = Grant::Write(AbsolutePath::new("/srv/data").unwrap());
    for (scope, kept) in [(GrantScope::Run, 0), (GrantScope::Session, 1)] {
        let answer = ReviewDecision::ApprovedWithGrant {
            grant: grant.clone(),
            scope,
            expires: None,
        };
        let host = FakeHost::told(true, &[answer]);
        let mut tool = Scripted::new(false);
        tool.requirement = needs(ApprovalPurpose::RunUnsandboxed, None);
        let turn = turn(SandboxMode::WorkspaceWrite);
        play(&host, &mut tool, "make", &turn, AskForApproval::OnRequest)
            .await
            .unwrap();
        assert_eq!(tool.ran, [INSIDE], "a grant never leaves the sandbox");
        assert_eq!(host.grants.lock().unwrap().len(), kept);
    }
}

#[tokio::test]
async fn an_asking_that_panics_is_a_no() {
    use palisade_exec_policy::AskForApproval::OnRequest;
    use palisade_runner::approve::BoxFuture;
    use palisade_runner::handler::{
        Approvable, ApprovalCtx, SandboxAttempt, Sandboxable, ToolRuntime,
    };

    struct Clumsy;
    impl Sandboxable for Clumsy {}
    impl Approvable<()> for Clumsy {
        type ApprovalKey = ();

        fn approval_key(&self, (): &()) {}

        fn start_approval_async<'a>(
            &'a mut self,
            (): &'a (),
            _: ApprovalCtx<'a>,
        ) -> BoxFuture<'a, ReviewDecision> {
            panic!("no window")
        }
    }
    impl ToolRuntime<(), ()> for Clumsy {
        async fn run(&mut self, (): &(), _: &SandboxAttempt, _: &ToolCtx) -> Result<(), ToolError> {
            panic!("it must not run")
        }
    }
    let host = FakeHost::told(true, &[]);
    let turn = turn(SandboxMode::ReadOnly);
    let ctx = ToolCtx::new(host, Arc::clone(&turn), "call-1", "clumsy");
    let error = run(&mut Clumsy, &(), &ctx, &turn, OnRequest)
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "Tool rejected: rejected by the user");
}
