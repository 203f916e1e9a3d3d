//! Asking before a run.

use palisade_exec_policy::{ApprovalPurpose, AskForApproval, ExecPolicyAmendment, ReviewDecision};
use palisade_policy::{CanonicalSandboxPolicy, SandboxType};
use palisade_runner::executor::ExecutionRequest;

use crate::support::{Scripted, Stage, sandbox_of, text, until};

#[tokio::test]
async fn success_is_returned_unchanged_and_recorded_as_decided_by_configuration() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let host = Scripted::default();
    let request = stage.script("echo out; echo err >&2; echo x > made; exit 0");
    let output = host
        .run(&executor, request, AskForApproval::OnFailure)
        .await
        .unwrap();
    assert_eq!(output.exit_code, 0);
    assert_eq!(output.stdout.text, "out\n");
    assert_eq!(output.stderr.text, "err\n");
    assert_eq!(output.aggregated_output.text.len(), "out\nerr\n".len());
    assert!(!output.timed_out);
    assert_eq!(sandbox_of(&output), SandboxType::LinuxLandlock);
    assert_eq!(text(&stage.workspace.join("made")).as_deref(), Some("x\n"));
    assert_eq!(host.log(), ["record shell call-1 Approved Config"]);
}

#[tokio::test]
async fn an_approved_command_runs_without_sandbox_and_is_asked_again_next_time() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let target = stage.outside.join("made");
    let script = format!("echo x > '{}'", target.display());
    let host = Scripted::new([ReviewDecision::Approved]);
    let run = || {
        host.run(
            &executor,
            stage.script(&script),
            AskForApproval::UnlessTrusted,
        )
    };
    let output = run().await.unwrap();
    assert_eq!(sandbox_of(&output), SandboxType::None);
    assert!(target.exists());
    let dropped = run().await.unwrap_err();
    assert_eq!(dropped.to_string(), "exec command rejected by user");
    assert_eq!(host.asked.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_session_approval_is_recorded_before_the_launch_and_honoured_afterwards() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let host = Scripted::new([ReviewDecision::ApprovedForSession]);
    // It runs until somebody has seen the approval.
    let script = "until [ -e go ]; do sleep 0.01; done";
    let run = host.run(
        &executor,
        stage.script(script),
        AskForApproval::UnlessTrusted,
    );
    let look = async {
        until("the approval is recorded", || {
            !executor.approvals().snapshot().is_empty()
        })
        .await;
        std::fs::write(stage.workspace.join("go"), "").unwrap();
    };
    let (output, ()) = tokio::join!(run, look);
    assert_eq!(output.unwrap().exit_code, 0);
    let key = executor.approvals().snapshot().into_iter().next().unwrap();
    assert_eq!(key.purpose, ApprovalPurpose::RunUnsandboxed);

    let output = host
        .run(
            &executor,
            stage.script(script),
            AskForApproval::UnlessTrusted,
        )
        .await
        .unwrap();
    assert_eq!(sandbox_of(&output), SandboxType::None);
    assert_eq!(host.asked.lock().unwrap().len(), 1);
    let other = host.run(
        &executor,
        stage.script("frobnicate"),
        AskForApproval::UnlessTrusted,
    );
    assert!(other.await.is_err(), "another command is asked about");
}

#[tokio::test]
async fn what_is_rejected_by_configuration_is_recorded_and_nobody_is_asked() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let host = Scripted::default();
    let request = ExecutionRequest::shell(stage.params(&["rm", "-rf", "x"]));
    let error = host
        .run(&executor, request, AskForApproval::Never)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "approval policy rejected sandbox approval prompt"
    );
    assert_eq!(host.log(), ["record shell call-1 Denied Config"]);
}

/// A rule that asks about a harmless program.
const ASKS_ABOUT_LOCALE: &str = r#"
version = 1
[[rule]]
id = "ask-locale"
prefix = ["locale"]
decision = "prompt"
why = "this is a test"
"#;

