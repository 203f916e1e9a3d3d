//! Output while a command runs.

use std::time::Duration;

use palisade_exec_policy::AskForApproval;
use palisade_runner::capture::Stream;
use palisade_runner::executor::shell::{ShellProgram, UserShell};
use palisade_runner::executor::{ExecutionRequest, StdoutStream, normalize_exec_result};

use crate::support::{Scripted, Stage};

#[tokio::test]
async fn output_arrives_while_the_command_runs_and_adds_up_to_what_is_captured() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let (sender, mut queue) = tokio::sync::mpsc::channel(4);
    let host = Scripted::default();
    // It ends only after its first words were seen.
    let script = "echo first; until [ -e go ]; do sleep 0.01; done; echo err >&2; echo last";
    let request = stage
        .script(script)
        .streaming_to(StdoutStream::queue("turn-1", "call-1", sender));
    let run = host.run(&executor, request, AskForApproval::OnFailure);
    let read = async {
        let first = queue.recv().await.unwrap();
        assert_eq!(first.bytes, b"first\n");
        assert_eq!(first.call_id, "call-1");
        std::fs::write(stage.workspace.join("go"), "").unwrap();
        let (mut stdout, mut stderr) = (first.bytes, Vec::new());
        while let Some(delta) = queue.recv().await {
            match delta.stream {
                Stream::Stdout => stdout.extend(delta.bytes),
                Stream::Stderr => stderr.extend(delta.bytes),
            }
        }
        (stdout, stderr)
    };
    let (output, (stdout, stderr)) = tokio::join!(run, read);
    let output = output.unwrap();
    assert_eq!(stdout, b"first\nlast\n");
    assert_eq!(stderr, b"err\n");
    assert_eq!(output.stdout.text.as_bytes(), stdout);
}

#[tokio::test]
async fn a_reader_who_does_not_read_does_not_keep_the_result_for_ever() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let (sender, queue) = tokio::sync::mpsc::channel(1);
    let host = Scripted::default();
    let params = stage.params(&["sh", "-c", "echo a; echo b >&2; echo c"]);
    let request = ExecutionRequest::shell(params.with_timeout_ms(500))
        .streaming_to(StdoutStream::queue("turn-1", "call-1", sender));
    let run = host.run(&executor, request, AskForApproval::OnFailure);
    let result = tokio::time::timeout(Duration::from_secs(60), run).await;
    // Whether it ended by itself or had to wait for the reader until its time was over is a matter of luck.
    let result = result.unwrap();
    let output = normalize_exec_result(&result);
    assert!(
        matches!(output.event_output().exit_code, 0 | 124),
        "{result:?}"
    );
    drop(queue);
}

#[tokio::test]
async fn the_profile_of_the_users_shell_is_read_and_the_status_stays_the_commands_own() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let profile = stage.workspace.join("rc");
    std::fs::write(&profile, "export GREETING=hello\nfalse\n").unwrap();
    let mut host = Scripted::default();
    let bash = ShellProgram::new("/bin/bash").with_profile(&profile);
    host.shell = Some(UserShell::Bash(bash));
    let request = stage
        .script("printf %s \"$GREETING\"; exit 5")
        .with_shell_profile();
    let output = host
        .run(&executor, request, AskForApproval::OnFailure)
        .await
        .unwrap();
    assert_eq!((output.exit_code, &*output.stdout.text), (5, "hello"));
}
