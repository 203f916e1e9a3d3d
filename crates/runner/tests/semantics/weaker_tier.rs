//! A host without user namespaces: nothing is lost in silence.
//!
//! The host is emulated: these tests start themselves again in a user namespace in which no other can be made.

use std::path::Path;
use std::process::Command as Process;
use std::time::Duration;

use palisade_policy::Guarantee;
use palisade_runner::outcome::Outcome;
use palisade_runner::session::{Error, Policy, Sandbox};

use crate::support::{Asked, Stage};

const INSIDE: &str = "PALISADE_TEST_NO_USER_NAMESPACES";

/// Runs the rest of the test where no user namespace can be made. `false` outside, where nothing is left to do.
fn without_user_namespaces(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";
    let ready = Process::new("/usr/bin/unshare")
        .args(["--user", "--map-root-user", "--", "/bin/sh", "-c"])
        .args([&format!(
            "{} ",
            script.replace("exec \"$0\" \"$@\"", "true")
        )])
        .output();
    if !ready.is_ok_and(|ready| ready.status.success()) {
        eprintln!("skipped: user namespaces cannot be switched off here");
        return false;
    }
    let run = Process::new("/usr/bin/unshare")
        .args(["--user", "--map-root-user", "--", "/bin/sh", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr)
    );
    false
}

/// With every loss accepted that the refusal names.
fn accepting(stage: &Stage, policy: Policy) -> Policy {
    let all = [
        Guarantee::ProtectedPaths,
        Guarantee::MetadataOutside,
        Guarantee::ProcessIsolation,
        Guarantee::UnixSockets,
        Guarantee::DeniedReads,
        Guarantee::TreeKill,
        Guarantee::Network,
    ];
    let mut policy = policy;
    for guarantee in all {
        match Sandbox::on(stage.host(), policy.clone()) {
            Ok(_) => return policy,
            Err(_) => policy = policy.accept_loss(guarantee),
        }
    }
    policy
}

#[test]
fn it_is_refused_with_the_cure_and_runs_once_the_losses_are_accepted_by_name() {
    if !without_user_namespaces(
        "weaker_tier::it_is_refused_with_the_cure_and_runs_once_the_losses_are_accepted_by_name",
    ) {
        return;
    }
    let stage = Stage::new();
    let refused = Sandbox::on(stage.host(), stage.policy()).unwrap_err();
    let Error::Sandbox(failure) = &refused else {
        panic!("{refused:?}");
    };
    assert_eq!(failure.step, "accepting losses");
    let text = refused.to_string();
    assert!(text.contains("protected"), "it names the loss: {text}");
    assert!(text.contains("max_user_namespaces"), "and the cure: {text}");
    let policy = accepting(&stage, stage.policy());
    let (session, _) = stage.session(policy, &[]);
    let run = session
        .script("echo hello > made; echo x > \"$TMPDIR/y\"; cat \"$TMPDIR/y\"")
        .output_blocking()
        .unwrap();
    assert!(
        run.outcome.success(),
        "{:?} {}",
        run.outcome,
        run.output.stderr.text()
    );
    assert!(stage.path("workspace/made").exists());
    let outside = stage.path("outside/made");
    let run = session.command("touch").arg(&outside).output_blocking();
    assert!(matches!(run.unwrap().outcome, Outcome::Denied { .. }));
    assert!(!outside.exists());
    drop(Asked::default());
}

#[test]
fn what_takes_too_long_ends_with_its_daemons() {
    if !without_user_namespaces("weaker_tier::what_takes_too_long_ends_with_its_daemons") {
        return;
    }
    let stage = Stage::new();
    let (session, _) = stage.session(accepting(&stage, stage.policy()), &[]);
    let run = session
        .script(
            "setsid bash -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 1; done' & sleep 60",
        )
        .timeout(Duration::from_millis(1500))
        .output_blocking()
        .unwrap();
    assert!(
        matches!(run.outcome, Outcome::TimedOut { .. }),
        "{:?}",
        run.outcome
    );
    let pid = std::fs::read_to_string(stage.path("workspace/pid")).unwrap();
    let status = format!("/proc/{}/stat", pid.trim());
    for _ in 0..200 {
        match std::fs::read_to_string(&status) {
            Ok(text) if !text.contains(") Z ") => {
                std::thread::sleep(Duration::from_millis(25));
            }
            _ => return,
        }
    }
    assert!(!Path::new(&status).exists(), "the daemon {pid} lives");
}
