//! Ending a tree where no kernel keeps it together: everything that is in the leader's group or session, descends from
//! it, or carries its mark. What sheds all of these is not found.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::Leader;
use super::mark::Mark;
use crate::os::sys::wait::signal_group;

/// How many looks in a row must find nothing: what forks and exits at once can be missed by one.
const QUIET_LOOKS: usize = 3;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(1);

/// How much of an environment is searched for a mark; the kernel lets few be larger.
const ENVIRONMENT: u64 = 1024 * 1024;

/// What ties processes to a leader.
#[derive(Debug)]
pub(super) struct Ties {
    mark: Mark,
    /// When it was born, in ticks: nobody who belongs to it is older.
    born: u64,
    /// Who belonged to it when it was last told something: what it ends of may be all that tied them to it.
    known: Mutex<Vec<Seen>>,
}

impl Ties {
    pub(super) fn new(leader: i32, mark: Mark) -> Self {
        Self {
            mark,
            // It cannot have been reaped yet. Where it was, by somebody who reaps all, its mark alone counts.
            born: look_at(leader).map_or(0, |seen| seen.born),
            known: Mutex::default(),
        }
    }
}

/// Kills what belongs to a leader until there is nothing, or the time is over; says whether there is nothing.
pub(super) fn sweep(leader: &Leader, until: Instant) -> bool {
    let mut quiet = 0;
    loop {
        let condemned = Tree::of(leader).condemned();
        if condemned.is_empty() {
            quiet += 1;
            if quiet == QUIET_LOOKS {
                return true;
            }
        } else {
            quiet = 0;
            kill(leader, &condemned);
        }
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Remembers who belongs to a leader now. A child of it that has left its group and session and sheds its mark is tied to it
/// by descent alone, and not for longer than it lives.
pub(super) fn remember(leader: &Leader) {
    let condemned = Tree::of(leader).condemned();
    let mut known = leader
        .ties
        .known
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    for seen in condemned {
        if !known.iter().any(|one| one.is(&seen)) {
            known.push(seen);
        }
    }
}

/// A process as `/proc` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pid: i32,
    parent: i32,
    group: i32,
    session: i32,
    /// In ticks since the machine was started: with the number, this means one process and no other.
    born: u64,
    /// Whether it has ended and waits to be reaped.
    dead: bool,
}

impl Seen {
    /// Whether the two are one process, whatever became of it meanwhile.
    const fn is(&self, other: &Self) -> bool {
        self.pid == other.pid && self.born == other.born
    }
}

/// Everybody who may belong to a leader: those that are not older.
struct Tree<'a> {
    leader: &'a Leader,
    /// Whether the leader's number means it, and not somebody else since.
    is_ours: bool,
    all: HashMap<i32, Seen>,
}

impl<'a> Tree<'a> {
    fn of(leader: &'a Leader) -> Self {
        let is_ours = leader.is_ours();
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let all = fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| look_at(entry.file_name().to_str()?.parse().ok()?))
            .filter(|seen| seen.born >= leader.ties.born && seen.pid != own)
            .map(|seen| (seen.pid, seen))
            .collect();
        Self {
            leader,
            is_ours,
            all,
        }
    }

    fn condemned(&self) -> Vec<Seen> {
        let known = {
            let known = self.leader.ties.known.lock();
            known.unwrap_or_else(PoisonError::into_inner).clone()
        };
        let is_known = |seen: &Seen| known.iter().any(|one| one.is(seen));
        let mut members: HashSet<i32> = self
            .all
            .values()
            .filter(|seen| {
                is_known(seen) || self.is_in_session(seen) || carries(seen, &self.leader.ties.mark)
            })
            .map(|seen| seen.pid)
            .collect();
        // Children of members, and their children.
        loop {
            let before = members.len();
            let children: Vec<i32> = self
                .all
                .values()
                .filter(|seen| members.contains(&seen.parent))
                .map(|seen| seen.pid)
                .collect();
            members.extend(children);
            if members.len() == before {
                break;
            }
        }
        self.all
            .values()
            .filter(|seen| members.contains(&seen.pid) && !seen.dead)
            .copied()
            .collect()
    }

    fn is_in_session(&self, seen: &Seen) -> bool {
        let leader = self.leader.child.pid();
        self.is_ours && [seen.pid, seen.group, seen.session].contains(&leader)
    }
}

fn kill(leader: &Leader, condemned: &[Seen]) {
    // None of a group escapes a signal to all of it by forking. While the leader is not reaped, and a session cannot
    // lend its groups, groups of its session are its own.
    let groups: HashSet<i32> = condemned
        .iter()
        .filter(|seen| seen.session == leader.child.pid() && leader.is_ours())
        .filter(|seen| look_at(seen.pid).is_some_and(|now| now.group == seen.group))
        .map(|seen| seen.group)
        .collect();
    for group in groups {
        signal_group(group, libc::SIGKILL);
    }
    for seen in condemned {
        kill_same(seen);
    }
}

/// Kills a process if its number still means the one that was looked at.
fn kill_same(seen: &Seen) {
    let Some(pid) = Pid::from_raw(seen.pid).filter(|_| seen.pid > 1) else {
        return;
    };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else {
        return;
    };
    // Once the handle is open, the number can be given anew, but not what the handle means.
    if look_at(seen.pid).is_some_and(|now| now.born == seen.born) {
        let _ = pidfd_send_signal(handle.as_fd(), Signal::KILL);
    }
}

fn carries(seen: &Seen, mark: &Mark) -> bool {
    let mut environment = Vec::new();
    let read = File::open(format!("/proc/{}/environ", seen.pid))
        .and_then(|file| file.take(ENVIRONMENT).read_to_end(&mut environment));
    read.is_ok() && mark.is_in(&environment)
}

/// What is in the fields after the name; the name may hold anything, a closing bracket too.
fn look_at(pid: i32) -> Option<Seen> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(after_name + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    // Thirteen fields on, and then two.
    let threads: u32 = fields.nth(13)?.parse().ok()?;
    let born = fields.nth(1)?.parse().ok()?;
    Some(Seen {
        pid,
        parent,
        group,
        session,
        born,
        // One whose other threads go on is not dead.
        dead: matches!(state, "Z" | "X") && threads <= 1,
    })
}
