//! What is done ahead of time. A helper that is started before anybody knows what for: the first session takes it, and
//! without one nothing is left. A command that is known to be the last of its session ends it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use palisade_linux_landlock::plan::NetworkNamespace;
use palisade_linux_landlock::{ExitCause, Helper, Session, Tier};
use rustix::process::{Pid, Signal, kill_process};

use crate::processes::wait_until;
use crate::support::{Stage, TIERS, helper_path, run};

const LIMIT: Duration = Duration::from_secs(20);

/// A helper that writes down its process number before it becomes one.
struct Counted {
    _directory: tempfile::TempDir,
    program: PathBuf,
    started: PathBuf,
}

impl Counted {
    fn new() -> Self {
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let (program, started) = (
            directory.path().join("helper"),
            directory.path().join("started"),
        );
        let text = format!(
            "#!/bin/sh\necho $$ >>{}\nexec {} \"$@\"\n",
            started.display(),
            helper_path().display()
        );
        // By another process: what a process has open for writing, a test that forks beside this one has too, and then it
        // cannot be executed.
        let written = std::process::Command::new("sh")
            .args(["-c", r#"printf %s "$1" >"$0" && chmod 755 "$0""#])
            .args([program.as_os_str(), text.as_ref()])
            .status();
        assert!(written.unwrap().success());
        Self {
            _directory: directory,
            program,
            started,
        }
    }

    /// The helpers that were started, once there are so many.
    fn wait_for(&self, count: usize) -> Vec<i32> {
        let started = || {
            let text = fs::read_to_string(&self.started).unwrap_or_default();
            let numbers: Vec<i32> = text.lines().map(|line| line.parse().unwrap()).collect();
            (numbers.len() >= count).then_some(numbers)
        };
        wait_until(LIMIT, started).unwrap()
    }
}

fn children(of: i32) -> Vec<String> {
    let all = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap();
    all.split_whitespace().map(str::to_owned).collect()
}

fn is_there(process: i32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

#[test]
fn the_first_session_takes_it_and_the_next_starts_its_own() {
    let stage = Stage::new();
    let plan = stage.plan(&stage.workspace_write(), Tier::Full);
    let counted = Counted::new();
    let helper = Helper::new(&counted.program).ahead();
    assert_eq!(counted.wait_for(1).len(), 1);
    for expected in [1, 2] {
        let session = Session::start(&plan, &helper).unwrap();
        stage.run(&session, "exit 0").assert_success();
        session.end();
        assert_eq!(counted.wait_for(expected).len(), expected);
    }
}

#[test]
fn one_that_died_is_replaced() {
    let stage = Stage::new();
    let plan = stage.plan(&stage.workspace_write(), Tier::Full);
    let counted = Counted::new();
    let helper = Helper::new(&counted.program).ahead();
    let first = counted.wait_for(1)[0];
    kill_process(Pid::from_raw(first).unwrap(), Signal::KILL).unwrap();
    let state = || fs::read_to_string(format!("/proc/{first}/stat")).unwrap();
    wait_until(LIMIT, || state().contains(") Z ").then_some(())).unwrap();
    let session = Session::start(&plan, &helper).unwrap();
    stage.run(&session, "exit 0").assert_success();
    session.end();
    assert_eq!(counted.wait_for(2).len(), 2);
    assert!(!is_there(first), "it was reaped");
}

#[test]
fn one_that_nobody_needed_ends_with_its_last_owner() {
    let counted = Counted::new();
    let helper = Helper::new(&counted.program).ahead();
    let first = counted.wait_for(1)[0];
    let clone = helper.clone();
    drop(helper);
    assert!(is_there(first));
    drop(clone);
    assert!(!is_there(first));
}

/// Init is there before the plan, and is the one that the session gets.
#[test]
fn what_is_made_ahead_serves_the_session() {
    let stage = Stage::new();
    let counted = Counted::new();
    let helper = Helper::new(&counted.program).ahead();
    let outer = counted.wait_for(1)[0];
    let init = wait_until(LIMIT, || children(outer).first().cloned()).unwrap();
    let plan = stage.plan(&stage.workspace_write(), Tier::Full);
    let session = Session::start(&plan, &helper).unwrap();
    let namespace = |of: &str| fs::read_link(format!("/proc/{of}/ns/pid")).ok();
    // Root sees through init's refusal to be looked at; others see that it is there.
    let seen = stage.run(&session, "readlink /proc/self/ns/pid").text;
    if let Some(own) = namespace(&init) {
        assert_eq!(seen.trim(), own.to_string_lossy());
    }
    session.end();
    assert!(!is_there(init.parse().unwrap()));
}

/// What was made ahead for a plan with namespaces is taken down before a session without them begins.
#[test]
fn a_session_that_needs_no_init_leaves_none() {
    let stage = Stage::new();
    let counted = Counted::new();
    let helper = Helper::new(&counted.program).ahead();
    let outer = counted.wait_for(1)[0];
    let init = wait_until(LIMIT, || children(outer).first().cloned()).unwrap();
    let plan = stage.plan(&stage.workspace_write(), Tier::Landlock);
    let session = Session::start(&plan, &helper).unwrap();
    assert!(!children(outer).contains(&init));
    stage.run(&session, "exit 0").assert_success();
    session.end();
}

#[test]
fn every_network_can_follow_one_that_was_made_ahead() {
    let stage = Stage::new();
    // The kernel has an address there while loopback is up.
    let up = "grep -q 127.0.0.1 /proc/net/fib_trie";
    let down = "! grep -q 127.0.0.1 /proc/net/fib_trie";
    for (network, script) in [
        (NetworkNamespace::OwnLoopback, up),
        (NetworkNamespace::Proxied, up),
        (NetworkNamespace::Nothing, down),
        (NetworkNamespace::Host, "exit 0"),
    ] {
        let mut plan = stage.plan(&stage.workspace_write(), Tier::Full);
        plan.network = network;
        let counted = Counted::new();
        let helper = Helper::new(&counted.program).ahead();
        counted.wait_for(1);
        let mut session = Session::start(&plan, &helper).unwrap();
        stage.run(&session, script).assert_success();
        let seen = stage.run(&session, "readlink /proc/self/ns/net").text;
        let host = fs::read_link("/proc/self/ns/net").unwrap();
        let is_host = seen.trim() == host.to_string_lossy();
        assert_eq!(is_host, network == NetworkNamespace::Host, "{network:?}");
        let listens = session.take_proxy_listener().is_some();
        assert_eq!(listens, network == NetworkNamespace::Proxied);
        session.end();
    }
}

#[test]
fn a_session_ends_with_its_last_command() {
    let stage = Stage::new();
    for tier in TIERS {
        let session = stage.session(&stage.workspace_write(), tier);
        stage.run(&session, "exit 0").assert_success();
        assert!(session.is_alive());
        let last = run(&session, &stage.script("exit 7").as_last()).unwrap();
        assert_eq!(last.exit.cause, ExitCause::Code(7));
        wait_until(LIMIT, || (!session.is_alive()).then_some(())).unwrap();
        session.end();
    }
}

#[test]
fn a_session_does_not_end_while_its_last_command_left_something_running() {
    let stage = Stage::new();
    for tier in TIERS {
        let session = stage.session(&stage.workspace_write(), tier);
        let script = "mkfifo go; (read word <go; echo $word >said) >/dev/null 2>&1 & exit 0";
        let last = run(&session, &stage.script(script).as_last()).unwrap();
        last.assert_success();
        assert!(session.is_alive(), "{tier:?}");
        fs::write(stage.workspace.join("go"), "late\n").unwrap();
        let said = || fs::read_to_string(stage.workspace.join("said")).ok();
        let said = wait_until(LIMIT, || said().filter(|said| !said.is_empty()));
        assert_eq!(said.unwrap(), "late\n");
        wait_until(LIMIT, || (!session.is_alive()).then_some(())).unwrap();
        session.end();
        fs::remove_file(stage.workspace.join("go")).unwrap();
        fs::remove_file(stage.workspace.join("said")).unwrap();
    }
}
