//! The session's helper dies under a running command.

use std::time::Duration;

use palisade_runner::outcome::{Finished, Outcome};
use palisade_runner::session::{Command, Session};
use rustix::process::{Pid, Signal, kill_process};

use crate::alone::alone;
use crate::counts::{Counts, descendants_of};
use crate::support::{LONG, Stage, running_in, runtime, wait_for, wait_until};

/// The processes that belong to sessions of this process, nearest first. Only for a process that has no other children.
fn session_processes() -> Vec<Pid> {
    descendants_of(std::process::id())
        .into_iter()
        .filter(|(_, about)| about.contains("palisade-"))
        .filter_map(|(pid, _)| Pid::from_raw(i32::try_from(pid).ok()?))
        .collect()
}

/// Kills one of the session's processes when the command has begun; which, counted from the one that we started.
fn kill_when_begun(stage: &Stage, which: usize) -> std::thread::JoinHandle<bool> {
    let begun = stage.path("workspace/begun");
    std::thread::spawn(move || {
        wait_for(&begun);
        match session_processes().get(which) {
            Some(pid) => {
                kill_process(*pid, Signal::KILL).unwrap();
                true
            }
            None => false,
        }
    })
}

fn lost(run: &Finished) {
    let Outcome::Lost { why } = &run.outcome else {
        panic!("{:?} {:?}", run.outcome, run.notes);
    };
    assert!(why.contains("session"), "{why}");
    assert_eq!(run.outcome.exit_code(), -1);
    assert_eq!(run.output.stdout.text(), "said\n");
    assert!(run.duration < Duration::from_secs(30));
}

fn helper_dies(run: impl Fn(Command) -> Finished) {
    let stage = Stage::new();
    let before = Counts::now(stage.root());
    {
        let session: Session = stage.session(stage.confined());
        for which in 0..3 {
            let _ = std::fs::remove_file(stage.path("workspace/begun"));
            let script = "echo said; (setsid sleep 1000 &); : > begun; sleep 1000";
            let killer = kill_when_begun(&stage, which);
            let finished = run(session.script(script).timeout(LONG));
            assert!(killer.join().unwrap() || which > 0, "nobody was killed");
            if matches!(finished.outcome, Outcome::TimedOut { .. }) {
                panic!("it outlived its session");
            }
            lost(&finished);
            wait_until("everything of the session ends", || {
                running_in(&stage.workspace()).is_empty().then_some(())
            });
            // The next one gets a session that lives.
            let next = run(session.command("echo").arg("next"));
            assert_eq!(next.outcome, Outcome::Exited { code: 0 });
            assert_eq!(next.output.stdout.text(), "next\n");
        }
    }
    before.hold_again(stage.root());
}

#[test]
fn a_helper_that_dies_loses_its_command_with_a_runtime() {
    alone(
        "session_faults::a_helper_that_dies_loses_its_command_with_a_runtime",
        || {
            helper_dies(|command| {
                // The runtime goes with each run, so that its threads are not counted.
                runtime().block_on(command.output()).unwrap()
            });
        },
    );
}

#[test]
fn a_helper_that_dies_loses_its_command_without_a_runtime() {
    alone(
        "session_faults::a_helper_that_dies_loses_its_command_without_a_runtime",
        || helper_dies(|command| command.output_blocking().unwrap()),
    );
}

/// Between two commands: nothing was lost, and nobody has to know.
#[test]
fn a_helper_that_dies_between_two_commands_is_replaced() {
    alone(
        "session_faults::a_helper_that_dies_between_two_commands_is_replaced",
        || {
            let stage = Stage::new();
            let before = Counts::now(stage.root());
            {
                let session = stage.session(stage.confined());
                for _ in 0..3 {
                    let run = session
                        .command("echo")
                        .arg("fine")
                        .output_blocking()
                        .unwrap();
                    assert_eq!(run.output.stdout.text(), "fine\n");
                    let helper = session_processes();
                    kill_process(*helper.first().unwrap(), Signal::KILL).unwrap();
                }
            }
            before.hold_again(stage.root());
        },
    );
}
