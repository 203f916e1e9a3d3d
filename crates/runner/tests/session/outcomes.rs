//! Every way that a run can end, from both drivers.

use std::time::Duration;

use palisade_policy::{Grant, LimitKind, ResourceLimits, SandboxType};
use palisade_runner::outcome::{Evidence, Finished, Outcome};
use palisade_runner::session::{Command, Error};
use palisade_runner::supervise::{Cancellation, Timing};

use crate::support::{Stage, says};

/// The same command with a runtime and without.
fn both(make: impl Fn() -> Command) -> [Finished; 2] {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    [
        make().output_blocking().unwrap(),
        runtime.block_on(make().output()).unwrap(),
    ]
}

#[test]
fn a_command_that_ends_by_itself_keeps_its_code_and_its_output() {
    let stage = Stage::new();
    let session = stage.quiet();
    for run in both(|| session.script("echo out; echo err >&2; exit 3")) {
        assert_eq!(run.outcome, Outcome::Exited { code: 3 });
        assert_eq!(run.output.stdout.text(), "out\n");
        assert_eq!(run.output.stderr.text(), "err\n");
        assert_eq!(run.sandbox, SandboxType::LinuxLandlock);
        assert!(run.enforcement.to_string().contains("writes-outside"));
    }
}

#[test]
fn a_signal_is_told_apart_from_a_code() {
    let stage = Stage::new();
    let session = stage.quiet();
    let program = stage.program("echo before; kill -9 $$");
    for run in both(|| session.command(&program)) {
        assert_eq!(run.outcome, Outcome::Signaled { signal: 9 });
        assert_eq!(run.outcome.exit_code(), 137);
        assert_eq!(run.output.stdout.text(), "before\n");
    }
}

#[test]
fn what_takes_too_long_is_ended_with_its_daemons() {
    let stage = Stage::new();
    let session = stage.quiet();
    let script =
        "echo begun; (setsid sh -c 'while :; do date +%N > beat; sleep 0.05; done' &) ; sleep 60";
    for run in both(|| session.script(script).timeout(Duration::from_millis(700))) {
        assert!(
            matches!(run.outcome, Outcome::TimedOut { .. }),
            "{:?}",
            run.outcome
        );
        assert_eq!(run.outcome.exit_code(), 124);
        assert_eq!(run.output.stdout.text(), "begun\n");
        let beat = stage.path("workspace/beat");
        let last = std::fs::read(&beat).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(std::fs::read(&beat).unwrap(), last, "the daemon goes on");
    }
}

#[test]
fn a_cancelled_command_says_so() {
    let stage = Stage::new();
    let session = stage.quiet();
    for run in both(|| {
        let cancel = Cancellation::new();
        let wish = cancel.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            wish.cancel();
        });
        session
            .script("trap '' TERM; sleep 60")
            .cancelled_by(cancel)
    }) {
        assert_eq!(run.outcome, Outcome::Cancelled);
        assert!(run.duration < Duration::from_secs(20));
    }
}

#[test]
fn a_limit_is_named() {
    let stage = Stage::new();
    let limits = ResourceLimits::unlimited().with_cpu_secs(1);
    let (session, _) = stage.session(stage.policy().limits(limits), &[]);
    let run = session
        .script("while :; do :; done")
        .timeout(Duration::from_secs(60))
        .output_blocking()
        .unwrap();
    let which = LimitKind::Cpu;
    assert_eq!(run.outcome, Outcome::LimitExceeded { which });
}

#[test]
fn a_denied_write_is_proven_and_names_the_smallest_grant() {
    let stage = Stage::new();
    let session = stage.quiet();
    let target = stage.path("outside/file");
    for run in both(|| session.command("touch").arg(&target)) {
        let Outcome::Denied {
            evidence,
            exit_code,
        } = &run.outcome
        else {
            panic!("{:?}: {}", run.outcome, run.output.stderr.text());
        };
        assert_eq!(*exit_code, 1);
        let [
            Evidence::Likely {
                smallest_grant: Some(Grant::Write(path)),
                ..
            },
        ] = &evidence[..]
        else {
            panic!("{evidence:?}");
        };
        assert!(target.starts_with(path.as_path()), "{path}");
        assert!(!target.exists());
    }
}

