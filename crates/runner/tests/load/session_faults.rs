//! The session's helper dies under a running command.

use std::time::Duration;

use palisade_runner::outcome::{Finished, Outcome};
use palisade_runner::session::{Command, Session};
use rustix::process::{Pid, Signal, kill_process};

use crate::alone::alone;
use crate::counts::{Counts, descendants_of};
use crate::support::{LONG, Stage, running_in, runtime, wait_for, wait_until};

/// Whose death is the session's.
#[derive(Clone, Copy, Debug)]
enum Victim {
    /// The process that we started.
    Helper,
    /// The first process of the session, which starts its commands.
    Init,
}

/// Kills a process of the only session of this process.
fn kill(victim: Victim) {
    let us = std::process::id();
    let is_it = |pid: u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        let last = |name: &str| field(name)?.split_whitespace().last();
        match victim {
            Victim::Helper => last("PPid:") == Some(&us.to_string()),
            Victim::Init => last("NSpid:") == Some("1"),
        }
    };
    let family = descendants_of(us);
    let found = family.iter().find(|(pid, _)| is_it(*pid));
    let Some((pid, _)) = found else {
        panic!("no {victim:?} in {family:?}");
    };
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL).unwrap();
}

/// Waits until nobody of a session lives: only zombies are left, which the next command reaps.
fn wait_for_the_end() {
    wait_until("the session ends", || {
        let family = descendants_of(std::process::id());
        family
            .iter()
            .all(|(_, about)| about.ends_with('Z'))
            .then_some(())
    });
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
        for victim in [Victim::Helper, Victim::Init, Victim::Helper] {
            let _ = std::fs::remove_file(stage.path("workspace/begun"));
            let script = "echo said; (setsid sleep 1000 &); : > begun; sleep 1000";
            let begun = stage.path("workspace/begun");
            let killer = std::thread::spawn(move || {
                wait_for(&begun);
                kill(victim);
            });
            let finished = run(session.script(script).timeout(LONG));
            killer.join().unwrap();
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
                for victim in [Victim::Helper, Victim::Init, Victim::Helper] {
                    let run = session
                        .command("echo")
                        .arg("fine")
                        .output_blocking()
                        .unwrap();
                    assert_eq!(run.output.stdout.text(), "fine\n");
                    kill(victim);
                    wait_for_the_end();
                }
            }
            before.hold_again(stage.root());
        },
    );
}
