//! `run`: a command in the place of its caller, with its streams, its terminal and its signals.

mod bytes;
mod ends;
mod git;
mod hosts;
mod signals;
mod terminal;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::support::House;

/// How long anything may take; only what fails takes so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something is so.
#[track_caller]
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !so() {
        assert!(begin.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits for the end of a program, and ends it if it does not come.
#[track_caller]
fn end_of(child: &mut Child) -> ExitStatus {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if begin.elapsed() >= PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("never ended");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Reads the next line that a command writes.
#[track_caller]
fn line(output: &mut BufReader<ChildStdout>) -> String {
    if output.buffer().is_empty() {
        let patience = Timespec::try_from(PATIENCE).unwrap();
        let mut polled = [PollFd::new(output.get_ref(), PollFlags::IN)];
        assert_ne!(poll(&mut polled, Some(&patience)), Ok(0), "never a line");
    }
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    line
}

/// The states of the processes that have this word among their arguments and are no `palisade`, as the kernel writes them.
fn states(word: &str) -> Vec<char> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(arguments) = fs::read(entry.path().join("cmdline")) else {
            continue;
        };
        let words: Vec<&[u8]> = arguments.split(|byte| *byte == 0).collect();
        let ours = words
            .first()
            .is_some_and(|program| program.ends_with(b"palisade"));
        if ours || !words.contains(&word.as_bytes()) {
            continue;
        }
        found.extend(state(&entry.path()));
    }
    found
}

/// The state of the process of this directory.
fn state(process: &Path) -> Option<char> {
    let status = fs::read_to_string(process.join("status")).ok()?;
    let state = status
        .lines()
        .find_map(|line| line.strip_prefix("State:"))?;
    state.trim().chars().next()
}

/// A word that no other test uses, for [`states`].
fn word(house: &House) -> String {
    let name = house.home().file_name().unwrap();
    format!("word-of-{}", name.to_str().unwrap())
}
