//! Several processes keep approvals at once, and some of them are killed.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use palisade_exec_policy::ExecPolicyAmendment;
use palisade_exec_policy::approvals::{AmendmentSource, Keep, edit_for};
use palisade_runner::config::State;

use crate::support::{Stage, now};

const PROCESSES: usize = 8;
const EDITS: usize = 50;
/// Where the state is and which process this is: only a part of another test has it.
const PART: &str = "PALISADE_TEST_STORES";

#[test]
#[ignore = "a part of other tests"]
fn part_store_approvals() {
    let part = std::env::var(PART).unwrap();
    let (number, directory) = part.split_once(' ').unwrap();
    store(Path::new(directory), number, EDITS);
}

fn store(directory: &Path, number: &str, count: usize) {
    let approvals = State::new(directory).approvals();
    for index in 0..count {
        let tool = format!("tool-{number}-{index}");
        let amendment = ExecPolicyAmendment::new([tool.as_str(), "lint"]).unwrap();
        let keep = Keep::everywhere(now());
        let edit = edit_for(&amendment, AmendmentSource::Unmatched, &keep).unwrap();
        assert!(approvals.store(&edit).unwrap());
    }
}

fn start(stage: &Stage, number: usize) -> Child {
    let directory = stage.at("state");
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "processes::part_store_approvals"])
        .env(PART, format!("{number} {}", directory.display()))
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn processes_at_once_lose_nothing() {
    let stage = Stage::new();
    let children: Vec<Child> = (0..PROCESSES).map(|number| start(&stage, number)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let stored = State::new(stage.at("state")).approvals().read().unwrap();
    assert_eq!(stored.len(), PROCESSES * EDITS);
}

#[test]
fn a_process_that_is_killed_leaves_a_whole_file_and_no_lock() {
    let stage = Stage::new();
    let approvals = State::new(stage.at("state")).approvals();
    let mut before = 0;
    for round in 0..30 {
        let mut child = start(&stage, round);
        // Somewhere within its edits: from when the first of them is there, a little later in each round.
        let begin = Instant::now();
        while approvals.read().unwrap().len() == before {
            assert!(child.try_wait().unwrap().is_none(), "it failed");
            assert!(
                begin.elapsed() < Duration::from_secs(60),
                "it stores nothing"
            );
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_micros(u64::try_from(round).unwrap() * 611));
        child.kill().unwrap();
        child.wait().unwrap();
        let after = approvals.read().unwrap().len();
        assert!(after > before);
        before = after;
    }
    let begin = Instant::now();
    store(&stage.at("state"), "last", 1);
    assert!(
        begin.elapsed() < Duration::from_secs(30),
        "nobody holds the lock"
    );
    assert_eq!(approvals.read().unwrap().len(), before + 1);
    let left: Vec<_> = std::fs::read_dir(stage.at("state"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".new"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