#[tokio::test]
async fn an_accepted_amendment_is_applied_and_handed_to_the_host() {
    let stage = Stage::new();
    let Some(executor) = stage.executor_under(ASKS_ABOUT_LOCALE) else {
        return;
    };
    let host = Scripted {
        keeps_offers: true,
        ..Scripted::default()
    };
    let run = || {
        let request = ExecutionRequest::shell(stage.params(&["locale", "charmap"]));
        host.run(&executor, request, AskForApproval::OnRequest)
    };
    let output = run().await.unwrap();
    assert_eq!(output.exit_code, 0, "{output:?}");
    let question = host.asked.lock().unwrap()[0].clone();
    assert!(question.proposed_execpolicy_amendment.is_some());
    let persisted = |line: &&String| line.starts_with("persist");
    assert_eq!(host.log().iter().filter(persisted).count(), 1);
    let output = run().await.unwrap();
    assert_eq!(host.asked.lock().unwrap().len(), 1, "it is not asked again");
    assert_eq!(
        sandbox_of(&output),
        SandboxType::LinuxLandlock,
        "a rule that allows does not leave the sandbox"
    );
}

#[tokio::test]
async fn an_amendment_that_was_not_offered_approves_once_and_keeps_nothing() {
    let stage = Stage::new();
    let Some(executor) = stage.executor_under(ASKS_ABOUT_LOCALE) else {
        return;
    };
    let host = Scripted::new([ReviewDecision::ApprovedExecpolicyAmendment {
        proposed_execpolicy_amendment: ExecPolicyAmendment::new(["sh"]).unwrap(),
    }]);
    let run = || {
        let request = ExecutionRequest::shell(stage.params(&["locale", "charmap"]));
        host.run(&executor, request, AskForApproval::OnRequest)
    };
    assert_eq!(run().await.unwrap().exit_code, 0);
    assert!(!host.log().iter().any(|line| line.starts_with("persist")));
    assert!(run().await.is_err(), "it is asked again");
}

#[tokio::test]
async fn a_configuration_that_changes_during_a_run_does_not_change_this_run() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let host = Scripted::default();
    let script = "touch started; until [ -e go ]; do sleep 0.01; done; echo x > made";
    let run = host.run(&executor, stage.script(script), AskForApproval::OnRequest);
    let swap = async {
        let started = stage.workspace.join("started");
        until("the command runs", || started.exists()).await;
        executor.update_environment(CanonicalSandboxPolicy::read_only(), stage.root());
        std::fs::write(stage.workspace.join("go"), "").unwrap();
    };
    let (output, ()) = tokio::join!(run, swap);
    assert_eq!(output.unwrap().exit_code, 0);
    assert!(stage.workspace.join("made").exists());
    let next = host
        .run(
            &executor,
            stage.script("echo x > other"),
            AskForApproval::OnRequest,
        )
        .await;
    assert!(
        !next.is_ok_and(|output| output.success()),
        "the new policy holds"
    );
    assert!(!stage.workspace.join("other").exists());
}

#[tokio::test]
async fn a_plan_runs_under_the_configuration_that_it_was_made_with() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let host = Scripted::default();
    let request = stage.script("echo x > made");
    let plan = executor
        .plan(request, &host, AskForApproval::OnRequest)
        .unwrap();
    assert_eq!(plan.initial_sandbox(), Some(SandboxType::LinuxLandlock));
    executor.update_environment(CanonicalSandboxPolicy::read_only(), stage.root());
    let output = executor.run_with_plan(plan, &host, &host.context()).await;
    assert_eq!(output.unwrap().exit_code, 0);
    assert!(stage.workspace.join("made").exists());
}

#[tokio::test]
async fn without_a_working_sandbox_it_is_asked_and_never_is_refused() {
    let stage = Stage::new();
    let executor = stage.executor_on(stage.host(), None, "version = 1\n");
    let host = Scripted::new([ReviewDecision::Approved]);
    let output = host
        .run(&executor, stage.script("echo x"), AskForApproval::OnFailure)
        .await
        .unwrap();
    assert_eq!(sandbox_of(&output), SandboxType::None);
    let never = host
        .run(&executor, stage.script("echo x"), AskForApproval::Never)
        .await;
    assert!(never.is_err());
    assert_eq!(host.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_host_that_panics_while_asking_has_said_no() {
    let stage = Stage::new();
    let executor = stage.executor_on(stage.host(), None, "version = 1\n");
    let host = Scripted {
        panics: true,
        ..Scripted::default()
    };
    let error = host
        .run(
            &executor,
            stage.script("echo x > made"),
            AskForApproval::OnFailure,
        )
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "exec command rejected by user");
    assert!(!stage.workspace.join("made").exists());
}
