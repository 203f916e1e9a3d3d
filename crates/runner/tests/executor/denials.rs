//! What the sandbox denies, and what happens then.

use palisade_exec_policy::{
    ApprovalPurpose, AskForApproval, ExecPolicyAmendment, GrantScope, RejectConfig, ReviewDecision,
};
use palisade_policy::{AbsolutePath, Grant, SandboxType};

use palisade_runner::executor::ExecutionRequest;

use crate::support::{Scripted, Stage, sandbox_of, text};

const LEAVE: &str = "command failed; retry without sandbox?";

/// A script that fails because of the sandbox and names what it wanted: the narrower question comes first.
fn names_its_target(stage: &Stage) -> (String, std::path::PathBuf) {
    let target = stage.outside.join("made");
    let script = format!("echo x > '{}'", target.display());
    (script, target)
}

/// A script that ends in the sandbox like one that made a forbidden system call, without a word about what it wanted: so
/// there is nothing smaller to grant. Without the sandbox it writes.
fn is_ended_by_the_filter(stage: &Stage) -> (ExecutionRequest, std::path::PathBuf) {
    let target = stage.outside.join("made");
    let script = format!(
        "(echo x > '{}') 2>/dev/null || kill -SYS $$",
        target.display()
    );
    (stage.script_in_a_file(&script), target)
}

#[tokio::test]
async fn a_denied_write_is_offered_with_the_smallest_grant_and_the_second_attempt_writes() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let (script, target) = names_its_target(&stage);
    let host = Scripted::new([ReviewDecision::Approved]);
    let output = host
        .run(&executor, stage.script(&script), AskForApproval::OnFailure)
        .await
        .unwrap();
    assert_eq!(output.exit_code, 0);
    assert_eq!(text(&target).as_deref(), Some("x\n"));
    assert_eq!(sandbox_of(&output), SandboxType::LinuxLandlock);
    let question = host.asked.lock().unwrap()[0].clone();
    assert_eq!(question.purpose, ApprovalPurpose::Run);
    let Some(Grant::Write(path)) = &question.proposed_grant else {
        panic!("{question:?}");
    };
    assert!(target.starts_with(path.as_path()), "{path}");
    assert_eq!(question.cwd, stage.workspace);
    let log = host.log();
    assert_eq!(log[0], "record shell call-1 Approved Config");
    assert_eq!(log[1], "notice turn-1 Execution failed");
    assert!(log[2].starts_with("ask Run command failed; retry with a grant to write "));
    assert_eq!(log[3], "record shell call-1 Approved User");
    assert!(log[4].starts_with("notice turn-1 retrying command with a grant to write "));
    assert_eq!(log.len(), 5);
}

/// The whole way out: each question, notice and record, in order.
#[tokio::test]
async fn a_denial_without_a_smaller_grant_is_retried_without_sandbox_after_approval() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let (request, target) = is_ended_by_the_filter(&stage);
    let request = request.shown_as(["make", "it"]);
    let host = Scripted::new([ReviewDecision::Approved]);
    let output = host
        .run(&executor, request, AskForApproval::OnFailure)
        .await
        .unwrap();
    assert_eq!(output.exit_code, 0);
    assert_eq!(sandbox_of(&output), SandboxType::None);
    assert_eq!(text(&target).as_deref(), Some("x\n"));
    assert_eq!(
        host.log(),
        [
            "record shell call-1 Approved Config",
            "notice turn-1 Execution failed",
            &format!("ask RunUnsandboxed {LEAVE}"),
            "record shell call-1 Approved User",
            "notice turn-1 retrying command without sandbox",
        ]
    );
    let question = host.asked.lock().unwrap()[0].clone();
    assert_eq!(question.command, ["make", "it"]);
    assert_eq!(question.cwd, stage.workspace);
    assert_eq!(question.reason.as_deref(), Some(LEAVE));
    assert!(executor.approvals().snapshot().is_empty());
}

#[tokio::test]
async fn a_retry_approved_for_the_session_is_remembered_for_exactly_that_command() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let (request, target) = is_ended_by_the_filter(&stage);
    let host = Scripted::new([ReviewDecision::ApprovedForSession]);
    let run = || host.run(&executor, request.clone(), AskForApproval::OnFailure);
    run().await.unwrap();
    std::fs::remove_file(&target).unwrap();
    let asked = host.asked.lock().unwrap().len();
    let again = run().await.unwrap();
    assert_eq!(
        sandbox_of(&again),
        SandboxType::None,
        "it is not contained again"
    );
    assert_eq!(
        host.asked.lock().unwrap().len(),
        asked,
        "nor asked about again"
    );
    assert!(target.exists());
    assert_eq!(
        host.log().last().unwrap(),
        "record shell call-1 ApprovedForSession User"
    );
}

