//! Commands that take too long, are cancelled, or die.

use std::time::{Duration, Instant};

use palisade_exec_policy::AskForApproval;
use palisade_policy::SandboxType;
use palisade_runner::executor::{
    ExecError, ExecutionRequest, RunError, SandboxErr, normalize_exec_result,
    process_exec_tool_call,
};
use palisade_runner::launch::Placed;
use palisade_runner::supervise::Cancellation;

use crate::support::{Scripted, Stage, until};

fn slow(stage: &Stage) -> ExecutionRequest {
    let params = stage.params(&["sh", "-c", "echo begun; sleep 100"]);
    ExecutionRequest::shell(params.with_timeout_ms(300))
}

#[tokio::test]
async fn a_timeout_is_an_error_with_its_output_and_never_escalates() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let host = Scripted::default();
    let begun = Instant::now();
    let result = host
        .run(&executor, slow(&stage), AskForApproval::OnFailure)
        .await;
    assert!(begun.elapsed() < Duration::from_secs(50));
    let Err(ExecError::Run(RunError::Sandbox(SandboxErr::Timeout { output }))) = &result else {
        panic!("{result:?}");
    };
    assert_eq!(output.stdout.text, "begun\n");
    assert!(output.timed_out);
    assert_eq!(output.exit_code, 124);
    assert!(output.duration >= Duration::from_millis(300));
    assert_eq!(host.log(), ["record shell call-1 Approved Config"]);
    let normalized = normalize_exec_result(&result);
    assert!(std::ptr::eq(normalized.event_output(), &raw const **output));
}

#[tokio::test]
async fn a_cancelled_run_keeps_its_output() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let host = Scripted::default();
    let cancel = Cancellation::new();
    let context = host.context().cancelled_by(cancel.clone());
    let request = stage.script("echo begun; touch started; sleep 100");
    let run = executor.run(request, &host, AskForApproval::OnFailure, &context);
    let stop = async {
        let started = stage.workspace.join("started");
        until("it runs", || started.exists()).await;
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(run, stop);
    let Err(ExecError::Run(RunError::Cancelled { output })) = result else {
        panic!("{result:?}");
    };
    assert_eq!(output.stdout.text, "begun\n");
}

#[tokio::test]
async fn a_command_that_a_signal_ends_keeps_its_output_and_is_not_offered_again() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let host = Scripted::default();
    let request = stage.script_in_a_file("echo before; kill -SEGV $$");
    let result = host
        .run(&executor, request, AskForApproval::OnFailure)
        .await;
    let Err(ExecError::Run(RunError::Sandbox(SandboxErr::Signal { signal, output }))) = &result
    else {
        panic!("{result:?}");
    };
    assert_eq!(*signal, 11);
    assert_eq!(output.exit_code, 139);
    assert_eq!(output.stdout.text, "before\n");
    assert!(host.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn process_exec_tool_call_runs_captures_and_classifies_where_it_is_told() {
    let stage = Stage::new();
    if stage.executor().is_none() {
        return;
    }
    let placed = Placed::new(SandboxType::LinuxLandlock, stage.policy(), stage.root());
    let run = |script: &str| {
        let params = stage.params(&["sh", "-c", script]).with_timeout_ms(2_000);
        let (host, placed, helper) = (stage.host(), placed.clone(), stage.helper.clone());
        async move {
            process_exec_tool_call(
                &host,
                params,
                &placed,
                Some(helper),
                None,
                Cancellation::new(),
            )
            .await
        }
    };
    let output = run("echo out; exit 4").await.unwrap();
    assert_eq!((output.exit_code, &*output.stdout.text), (4, "out\n"));
    let denied = format!("echo x > '{}/made'", stage.outside.display());
    assert!(matches!(
        run(&denied).await.unwrap_err(),
        RunError::Sandbox(SandboxErr::Denied { .. })
    ));
    assert!(matches!(
        run("sleep 100").await.unwrap_err(),
        RunError::Sandbox(SandboxErr::Timeout { .. })
    ));
    assert!(matches!(
        run("kill -9 $$").await.unwrap_err(),
        RunError::Sandbox(SandboxErr::Signal { signal: 9, .. })
    ));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_a_setup_failure_and_not_a_denial() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let host = Scripted::default();
    let request = ExecutionRequest::shell(stage.params(&["no-such-program-here"]));
    let error = host
        .run(&executor, request, AskForApproval::OnFailure)
        .await
        .unwrap_err();
    assert!(
        matches!(error, ExecError::Run(RunError::Setup(_))),
        "{error:?}"
    );
    assert!(host.asked.lock().unwrap().is_empty());
}
