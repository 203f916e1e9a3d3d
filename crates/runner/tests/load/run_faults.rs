//! What a command can do to whoever watches it: each ends in the outcome that it is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use palisade_policy::{LimitKind, ResourceLimits};
use palisade_runner::outcome::{Finished, Outcome};
use palisade_runner::session::{Command, SessionOptions};
use palisade_runner::supervise::{Cancellation, Timing};

use crate::support::{GROUNDS, LONG, Stage, both, running_in, runtime, wait_for, wait_until};

const SOON: Duration = Duration::from_millis(400);

/// Runs a script that takes too long on every ground with every driver, and looks for what is left.
fn times_out(script: &str) -> Vec<Finished> {
    let mut finished = Vec::new();
    for policy in GROUNDS {
        let stage = Stage::new();
        let session = stage.session(policy(&stage));
        let program = stage.program("fault", script);
        for run in both(|| session.command(&program).timeout(SOON)) {
            assert_eq!(
                run.outcome,
                Outcome::TimedOut { after: SOON },
                "{script} on {}",
                run.sandbox
            );
            assert!(run.duration < Duration::from_secs(20), "{:?}", run.duration);
            nothing_runs(&stage, script);
            finished.push(run);
        }
    }
    finished
}

fn nothing_runs(stage: &Stage, what: &str) {
    let left = || {
        let left = running_in(&stage.workspace());
        // The session's own processes run elsewhere.
        left.is_empty().then_some(())
    };
    wait_until(what, left);
}

#[test]
fn a_closed_output_is_no_end() {
    for run in times_out("echo before; exec >&- 2>&-; sleep 1000") {
        assert_eq!(run.output.stdout.text(), "before\n");
    }
}

#[test]
fn a_closed_output_can_be_cancelled() {
    for policy in GROUNDS {
        let stage = Stage::new();
        let session = stage.session(policy(&stage));
        let flag = stage.path("workspace/closed");
        let make = || {
            let _ = std::fs::remove_file(&flag);
            let cancel = Cancellation::new();
            let (wish, flag) = (cancel.clone(), flag.clone());
            std::thread::spawn(move || {
                wait_for(&flag);
                wish.cancel();
            });
            session
                .script("exec >&- 2>&-; : > closed; sleep 1000")
                .cancelled_by(cancel)
                .timeout(LONG)
        };
        for run in both(make) {
            assert_eq!(run.outcome, Outcome::Cancelled, "{}", run.sandbox);
            nothing_runs(&stage, "cancelled");
        }
    }
}

#[test]
fn a_stopped_command_times_out() {
    times_out("kill -STOP $$; echo never");
}

#[test]
fn a_stopped_group_times_out() {
    times_out("sleep 1000 & kill -STOP $! $$; wait");
}

#[test]
fn a_command_that_ignores_the_polite_signal_times_out() {
    times_out("trap '' TERM INT HUP; while :; do sleep 1000; done");
}

/// Whoever inherited the output and lives on is not waited for longer than the drain time, and what the command wrote is
/// there.
#[test]
fn a_grandchild_that_holds_the_output_is_not_waited_for() {
    for policy in GROUNDS {
        let stage = Stage::new();
        let timing = Timing::default().with_drain(Duration::from_millis(300));
        let options = SessionOptions::default().with_timing(timing);
        let policy = policy(&stage);
        let session = stage.session_with(policy, palisade_runner::approve::NoPrompter, options);
        let script = "seq 1 20000; (setsid sleep 1000 &); echo last; exit 5";
        for run in both(|| session.script(script).timeout(LONG)) {
            assert_eq!(run.outcome, Outcome::Exited { code: 5 });
            let text = run.output.stdout.text();
            assert_eq!(text.lines().count(), 20_001);
            assert!(text.ends_with("20000\nlast\n"));
            assert!(run.duration < Duration::from_secs(20), "{:?}", run.duration);
            assert!(
                !run.notes.is_empty(),
                "nobody says that the output was held"
            );
        }
        end_daemons(&stage);
    }
}

