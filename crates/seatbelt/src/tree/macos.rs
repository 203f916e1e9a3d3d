//! Ending a tree on macOS.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::select::{Identity, ProcessEntry, Root, condemned};
use crate::sys::processes;

/// How many looks in a row must find nothing: what forks and exits at once can be missed by one.
const QUIET_LOOKS: usize = 3;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(1);

/// A tree that can be ended.
#[derive(Debug)]
pub struct Ending {
    root: Identity,
    /// `NAME=value`, as every process of the command has it in its environment unless it sheds it.
    mark: Vec<u8>,
    /// Who belonged to it when it was last looked at.
    known: Mutex<HashSet<Identity>>,
}

impl Ending {
    /// Of a command whose first process has this number and was not reaped, and whose environment holds this entry.
    #[must_use]
    pub fn new(pid: i32, mark: impl Into<Vec<u8>>) -> Self {
        Self {
            root: Identity {
                pid,
                // Where somebody has reaped it already, its mark alone counts.
                born: processes::look_at(pid).map_or(0, |entry| entry.born),
            },
            mark: mark.into(),
            known: Mutex::default(),
        }
    }

    /// Kills what belongs to it until there is nothing, or the time is over; says whether there is nothing. `is_ours` says
    /// whether the first process was not reaped, so that its number means nobody else.
    pub fn sweep(&self, until: Instant, is_ours: impl Fn() -> bool) -> bool {
        let mut quiet = 0;
        loop {
            let condemned = self.look(is_ours());
            if condemned.is_empty() {
                quiet += 1;
                if quiet == QUIET_LOOKS {
                    return true;
                }
            } else {
                quiet = 0;
                self.kill(&condemned, &is_ours);
            }
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Remembers who belongs to it now: what it ends of may be all that tied them to it.
    pub fn remember(&self, is_ours: bool) {
        self.look(is_ours);
    }

    fn look(&self, is_ours: bool) -> Vec<ProcessEntry> {
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let root = Root {
            identity: self.root,
            is_ours,
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let marked = |entry: &ProcessEntry| !entry.dead && self.is_marked(entry.pid);
        let condemned = condemned(&processes::all(), root, &known, own, marked);
        known.extend(condemned.iter().map(ProcessEntry::identity));
        condemned
    }

    fn is_marked(&self, pid: i32) -> bool {
        processes::arguments(pid)
            .split(|byte| *byte == 0)
            .any(|entry| entry == self.mark)
    }

    fn kill(&self, condemned: &[ProcessEntry], is_ours: &impl Fn() -> bool) {
        // None of a group escapes a signal to all of it by forking. While the leader is not reaped, and a session cannot
        // lend its groups, groups of its session are its own.
        let groups: HashSet<i32> = condemned
            .iter()
            .filter(|entry| entry.session == self.root.pid && is_ours())
            .filter(|entry| {
                processes::look_at(entry.pid).is_some_and(|now| now.group == entry.group)
            })
            .map(|entry| entry.group)
            .collect();
        for group in groups {
            processes::signal_group(group, libc::SIGKILL);
        }
        for entry in condemned {
            // macOS has no handle that means one process and no other: between this look and the signal the number could
            // be given anew, though numbers are given in turn and come round late.
            if processes::look_at(entry.pid).is_some_and(|now| now.identity() == entry.identity()) {
                processes::signal(entry.pid, libc::SIGKILL);
            }
        }
    }
}
