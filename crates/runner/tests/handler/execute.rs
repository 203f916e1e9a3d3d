//! Commands that are ready to be started, run by the runner's own launch.

use std::time::{Duration, Instant};

use palisade_policy::{CanonicalSandboxPolicy, SandboxType};
use palisade_runner::handler::{
    CommandSpec, ExecEnv, ExecToolCallOutput, SandboxAttempt, ToolError, execute_env, launch_env,
};
use palisade_runner::launch::{Driver, Placed};
use palisade_runner::outcome::Outcome;
use palisade_runner::select::SandboxManager;

use crate::stage::{Stage, helper};

fn script(stage: &Stage, script: &str) -> CommandSpec {
    CommandSpec {
        program: "/bin/sh".to_owned(),
        args: vec!["-c".into(), script.into()],
        cwd: stage.path("workspace"),
        env: stage.environment(),
        timeout_ms: Some(60_000),
    }
}

fn attempt(stage: &Stage, sandbox: SandboxType) -> SandboxAttempt {
    let policy = CanonicalSandboxPolicy::workspace_write([stage.workspace()]);
    let placed = Placed::new(sandbox, policy, stage.workspace());
    let helper = helper().map(ToOwned::to_owned);
    SandboxAttempt::new(&placed, helper, SandboxManager::new(&stage.host()))
}

fn bare(stage: &Stage, text: &str) -> ExecEnv {
    attempt(stage, SandboxType::None)
        .env_for(script(stage, text))
        .unwrap()
}

const DRIVERS: [Driver; 2] = [Driver::Tokio, Driver::Blocking];

#[tokio::test]
async fn execute_env_captures_both_streams_in_the_given_directory_and_environment() {
    let stage = Stage::new();
    let text = "pwd; echo \"$HOME\"; echo complaint >&2; env | grep -c ^CARGO; exit 3";
    for driver in DRIVERS {
        let output = execute_env(&stage.host(), bare(&stage, text), driver)
            .await
            .unwrap();
        let expected = format!(
            "{}\n{}\n0\n",
            stage.path("workspace").display(),
            stage.path("other-home").display()
        );
        assert_eq!(output.stdout, expected);
        assert_eq!(output.stderr, "complaint\n");
        assert_eq!(output.exit_code, 3);
        assert!(!output.success());
    }
}

#[tokio::test]
async fn execute_env_reports_a_signal_as_128_and_its_number_and_keeps_the_output() {
    let stage = Stage::new();
    for driver in DRIVERS {
        let env = bare(&stage, "echo before; kill -KILL $$");
        let output = execute_env(&stage.host(), env, driver).await.unwrap();
        assert_eq!(
            output,
            ExecToolCallOutput {
                stdout: "before\n".to_owned(),
                stderr: String::new(),
                exit_code: 137,
            }
        );
    }
}

#[tokio::test]
async fn execute_env_ends_what_takes_too_long_and_that_is_an_error() {
    let stage = Stage::new();
    for driver in DRIVERS {
        let mut env = bare(&stage, "sleep 300");
        env.timeout_ms = Some(200);
        let before = Instant::now();
        let error = execute_env(&stage.host(), env, driver).await.unwrap_err();
        assert!(matches!(error, ToolError::Timeout(200)), "{error:?}");
        assert!(before.elapsed() < Duration::from_secs(60));
    }
}

#[tokio::test]
async fn execute_env_is_lossy_only_in_the_text_view() {
    let stage = Stage::new();
    let env = bare(&stage, r"printf 'caf\351'");
    let finished = launch_env(&stage.host(), env.clone(), Driver::Tokio).await;
    assert_eq!(finished.outcome, Outcome::Exited { code: 0 });
    assert_eq!(finished.output.stdout.bytes().as_ref(), b"caf\xe9");
    let output = execute_env(&stage.host(), env, Driver::Tokio).await;
    assert_eq!(output.unwrap().stdout, "caf\u{fffd}");
}

#[tokio::test]
async fn execute_env_that_starts_nothing_is_an_internal_error() {
    let stage = Stage::new();
    let mut env = bare(&stage, "true");
    env.program = "/srv/none/such".to_owned();
    let error = execute_env(&stage.host(), env, Driver::Tokio).await;
    assert!(matches!(error, Err(ToolError::Internal(_))), "{error:?}");
}

#[tokio::test]
async fn execute_env_of_a_wrapped_command_is_contained_and_ends_as_the_command_does() {
    if helper().is_none() {
        return;
    }
    let stage = Stage::new();
    let outside = stage.path("outside/file");
    let text = format!("echo in > inside; echo out > {}; exit 4", outside.display());
    let env = attempt(&stage, SandboxType::LinuxLandlock)
        .env_for(script(&stage, &text))
        .unwrap();
    let output = execute_env(&stage.host(), env, Driver::Tokio)
        .await
        .unwrap();
    assert_eq!(output.exit_code, 4, "{output:?}");
    assert!(stage.path("workspace/inside").exists());
    assert!(!outside.exists());
}

#[tokio::test]
async fn an_attempt_that_the_sandbox_denies_says_what_would_help() {
    let Some(helper) = helper() else { return };
    let stage = Stage::new();
    let host = stage.host().with_helper(helper);
    let outside = stage.path("outside/file");
    let text = format!("echo out > {}", outside.display());
    let attempt = attempt(&stage, SandboxType::LinuxLandlock);
    for driver in DRIVERS {
        let denied = attempt.execute(&host, script(&stage, &text), driver).await;
        let Err(ToolError::SandboxDenied(denial)) = denied else {
            panic!("{denied:?}");
        };
        assert!(!denial.evidence.is_empty());
        assert!(denial.message.contains("outside/file"), "{denial}");
        assert!(!outside.exists());
        let fine = attempt
            .execute(&host, script(&stage, "exit 5"), driver)
            .await;
        assert_eq!(fine.unwrap().exit_code, 5, "a failure is no denial");
    }
}