#[test]
fn a_hidden_secret_is_a_denial_and_an_ordinary_failure_is_none() {
    let stage = Stage::new();
    let session = stage.quiet();
    let secret = stage.path("home/.ssh/id_ed25519");
    let program = stage.program("cat $1");
    let run = session
        .command(program)
        .arg(&secret)
        .output_blocking()
        .unwrap();
    assert!(
        matches!(run.outcome, Outcome::Denied { .. }),
        "{:?}",
        run.outcome
    );
    for script in [
        "exit 127",
        "echo 'permission denied: /etc/hosts' >&2; exit 1",
        "ls sandbox",
        "cat no-such-file",
        "nosuchprogram-at-all",
    ] {
        let run = session.script(script).output_blocking().unwrap();
        assert!(
            matches!(run.outcome, Outcome::Exited { .. }),
            "{script}: {:?}",
            run.outcome
        );
    }
}

#[test]
fn what_cannot_be_started_failed_at_a_step() {
    let stage = Stage::new();
    let session = stage.quiet();
    for run in both(|| session.command("nosuchprogram-at-all")) {
        let Outcome::SetupFailed(failure) = &run.outcome else {
            panic!("{:?}", run.outcome);
        };
        assert_eq!(failure.errno, Some(2), "{failure}");
        assert_eq!(run.outcome.exit_code(), -1);
    }
    let run = session
        .command("true")
        .cwd("gone")
        .output_blocking()
        .unwrap();
    assert!(
        matches!(run.outcome, Outcome::SetupFailed(_)),
        "{:?}",
        run.outcome
    );
}

#[test]
fn what_the_rules_forbid_does_not_run() {
    let stage = Stage::new();
    let session = stage.quiet();
    let refused = session
        .script("rm -rf / --no-preserve-root; touch ran")
        .output_blocking()
        .unwrap_err();
    assert!(matches!(refused, Error::Refused(_)), "{refused}");
    assert!(!stage.path("workspace/ran").exists());
}

#[test]
fn the_environment_is_rebuilt_and_marked() {
    let stage = Stage::new();
    let session = stage.quiet();
    let run = session
        .command("env")
        .env("EXTRA", "1")
        .output_blocking()
        .unwrap();
    let text = run.output.stdout.text();
    let has = |line: &str| text.lines().any(|found| found == line);
    assert!(has("PALISADE_SANDBOX=landlock"), "{text}");
    assert!(has("PALISADE_SANDBOX_NETWORK_DISABLED=1"), "{text}");
    assert!(has("EXTRA=1"), "{text}");
    assert!(!text.contains("API_TOKEN"), "{text}");
}

#[test]
fn commands_of_a_session_share_their_tmp_and_leave_none() {
    let stage = Stage::new();
    let session = stage.quiet();
    let name = format!("/tmp/palisade-{}", std::process::id());
    let write = session.script(format!("echo shared > {name}"));
    assert!(write.output_blocking().unwrap().outcome.success());
    let read = session.command("cat").arg(&name).output_blocking().unwrap();
    assert_eq!(read.output.stdout.text(), "shared\n");
    assert!(!std::path::Path::new(&name).exists());
}

#[test]
fn a_grace_can_be_set_and_a_polite_command_uses_it() {
    let stage = Stage::new();
    let timing = Timing::default().with_grace(Duration::from_secs(10));
    let options = palisade_runner::session::SessionOptions::default().with_timing(timing);
    let session = palisade_runner::session::Sandbox::on(stage.host(), stage.policy())
        .unwrap()
        .session_with(
            palisade_runner::judge::RuleBook::builtin().unwrap(),
            palisade_runner::approve::NoPrompter,
            options,
        )
        .unwrap();
    let run = session
        .script("trap 'sleep 1; echo done > polite; exit 0' TERM; while :; do sleep 0.05; done")
        .timeout(Duration::from_millis(300))
        .output_blocking()
        .unwrap();
    assert!(
        matches!(run.outcome, Outcome::TimedOut { .. }),
        "{:?}",
        run.outcome
    );
    assert!(says(stage.path("workspace/polite"), "done\n"));
}
