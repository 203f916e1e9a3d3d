//! What a command started ends with it, whatever it does to be forgotten; and it ends nobody else.

use std::fs;
use std::time::{Duration, Instant};

use palisade_exec_policy::ReviewDecision;
use palisade_runner::outcome::Outcome;

use crate::support::{Stage, outside};

/// Runs a command that leaves this behind and waits for its timeout; whether what was left still writes afterwards.
fn outlives(leaves: &str, without_sandbox: bool) -> bool {
    let stage = Stage::new();
    let sign = stage.path("workspace/alive");
    let text = format!("ALIVE={}; export ALIVE; {leaves}\nsleep 60", sign.display());
    let program = stage.script("workspace/program", &text);
    stage.script(
        "workspace/loop",
        &format!(
            "trap '' TERM HUP INT; while :; do : > {}; sleep 0.02; done",
            sign.display()
        ),
    );
    let session = stage.session(stage.policy(), |_| ReviewDecision::Approved);
    // Another command of the session, which must not be hurt.
    let command = session
        .command(&program)
        .timeout(Duration::from_millis(700));
    let command = match without_sandbox {
        true => outside(command),
        false => command,
    };
    let run = command.output_blocking().unwrap();
    assert!(
        matches!(run.outcome, Outcome::TimedOut { .. }),
        "{:?}",
        run.outcome
    );
    assert!(sign.exists(), "it was never alive");
    let deadline = Instant::now() + Duration::from_secs(5);
    // Gone, and not back for a while; or still there when patience is over.
    while Instant::now() < deadline {
        let _ = fs::remove_file(&sign);
        let quiet = Instant::now() + Duration::from_millis(500);
        while Instant::now() < quiet && !sign.exists() {
            std::thread::sleep(Duration::from_millis(10));
        }
        if !sign.exists() {
            let next = session.command("true").output_blocking().unwrap();
            assert!(
                next.outcome.success(),
                "the session goes on: {:?}",
                next.outcome
            );
            return false;
        }
    }
    true
}

#[test]
fn nothing_of_a_command_outlives_its_timeout() {
    for leaves in [
        "(setsid ./loop >/dev/null 2>&1 </dev/null &)",
        "(setsid env -i ./loop >/dev/null 2>&1 </dev/null &)",
        "(setsid env -i PALISADE_RUN=00000000000000000000000000000000 ./loop >/dev/null 2>&1 </dev/null &)",
        "(setsid env -i bash -c 'setsid ./loop & exit 0' >/dev/null 2>&1 </dev/null &)",
        "(setsid ./loop >/dev/null 2>&1 </dev/null & sleep 0.3; kill -STOP $$)",
        "kill -9 1; kill -9 -1; (setsid ./loop >/dev/null 2>&1 </dev/null &)",
    ] {
        assert!(!outlives(leaves, false), "{leaves}");
    }
}

#[test]
fn without_a_sandbox_one_of_the_four_ties_is_enough() {
    for leaves in [
        "(setsid ./loop >/dev/null 2>&1 </dev/null &)",
        "setsid env -i ./loop >/dev/null 2>&1 </dev/null &",
        "(env -i ./loop >/dev/null 2>&1 </dev/null &)",
    ] {
        assert!(!outlives(leaves, true), "{leaves}");
    }
}

#[test]
fn a_flood_of_tiny_writes_on_both_streams_costs_bounded_memory_and_no_time_limit() {
    let stage = Stage::new();
    let program = stage.script(
        "workspace/program",
        "while :; do printf a; printf b >&2; done",
    );
    let session = stage.session(stage.policy(), |_| ReviewDecision::Denied);
    let begin = Instant::now();
    let seen = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = std::sync::Arc::clone(&seen);
    let run = session
        .command(program)
        .timeout(Duration::from_millis(500))
        .caps(palisade_runner::capture::Caps::new(1000, 1000))
        .live(move |_| {
            count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        })
        .output_blocking()
        .unwrap();
    assert!(matches!(run.outcome, Outcome::TimedOut { .. }));
    assert!(begin.elapsed() < Duration::from_secs(20));
    for stream in [
        &run.output.stdout,
        &run.output.stderr,
        &run.output.aggregated,
    ] {
        assert!(stream.head.len() + stream.tail.len() <= 2000);
    }
    assert!(seen.load(std::sync::atomic::Ordering::Relaxed) > 0);
}

#[test]
fn a_listener_that_panics_takes_its_command_with_it_and_not_the_session() {
    let stage = Stage::new();
    let sign = stage.path("workspace/alive");
    let text = format!(
        "echo x; while :; do : > {}; sleep 0.02; done",
        sign.display()
    );
    let program = stage.script("workspace/program", &text);
    let session = stage.session(stage.policy(), |_| ReviewDecision::Denied);
    let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        session
            .command(program)
            .live(|_| panic!("a listener that panics"))
            .output_blocking()
            .unwrap()
            .outcome
    }));
    assert!(!run.is_ok_and(|outcome| outcome.success()));
    let next = session.command("true").output_blocking().unwrap();
    assert!(next.outcome.success(), "{:?}", next.outcome);
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let _ = fs::remove_file(&sign);
        std::thread::sleep(Duration::from_millis(200));
        if !sign.exists() {
            break;
        }
        assert!(Instant::now() < deadline, "it still runs");
    }
}
