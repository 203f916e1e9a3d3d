//! Signals that `palisade` gets are the command's, where no terminal is in between.

use std::io::{BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::{end_of, line, state, states, until, word};
use crate::support::House;

/// Starts a script, with pipes, in a process group of its own, and waits until it says that it is ready.
fn ready(command: &mut Command, script: &str, word: &str) -> (Child, BufReader<ChildStdout>) {
    let mut child = command
        .args(["run", "--", "sh", "-c", script, word])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    assert_eq!(line(&mut output), "ready\n");
    (child, output)
}

fn send(child: &Child, signal: Signal) {
    let process = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(process, signal).unwrap();
}

/// A script that says which signals it got, one line each, and exits after so many. No shell: one that gets a signal while it
/// starts a program may lose it.
fn listening(names: &[&str], count: usize, code: i32) -> String {
    let all: Vec<String> = names
        .iter()
        .map(|name| format!("signal.SIG{name}"))
        .collect();
    let all = all.join(", ");
    format!(
        "exec python3 -c 'import signal, sys
heard = [{all}]
signal.pthread_sigmask(signal.SIG_BLOCK, heard)
print(\"ready\", flush=True)
for n in range({count}):
    print(\"got\", signal.Signals(signal.sigwait(heard)).name, flush=True)
sys.exit({code})'"
    )
}

#[test]
fn a_signal_is_passed_on() {
    let house = House::new();
    for (name, signal) in [
        ("INT", Signal::INT),
        ("TERM", Signal::TERM),
        ("HUP", Signal::HUP),
        ("QUIT", Signal::QUIT),
        ("USR1", Signal::USR1),
        ("USR2", Signal::USR2),
    ] {
        let script = listening(&[name], 1, 3);
        let (mut child, mut output) = ready(&mut house.palisade(), &script, "");
        send(&child, signal);
        assert_eq!(line(&mut output), format!("got SIG{name}\n"));
        assert_eq!(end_of(&mut child).code(), Some(3));
    }
}

#[test]
fn a_command_that_does_not_mind_a_signal_ends_by_it() {
    let house = House::new();
    let (mut child, _) = ready(&mut house.palisade(), "echo ready; exec sleep 60", "");
    send(&child, Signal::TERM);
    assert_eq!(end_of(&mut child).code(), Some(143));
}

#[test]
fn a_second_signal_gets_through_as_well() {
    let house = House::new();
    let script = listening(&["INT"], 2, 4);
    let (mut child, mut output) = ready(&mut house.palisade(), &script, "");
    for _ in 0..2 {
        send(&child, Signal::INT);
        assert_eq!(line(&mut output), "got SIGINT\n");
    }
    assert_eq!(end_of(&mut child).code(), Some(4));
}

#[test]
fn what_the_caller_ignores_stays_ignored() {
    let house = House::new();
    let palisade = house.palisade();
    let mut command = house.command("sh");
    command
        .args(["-c", r#"trap "" HUP; exec "$0" "$@""#])
        .arg(palisade.get_program());
    let script = listening(&["HUP", "TERM"], 1, 5);
    let (mut child, mut output) = ready(&mut command, &script, "");
    send(&child, Signal::HUP);
    send(&child, Signal::TERM);
    assert_eq!(line(&mut output), "got SIGTERM\n");
    assert_eq!(end_of(&mut child).code(), Some(5));
}

#[test]
fn a_stopped_run_is_stopped_inside_and_goes_on_inside() {
    let house = House::new();
    let word = word(&house);
    // It starts nothing meanwhile: a shell that waits for a stopped child to begin is not told from one that runs.
    let script = "trap 'exit 6' TERM; echo ready; while :; do read line; done";
    let mut command = house.palisade();
    let (mut child, _) = ready(command.stdin(Stdio::piped()), script, &word);
    send(&child, Signal::TSTP);
    // Who is to go on must have stopped: the command does first, and the one who runs it right after.
    until("both are stopped", || {
        states(&word) == ['T']
            && state(&PathBuf::from(format!("/proc/{}", child.id()))) == Some('T')
    });
    send(&child, Signal::CONT);
    until("the command goes on", || {
        !states(&word).is_empty() && states(&word) != ['T']
    });
    send(&child, Signal::TERM);
    // A shell that is told just before it begins to read only looks again when it has read something.
    let mut lines = child.stdin.take().unwrap();
    until("it ends", || {
        let _ = lines.write_all(b"\n");
        child.try_wait().unwrap().is_some()
    });
    assert_eq!(end_of(&mut child).code(), Some(6));
}

#[test]
fn a_run_that_is_killed_takes_everything_inside_with_it() {
    let house = House::new();
    let word = word(&house);
    let script = "trap '' TERM HUP INT; echo ready
                  (trap '' TERM HUP INT; while :; do sleep 0.05; done) & while :; do sleep 0.05; done";
    let (mut child, _) = ready(&mut house.palisade(), script, &word);
    until("both run", || states(&word).len() == 2);
    send(&child, Signal::KILL);
    end_of(&mut child);
    until("nothing of it runs", || states(&word).is_empty());
}