/// A command that ended by itself leaves what it started to its session; without one, nobody ends it.
fn end_daemons(stage: &Stage) {
    for process in running_in(&stage.workspace()) {
        let pid = process.split_whitespace().next().unwrap().parse().unwrap();
        if let Some(pid) = rustix::process::Pid::from_raw(pid) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

#[test]
fn a_bomb_of_processes_stays_within_its_limit() {
    let stage = Stage::new();
    let limits = ResourceLimits::unlimited().with_pids(64);
    let session = stage.session(stage.confined().limits(limits));
    let bomb = stage.program("bomb", "bomb() { bomb | bomb & }; bomb; sleep 1000");
    let over = AtomicBool::new(false);
    let (runs, most) = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut most = 0;
            while !over.load(Ordering::Relaxed) {
                most = most.max(running_in(&stage.workspace()).len());
                std::thread::sleep(Duration::from_millis(2));
            }
            most
        });
        let runs = both(|| session.command(&bomb).timeout(Duration::from_secs(4)));
        over.store(true, Ordering::Relaxed);
        (runs, watcher.join().unwrap())
    });
    assert!((8..=64).contains(&most), "{most} processes at once");
    for run in runs {
        // Ended for its limit where the kernel tells of it; otherwise it cannot fork any more, and time ends it.
        let which = LimitKind::Pids;
        let contained = run.outcome == Outcome::LimitExceeded { which }
            || matches!(run.outcome, Outcome::TimedOut { .. });
        println!(
            "note: a bomb of processes: {most} at once, {:?}",
            run.outcome
        );
        assert!(contained, "{:?}", run.outcome);
        // The host can start processes, and so can the session, once the bomb is gone.
        assert!(
            std::process::Command::new("true")
                .status()
                .unwrap()
                .success()
        );
        let next = wait_until("the session is free again", || {
            let run = session.command("true").output_blocking().unwrap();
            run.outcome.success().then_some(run)
        });
        assert!(next.outcome.success());
    }
    nothing_runs(&stage, "bomb");
}

#[test]
fn a_directory_that_is_gone_before_the_start_fails_setup() {
    for policy in GROUNDS {
        let stage = Stage::new();
        let session = stage.session(policy(&stage));
        let gone = stage.path("workspace/gone");
        std::fs::create_dir(&gone).unwrap();
        assert!(
            session
                .command("true")
                .cwd("gone")
                .output_blocking()
                .unwrap()
                .outcome
                .success()
        );
        std::fs::remove_dir(&gone).unwrap();
        for run in both(|| session.command("true").cwd("gone")) {
            let Outcome::SetupFailed(failure) = &run.outcome else {
                panic!("{:?}", run.outcome);
            };
            assert_eq!(failure.errno, Some(libc::ENOENT), "{failure}");
            assert!(failure.message.contains("gone"), "{failure}");
        }
        for run in both(|| session.command("true")) {
            assert!(run.outcome.success());
        }
    }
}

#[test]
fn a_command_may_remove_its_own_directory() {
    for policy in GROUNDS {
        let stage = Stage::new();
        let session = stage.session(policy(&stage));
        let program = stage.program("remover", "rmdir \"$PWD\" && echo removed; exit 4");
        let make = || {
            std::fs::create_dir_all(stage.path("workspace/own")).unwrap();
            session.command(&program).cwd("own")
        };
        for run in both(make) {
            assert_eq!(run.outcome, Outcome::Exited { code: 4 });
            assert_eq!(run.output.stdout.text(), "removed\n");
            assert!(!stage.path("workspace/own").exists());
        }
        for run in both(|| session.command("true")) {
            assert!(run.outcome.success());
        }
    }
}

/// The listener is the host's. Its panic is the host's, and the session is as it was.
#[test]
fn a_listener_that_panics_takes_only_its_own_command_along() {
    for policy in GROUNDS {
        let stage = Stage::new();
        let session = stage.session(policy(&stage));
        let make = || -> Command {
            session
                .script("echo first; sleep 1000")
                .timeout(LONG)
                .live(|_| panic!("the window is gone"))
        };
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let run = || drop(make().output_blocking());
            assert!(scope.spawn(run).join().is_err());
        });
        let runtime = runtime();
        let task = runtime.spawn(make().output());
        assert!(runtime.block_on(task).unwrap_err().is_panic());
        assert!(begun.elapsed() < Duration::from_secs(50));
        nothing_runs(&stage, "the listener's command");
        for run in both(|| session.command("echo").arg("fine")) {
            assert_eq!(run.output.stdout.text(), "fine\n");
        }
    }
}

/// Whoever drops a future, a child or a runtime ends the command with everything that it started.
#[test]
fn what_is_dropped_is_ended() {
    for policy in GROUNDS {
        let stage = Stage::new();
        let session = stage.session(policy(&stage));
        let script = ": > begun; (setsid sleep 1000 &); sleep 1000";
        let begun = stage.path("workspace/begun");
        let runtime = runtime();
        let task = runtime.spawn(session.script(script).timeout(LONG).output());
        wait_for(&begun);
        task.abort();
        nothing_runs(&stage, "an aborted task");

        std::fs::remove_file(&begun).unwrap();
        let child = runtime
            .block_on(session.script(script).timeout(LONG).spawn())
            .unwrap();
        wait_for(&begun);
        drop(child);
        nothing_runs(&stage, "a dropped child");

        std::fs::remove_file(&begun).unwrap();
        let child = runtime
            .block_on(session.script(script).timeout(LONG).spawn())
            .unwrap();
        wait_for(&begun);
        drop(runtime);
        nothing_runs(&stage, "a dropped runtime");
        let lost = crate::support::runtime().block_on(child.wait());
        assert!(
            matches!(lost.outcome, Outcome::Lost { .. }),
            "{:?}",
            lost.outcome
        );
    }
}
