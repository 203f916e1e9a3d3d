//! Two commands on one workspace: the weaker waits or is refused; wider grants are nobody's business.

use std::io::Write as _;
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use palisade_policy::{GitAccess, SandboxType};
use palisade_runner::approve::NoPrompter;
use palisade_runner::judge::RuleBook;
use palisade_runner::outcome::Outcome;
use palisade_runner::session::{Policy, Sandbox, Session, SessionOptions};

use crate::support::Stage;

fn session(stage: &Stage, policy: Policy, patience: Duration) -> Session {
    Sandbox::on(stage.host(), policy)
        .unwrap()
        .session_with(
            RuleBook::builtin().unwrap(),
            NoPrompter,
            SessionOptions::default().waiting_for_others(patience),
        )
        .unwrap()
}

#[tokio::test]
async fn the_weaker_is_refused_or_waits_and_the_stronger_does_neither() {
    let stage = Stage::new();
    let usual = session(&stage, stage.policy(), Duration::ZERO);
    let lax = || stage.policy().git(GitAccess::Full);
    let first = usual
        .script("read line")
        .no_timeout()
        .spawn()
        .await
        .unwrap();
    let refused = session(&stage, lax(), Duration::ZERO)
        .script("echo hello")
        .output()
        .await
        .unwrap();
    match &refused.outcome {
        Outcome::SetupFailed(failure) => {
            assert_eq!(failure.step, "claiming the workspace");
            assert!(failure.message.contains("git"), "{failure}");
            assert!(failure.message.contains("wait for its end"), "{failure}");
        }
        other => panic!("{other:?}"),
    }
    let patient = session(&stage, lax(), Duration::from_secs(60));
    let waiting = tokio::spawn(patient.script("echo hello").output());
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!waiting.is_finished(), "it waits while the other runs");
    // One of the same policy, and one that guards more, begin at once.
    let denied = stage.path("workspace/notes.txt");
    let stricter = session(&stage, stage.policy().deny_read(denied), Duration::ZERO);
    for session in [&usual, &stricter] {
        let run = session.script("echo hello").output().await.unwrap();
        assert!(run.outcome.success(), "{:?}", run.outcome);
    }
    let _ended = first.wait().await;
    let ran = waiting.await.unwrap().unwrap();
    assert!(ran.outcome.success(), "{:?}", ran.outcome);
}

#[tokio::test]
async fn more_network_reading_or_writing_is_no_conflict() {
    let stage = Stage::new();
    let usual = session(&stage, stage.policy(), Duration::ZERO);
    let first = usual
        .script("read line")
        .no_timeout()
        .spawn()
        .await
        .unwrap();
    for wider in [
        stage.policy().also_write(stage.path("outside")),
        stage.policy().allow_network(),
        stage.policy().allow_host_loopback(),
    ] {
        let run = session(&stage, wider, Duration::ZERO)
            .script("echo hello")
            .output()
            .await
            .unwrap();
        assert!(run.outcome.success(), "{:?}", run.outcome);
        assert_eq!(run.sandbox, SandboxType::LinuxLandlock);
    }
    let _ended = first.wait().await;
}

const ROOT: &str = "PALISADE_TEST_CLAIMS_STAGE";

/// The other process of the next test: runs a command that lasts until it is told to end.
#[test]
#[ignore = "a part of other tests"]
fn another_process() {
    let Some(root) = std::env::var_os(ROOT) else {
        return;
    };
    let stage = Stage::at(root);
    let session = session(&stage, stage.policy(), Duration::ZERO);
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let mut child = session
            .script("echo begun; read line")
            .no_timeout()
            .spawn()
            .await
            .unwrap();
        assert!(child.next().await.is_some());
        // Through the test harness's capture, on a descriptor of its own.
        std::fs::write(stage.path("begun"), "").unwrap();
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).unwrap();
        let _ended = child.wait().await;
    });
}

#[test]
fn two_processes_know_of_each_other_and_a_killed_one_is_forgotten() {
    let stage = Stage::new();
    let start = || {
        let _ = std::fs::remove_file(stage.path("begun"));
        let process = Process::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "claims::another_process"])
            .env(ROOT, stage.root())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        for _ in 0..1200 {
            if stage.path("begun").exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        process
    };
    let lax = session(&stage, stage.policy().git(GitAccess::Full), Duration::ZERO);
    let run = || lax.script("echo hello").output_blocking().unwrap().outcome;
    let mut other = start();
    assert!(matches!(run(), Outcome::SetupFailed(_)));
    other.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(other.wait().unwrap().success());
    assert!(run().success());
    let mut other = start();
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(run().success(), "no claim outlives its owner");
}
