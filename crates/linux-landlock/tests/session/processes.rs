//! Processes as `/proc` shows them, found only by descent from one that the test has started.

use std::fs;
use std::time::{Duration, Instant};

/// A process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    parent: i32,
    pub(crate) session: i32,
}

/// The living children of a process.
pub(crate) fn children_of(parent: i32) -> Vec<Process> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| look_at(entry.file_name().to_str()?.parse().ok()?))
        .filter(|process| process.parent == parent)
        .collect()
}

fn look_at(pid: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let mut numbers = fields.map(|field| field.parse::<i32>().unwrap_or(0));
    let (parent, _group, session) = (numbers.next()?, numbers.next()?, numbers.next()?);
    (state != "Z").then_some(Process {
        pid,
        parent,
        session,
    })
}

/// Asks again and again until there is an answer, or the time is over.
pub(crate) fn wait_until<T>(limit: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if start.elapsed() > limit {
            return None;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}
