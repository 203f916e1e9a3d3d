//! The landlock tier: no namespaces, so whoever serves adopts what its commands leave behind, and ends it.

use std::fs;
use std::os::fd::OwnedFd;
use std::time::Duration;

use palisade_policy::AbsolutePath;
use rustix::io::Errno;

use super::cgroup::Groups;
use super::sampler::all_processes;
use super::serve::Session;
use super::{During, Failed, privileges, rules};
use crate::plan::{FsRights, PathRule, Plan};
use crate::step::Step;
use crate::sys::reap::{has_children, kill_group, kill_process, reap_one};

/// Makes orphans among our descendants our children.
pub(super) fn adopt_orphans() -> Result<(), Errno> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
}

/// Sets the session up: rules for the host's own paths, and one for the private temporary directory.
pub(super) fn begin(
    plan: &Plan,
    tmpdir: Option<&AbsolutePath>,
    groups: Groups,
    helper: OwnedFd,
) -> Result<Session, Failed> {
    adopt_orphans().during(Step::Serve)?;
    let ruleset = match &plan.landlock {
        None => None,
        Some(rules) => {
            let mut rules = rules.clone();
            rules.paths.extend(tmpdir.map(|path| PathRule {
                path: path.clone(),
                rights: FsRights::READ | FsRights::WRITE,
            }));
            Some(rules::build(&rules)?)
        }
    };
    privileges::renounce()?;
    Session::new(plan, ruleset, tmpdir, groups, helper)
}

/// How often our own children are looked at, which is quick, for one look at all processes.
const QUICK_LOOKS: usize = 200;

/// Kills and reaps every descendant but one. A process whose parent dies becomes our child, so this ends when there is
/// none. Those that fork and exit faster than they can be found are met by killing whole groups, which no member
/// escapes, and by looking at our own children, which is what they become.
pub(super) fn sweep(spared: Option<i32>) {
    let mut before = Vec::new();
    loop {
        for _ in 0..QUICK_LOOKS {
            // The one that is spared was forked aside, and does not count.
            if !has_children() {
                return;
            }
            let children = own_children(spared);
            if children.is_empty() {
                break;
            }
            children.into_iter().for_each(kill_process);
            while reap_one().is_some() {}
        }
        let seen = kill_descendants(spared);
        while reap_one().is_some() {}
        if seen.is_empty() && own_children(spared).is_empty() {
            return;
        }
        let seen: Vec<i32> = seen.iter().map(|process| process.pid).collect();
        if seen == before {
            // They are on their way out, and the kernel needs its time.
            std::thread::sleep(Duration::from_millis(1));
        }
        before = seen;
    }
}

/// Kills every descendant that is seen, but for one, with its whole group. A command starts in a group and session of its
/// own, so that such a group has members of this tree only.
pub(super) fn kill_descendants(spared: Option<i32>) -> Vec<Process> {
    let ours = rustix::process::getpgrp().as_raw_nonzero().get();
    let seen = descendants(spared);
    for process in &seen {
        if process.group != ours {
            kill_group(process.group);
        }
        kill_process(process.pid);
    }
    seen
}

/// A process as `/proc` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    /// The leader of its process session.
    pub(super) session: i32,
    /// When it was born, in ticks: with the number, this means one process and no other.
    pub(super) born: u64,
}

/// Every living process below this one, but for one.
pub(super) fn descendants(spared: Option<i32>) -> Vec<Process> {
    let all: Vec<Process> = all_processes().filter_map(look_at).collect();
    let mut parents = vec![own_pid()];
    let mut found = Vec::new();
    while let Some(parent) = parents.pop() {
        for process in &all {
            if process.parent == parent && Some(process.pid) != spared {
                parents.push(process.pid);
                found.push(*process);
            }
        }
    }
    found
}

fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// Our own children, but for one: from the kernel's list where it keeps one, else from all processes.
pub(super) fn own_children(spared: Option<i32>) -> Vec<i32> {
    let own = own_pid();
    let children: Vec<i32> = match fs::read_to_string(format!("/proc/self/task/{own}/children")) {
        Ok(list) => list
            .split_ascii_whitespace()
            .filter_map(|pid| pid.parse().ok())
            .collect(),
        Err(_) => all_processes()
            .filter_map(look_at)
            .filter(|process| process.parent == own)
            .map(|process| process.pid)
            .collect(),
    };
    children
        .into_iter()
        .filter(|pid| Some(*pid) != spared)
        .collect()
}

/// What is in the fields after the name; the name may hold anything, a closing bracket too.
pub(super) fn look_at(pid: i32) -> Option<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(after_name + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    // A zombie has nothing left to kill; its parent reaps it. One whose other threads go on is none.
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    // Thirteen fields on, and then two.
    let threads: u32 = fields.nth(13)?.parse().ok()?;
    let born = fields.nth(1)?.parse().ok()?;
    let dead = matches!(state, "Z" | "X") && threads <= 1;
    (!dead).then_some(Process {
        pid,
        parent,
        group,
        session,
        born,
    })
}
