//! A helper that is started before anybody knows what for: the first session takes it, and without one nothing is left.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use palisade_linux_landlock::{Helper, Session, Tier};
use rustix::process::{Pid, Signal, kill_process};

use crate::processes::wait_until;
use crate::support::{Stage, helper_path};

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
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
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