#[tokio::test]
async fn an_amendment_given_to_a_retry_prompt_approves_once_and_keeps_nothing() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let (request, _) = is_ended_by_the_filter(&stage);
    let amendment = ReviewDecision::ApprovedExecpolicyAmendment {
        proposed_execpolicy_amendment: ExecPolicyAmendment::new(["sh"]).unwrap(),
    };
    let host = Scripted::new([amendment]);
    let output = host
        .run(&executor, request.clone(), AskForApproval::OnFailure)
        .await
        .unwrap();
    assert_eq!(sandbox_of(&output), SandboxType::None);
    assert!(executor.approvals().snapshot().is_empty());
    assert!(!host.log().iter().any(|line| line.starts_with("persist")));
}

#[tokio::test]
async fn a_retry_that_is_denied_aborted_or_dropped_is_rejected_by_the_user() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let (script, target) = names_its_target(&stage);
    let note = ReviewDecision::DeniedWithNote {
        note: "use build/".to_owned(),
    };
    for (answers, recorded, message) in [
        (
            vec![ReviewDecision::Denied],
            "Denied",
            "exec command rejected by user",
        ),
        (
            vec![ReviewDecision::Abort],
            "Abort",
            "exec command rejected by user",
        ),
        (vec![], "Denied", "exec command rejected by user"),
        (
            vec![note],
            "DeniedWithNote { note: \"use build/\" }",
            "exec command rejected by user: use build/",
        ),
    ] {
        let host = Scripted::new(answers);
        let error = host
            .run(&executor, stage.script(&script), AskForApproval::OnFailure)
            .await
            .unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(!target.exists());
        let record = format!("record shell call-1 {recorded} User");
        assert_eq!(host.log().last(), Some(&record), "no notice of a retry");
    }
}

#[tokio::test]
async fn where_nothing_escalates_a_denial_is_a_rejection_that_names_sandbox_and_error() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let (script, target) = names_its_target(&stage);
    let reject = AskForApproval::Reject(RejectConfig::default());
    for approval in [AskForApproval::Never, AskForApproval::OnRequest, reject] {
        let host = Scripted::default();
        let error = host
            .run(&executor, stage.script(&script), approval)
            .await
            .unwrap_err()
            .to_string();
        let expected = "failed in sandbox LinuxLandlock with execution error: Denied { output: ";
        assert!(error.starts_with(expected), "{error}");
        assert!(host.asked.lock().unwrap().is_empty());
        assert!(!target.exists());
    }
}

#[tokio::test]
async fn the_floor_forbids_the_unsandboxed_retry_and_still_lets_a_grant_be_given() {
    let stage = Stage::new();
    let floor = "version = 1\n[floor]\nno-unsandboxed = true\n";
    let Some(executor) = stage.executor_under(floor) else {
        return;
    };
    let (request, _) = is_ended_by_the_filter(&stage);
    let host = Scripted::new([ReviewDecision::Approved]);
    let error = host
        .run(&executor, request, AskForApproval::OnFailure)
        .await
        .unwrap_err();
    assert!(
        error.to_string().starts_with("failed in sandbox"),
        "{error}"
    );
    assert!(host.asked.lock().unwrap().is_empty());

    let (script, target) = names_its_target(&stage);
    let output = host
        .run(&executor, stage.script(&script), AskForApproval::OnFailure)
        .await
        .unwrap();
    assert_eq!(sandbox_of(&output), SandboxType::LinuxLandlock);
    assert!(target.exists());
}

#[tokio::test]
async fn a_grant_for_the_session_is_not_asked_for_again() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let (script, target) = names_its_target(&stage);
    let host = Scripted::new([ReviewDecision::ApprovedWithGrant {
        grant: Grant::Write(AbsolutePath::new(&stage.outside).unwrap()),
        scope: GrantScope::Session,
        expires: None,
    }]);
    for _ in 0..2 {
        let output = host
            .run(&executor, stage.script(&script), AskForApproval::OnFailure)
            .await
            .unwrap();
        assert_eq!(sandbox_of(&output), SandboxType::LinuxLandlock);
        std::fs::remove_file(&target).unwrap();
    }
    assert_eq!(host.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_failure_of_the_commands_own_is_output_and_never_asked_about() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    for (script, code) in [
        ("echo 'permission denied' >&2; exit 1", 1),
        ("exit 3", 3),
        ("no-such-program-here", 127),
    ] {
        let host = Scripted::default();
        let output = host
            .run(&executor, stage.script(script), AskForApproval::OnFailure)
            .await
            .unwrap();
        assert_eq!(output.exit_code, code, "{script}");
        assert!(host.asked.lock().unwrap().is_empty(), "{script}");
    }
}
