//! How a run ends, and what is left of it.

use std::fs;
use std::io::{BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use super::{end_of, line, states, until, word};
use crate::support::House;

#[test]
fn the_exit_code_is_the_commands_own() {
    let house = House::new();
    for code in [0, 1, 2, 77, 124, 125, 126, 127, 254, 255] {
        let said = house.say(["run", "--", "sh", "-c", &format!("exit {code}")]);
        assert_eq!(said.code, code, "{said:?}");
    }
}

#[test]
fn a_command_that_a_signal_ended_says_which() {
    let house = House::new();
    house.write("project/die.sh", "#!/bin/sh\nkill -$1 $$\nsleep 60\n");
    make_executable(&house, "die.sh");
    for (signal, code) in [("TERM", 143), ("KILL", 137), ("INT", 130), ("SEGV", 139)] {
        let said = house.say(["run", "--", "./die.sh", signal]);
        assert_eq!(said.code, code, "{signal}: {said:?}");
    }
}

#[test]
fn what_cannot_run_is_told_from_what_is_not_there() {
    let house = House::new();
    house.write("project/plain", "no program\n");
    let said = house.say(["run", "--", "./plain"]);
    assert_eq!(said.code, 126, "{said:?}");
    let said = house.say(["run", "--", "palisade-has-no-such-program"]);
    assert_eq!(said.code, 127, "{said:?}");
    let said = house.say(["run", "--", "./nothing"]);
    assert_eq!(said.code, 127, "{said:?}");
}

#[test]
fn time_is_up_after_the_time_that_was_given() {
    let house = House::new();
    let said = house.say(["run", "--timeout", "1s", "--", "sleep", "60"]);
    assert_eq!(said.code, 124, "{said:?}");
    // Neither does a command that ends in time.
    let said = house.say(["run", "--timeout", "60s", "--", "true"]);
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn a_directory_that_is_gone_is_no_place_to_run() {
    let house = House::new();
    let gone = house.project().join("gone");
    fs::create_dir(&gone).unwrap();
    let output = house
        .command("sh")
        .args(["-c", r#"cd gone && rmdir ../gone && exec "$0" "$@""#])
        .arg(house.palisade().get_program())
        .args(["run", "--", "true"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(125), "{output:?}");
}

#[test]
fn the_directory_is_the_callers() {
    let house = House::new();
    fs::create_dir_all(house.project().join("a/b")).unwrap();
    let output = house
        .palisade()
        .current_dir(house.project().join("a/b"))
        .args(["run", "--", "sh", "-c", "pwd; echo > ../../top"])
        .output()
        .unwrap();
    let seen = String::from_utf8(output.stdout).unwrap();
    let real = fs::canonicalize(house.project().join("a/b")).unwrap();
    assert_eq!(seen.trim_end(), real.to_str().unwrap());
    assert!(house.project().join("top").exists());
}

/// Neither a thread nor what a runtime waits with: everything is one poll on one thread.
#[test]
fn it_is_one_thread_and_no_runtime() {
    let house = House::new();
    let mut child = house
        .palisade()
        .args(["run", "--", "sh", "-c", "echo ready; read line"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    assert_eq!(line(&mut output), "ready\n");
    let process = format!("/proc/{}", child.id());
    let threads = fs::read_dir(format!("{process}/task")).unwrap().count();
    assert_eq!(threads, 1);
    for entry in fs::read_dir(format!("{process}/fd")).unwrap() {
        let leads_to = fs::read_link(entry.unwrap().path()).unwrap_or_default();
        let leads_to = leads_to.to_string_lossy().into_owned();
        assert!(!leads_to.contains("eventpoll"), "{leads_to}");
    }
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert_eq!(end_of(&mut child).code(), Some(0));
}

#[test]
fn nothing_is_left_behind() {
    let house = House::new();
    let word = word(&house);
    let script = "sh -c 'while :; do sleep 0.2; done' $0 & echo $!";
    let said = house.say(["run", "--", "sh", "-c", script, &word]);
    assert_eq!(said.code, 0, "{said:?}");
    until("everything that it started is gone", || {
        states(&word).is_empty()
    });
}

#[test]
fn what_ran_is_on_record() {
    let house = House::new();
    house.say(["run", "--", "sh", "-c", "exit 3"]);
    let path = house.home().join(".local/state/palisade/audit/audit.jsonl");
    let records = fs::read_to_string(path).unwrap();
    assert_eq!(records.lines().count(), 1, "{records}");
    assert!(records.contains("exit 3"), "{records}");
}

fn make_executable(house: &House, file: &str) {
    let path = house.project().join(file);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
