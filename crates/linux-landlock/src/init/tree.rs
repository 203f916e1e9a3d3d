//! Ending one command of a session: everything in it that belongs to no other command.
//!
//! Whose process one is, the first of these says that has an answer:
//! 1. it descends from the first process of a command that still runs, or is in the process session of that;
//! 2. it, or the nearest process above it that has one, carries the mark of a command;
//! 3. it is in the process session that a command, which has ended, once led.
//!
//! The first cannot be forged, and no process can leave its descent but by outliving its parents. What is nobody's is
//! ended too: whoever sheds its descent, its session and its mark has something to hide.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::sampler::all_processes;
use super::subreaper::{Process, descendants, look_at, own_children};
use crate::marker::Marker;
use crate::plan::Tier;
use crate::sys::reap::{kill_everybody_else, kill_group, own_group};

/// How long init looks and kills before it listens again.
pub(super) const TURN: Duration = Duration::from_millis(10);

/// The pauses between turns: at first short, because who is killed is soon gone, then longer, because some are not.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(100));

/// After how many looks in a row that found nothing, but missed some, the tree counts as gone. Those that fork and exit
/// faster than they can be looked at are missed, but so are the short-lived ones of other commands.
const QUIET_LOOKS: u32 = 50;

/// How often our own children are looked at, which is quick, for one look at all processes: what forks and exits faster
/// than it can be found becomes one of them.
const QUICK_LOOKS: usize = 20;

/// How much of an environment is searched for a mark; the kernel lets few be larger.
const ENVIRONMENT: u64 = 1024 * 1024;

/// How many threads of a process whose first has ended are asked for its environment.
const THREADS: usize = 8;

/// Who is who in a session, and which trees are being ended.
pub(super) struct Ledger {
    tier: Tier,
    marks: HashMap<Marker, u32>,
    /// The first process of each command that runs.
    living: HashMap<i32, u32>,
    /// Processes of ours that fill the input of a command.
    relays: HashMap<i32, u32>,
    /// The process sessions of commands that have ended.
    past: HashMap<i32, u32>,
    ending: HashSet<u32>,
    /// Who was to be killed when we last looked.
    condemned: HashSet<(i32, u64)>,
    quiet: u32,
    pause: Duration,
    /// When to look again.
    due: Option<Instant>,
}

/// Whether to go on at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Swept {
    /// There is time for another look.
    More,
    /// Others wait, or nothing is left.
    Enough,
}

impl Ledger {
    pub(super) fn new(tier: Tier) -> Self {
        Self {
            tier,
            marks: HashMap::new(),
            living: HashMap::new(),
            relays: HashMap::new(),
            past: HashMap::new(),
            ending: HashSet::new(),
            condemned: HashSet::new(),
            quiet: 0,
            pause: PAUSES.0,
            due: None,
        }
    }

    /// A command is about to be started.
    pub(super) fn expect(&mut self, id: u32, mark: Option<Marker>) {
        self.marks.extend(mark.map(|mark| (mark, id)));
    }

    /// A command has a process.
    pub(super) fn started(&mut self, id: u32, pid: i32) {
        self.past.remove(&pid);
        self.living.insert(pid, id);
    }

    /// A process of ours fills the input of a command.
    pub(super) fn relays(&mut self, id: u32, pid: i32) {
        self.relays.insert(pid, id);
    }

    /// A child was reaped.
    pub(super) fn reaped(&mut self, pid: i32) {
        self.relays.remove(&pid);
        if let Some(id) = self.living.remove(&pid) {
            self.past.insert(pid, id);
        }
    }

    /// Begins to end the tree of a command.
    pub(super) fn end(&mut self, id: u32) {
        self.ending.insert(id);
        self.quiet = 0;
        self.pause = PAUSES.0;
        self.due = Some(Instant::now());
    }

    /// How long nothing has to be done; `None` if nothing is to be ended.
    pub(super) fn pause(&self) -> Option<Duration> {
        self.due
            .map(|due| due.saturating_duration_since(Instant::now()))
    }

    pub(super) fn is_due(&self) -> bool {
        self.pause().is_some_and(|pause| pause.is_zero())
    }

    /// Looks once and kills.
    pub(super) fn sweep(&mut self) -> Swept {
        let (condemned, missed) = self.look_and_kill();
        let news = !condemned.is_subset(&self.condemned);
        self.quiet = if condemned.is_empty() {
            self.quiet + 1
        } else {
            0
        };
        self.condemned = condemned;
        if self.quiet > 0 && (missed == 0 || self.quiet >= QUIET_LOOKS) {
            self.ending.clear();
            self.due = None;
            return Swept::Enough;
        }
        if news {
            self.pause = PAUSES.0;
            return Swept::More;
        }
        // They are on their way out, and the kernel needs its time.
        self.due = Some(Instant::now() + self.pause);
        if self.quiet == 0 {
            self.pause = (self.pause * 2).min(PAUSES.1);
        }
        Swept::Enough
    }

    /// Gives who was to be killed, and how many were missed.
    fn look_and_kill(&self) -> (HashSet<(i32, u64)>, usize) {
        let (all, missed) = self.processes();
        let owners = Owners::of(&all, self, mark_of);
        let (condemned, spared): (Vec<Process>, Vec<Process>) = all
            .values()
            .copied()
            .partition(|process| self.condemns(owners.of_process(process)));
        let others = self.living.values().any(|id| !self.ending.contains(id));
        if self.tier == Tier::Full && spared.is_empty() && !others && !condemned.is_empty() {
            // At once, so that nobody can run ahead of us.
            kill_everybody_else();
        } else {
            kill_groups(&condemned, &spared);
            condemned.iter().for_each(kill_same);
            if !condemned.is_empty() || missed > 0 {
                self.meet_orphans();
            }
        }
        let condemned = condemned
            .iter()
            .map(|process| (process.pid, process.born))
            .collect();
        (condemned, missed)
    }

    fn condemns(&self, owner: Option<u32>) -> bool {
        owner.is_none_or(|owner| self.ending.contains(&owner))
    }

    /// The processes of the session, and how many more there were that came or went too fast.
    fn processes(&self) -> (HashMap<i32, Process>, usize) {
        let (listed, seen): (Vec<i32>, Vec<Process>) = match self.tier {
            Tier::Full => {
                let listed: Vec<i32> = all_processes().filter(|pid| *pid != 1).collect();
                let seen = listed.iter().filter_map(|pid| look_at(*pid)).collect();
                (listed, seen)
            }
            Tier::Landlock => (own_children(None), descendants(None)),
        };
        let all: HashMap<i32, Process> = seen
            .into_iter()
            .map(|process| (process.pid, process))
            .collect();
        // Who is listed and cannot be looked at has just ended; who is our child now and was not listed has just come.
        let missed = listed
            .into_iter()
            .chain(own_children(None))
            .filter(|pid| !all.contains_key(pid) && !self.living.contains_key(pid))
            .count();
        (all, missed)
    }

    /// Kills those of our own children that belong to nobody or to a command that is ended, several times in a row.
    fn meet_orphans(&self) {
        for _ in 0..QUICK_LOOKS {
            let ours = |pid: &i32| self.living.contains_key(pid) || self.relays.contains_key(pid);
            let orphans = own_children(None);
            for pid in orphans.into_iter().filter(|pid| !ours(pid)) {
                kill_if(pid, |process| {
                    let alone = HashMap::from([(pid, *process)]);
                    self.condemns(Owners::of(&alone, self, mark_of).of_process(process))
                });
            }
        }
    }
}

/// Whose each process is.
struct Owners(HashMap<i32, Option<u32>>);

impl Owners {
    fn of(
        all: &HashMap<i32, Process>,
        ledger: &Ledger,
        mark_of: impl Fn(&Process) -> Option<Marker>,
    ) -> Self {
        let marks: HashMap<i32, u32> = all
            .values()
            .filter_map(|process| {
                let id = ledger.marks.get(&mark_of(process)?)?;
                Some((process.pid, *id))
            })
            .collect();
        let owner = |process: &Process| {
            let line = || Line::of(process, all);
            line()
                .find_map(|above| {
                    let pid = &above.pid;
                    ledger.living.get(pid).or_else(|| ledger.relays.get(pid))
                })
                .or_else(|| ledger.living.get(&process.session))
                .or_else(|| line().find_map(|above| marks.get(&above.pid)))
                .or_else(|| ledger.past.get(&process.session))
                .copied()
        };
        Self(
            all.values()
                .map(|process| (process.pid, owner(process)))
                .collect(),
        )
    }

    fn of_process(&self, process: &Process) -> Option<u32> {
        self.0.get(&process.pid).copied().flatten()
    }
}

/// A process, its parent, and so on, as far as the session goes.
struct Line<'a> {
    next: Option<&'a Process>,
    all: &'a HashMap<i32, Process>,
    /// What is read one after the other need not fit together: a number may have been given anew meanwhile.
    left: usize,
}

impl<'a> Line<'a> {
    fn of(process: &'a Process, all: &'a HashMap<i32, Process>) -> Self {
        Self {
            next: Some(process),
            all,
            left: all.len(),
        }
    }
}

impl<'a> Iterator for Line<'a> {
    type Item = &'a Process;

    fn next(&mut self) -> Option<&'a Process> {
        let process = self.next?;
        self.left = self.left.checked_sub(1)?;
        self.next = self.all.get(&process.parent);
        Some(process)
    }
}

/// The mark that a process carries, if it lets itself be looked at.
fn mark_of(process: &Process) -> Option<Marker> {
    let pid = process.pid;
    let own = environment(&format!("/proc/{pid}/environ"));
    if own.as_ref().is_some_and(|own| !own.is_empty()) {
        return own.and_then(|own| Marker::in_environment(&own));
    }
    // A first thread that has ended has nothing to show, but the others have.
    fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten()
        .take(THREADS)
        .filter_map(|thread| environment(thread.path().join("environ").to_str()?))
        .find_map(|environment| Marker::in_environment(&environment))
}

fn environment(file: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(file).ok()?;
    file.take(ENVIRONMENT).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Kills whole groups, whose members cannot fork their way out, where nobody is in them who is spared.
fn kill_groups(condemned: &[Process], spared: &[Process]) {
    let ours = own_group();
    let spared: HashSet<i32> = spared.iter().map(|process| process.group).collect();
    let groups: HashSet<i32> = condemned
        .iter()
        .filter(|process| process.group != ours && !spared.contains(&process.group))
        .filter(|process| look_at(process.pid) == Some(**process))
        .map(|process| process.group)
        .collect();
    groups.into_iter().for_each(kill_group);
}

/// Kills a process if its number still means the one that was looked at.
fn kill_same(process: &Process) {
    kill_if(process.pid, |now| now.born == process.born);
}

/// Kills a process if a look at it says so.
fn kill_if(number: i32, condemned: impl FnOnce(&Process) -> bool) {
    let Some(pid) = Pid::from_raw(number).filter(|_| number > 1) else {
        return;
    };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else {
        return;
    };
    // Once the handle is open, the number can be given anew, but not what the handle means.
    if look_at(number).is_some_and(|process| condemned(&process)) {
        let _ = pidfd_send_signal(handle, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number, parent, process session.
    fn processes(of: &[(i32, i32, i32)]) -> HashMap<i32, Process> {
        let process = |&(pid, parent, session): &(i32, i32, i32)| Process {
            pid,
            parent,
            group: session,
            session,
            born: 0,
        };
        of.iter().map(|seen| (seen.0, process(seen))).collect()
    }

    /// Commands 1 and 2 run as 10 and 20, and command 3 ran as 30; 40 feeds command 2.
    fn ledger() -> (Ledger, [Marker; 3]) {
        let marks = [(); 3].map(|()| Marker::random().unwrap());
        let mut ledger = Ledger::new(Tier::Full);
        for (id, mark) in (1..).zip(marks) {
            ledger.expect(id, Some(mark));
        }
        ledger.started(1, 10);
        ledger.started(2, 20);
        ledger.started(3, 30);
        ledger.reaped(30);
        ledger.relays(2, 40);
        (ledger, marks)
    }

    #[track_caller]
    fn owners(of: &[(i32, i32, i32)], marked: &[(i32, usize)], expected: &[(i32, Option<u32>)]) {
        let (ledger, marks) = ledger();
        let all = processes(of);
        let mark_of = |process: &Process| {
            let found = marked.iter().find(|(pid, _)| *pid == process.pid)?;
            marks.get(found.1 - 1).copied()
        };
        let owners = Owners::of(&all, &ledger, mark_of);
        for (pid, owner) in expected {
            assert_eq!(owners.0[pid], *owner, "{pid}");
        }
    }

    #[test]
    fn descent_from_a_running_command_counts_before_a_mark() {
        owners(
            &[
                (10, 1, 10),
                (11, 10, 11),
                (12, 11, 12),
                (21, 1, 20),
                (40, 1, 0),
            ],
            &[(12, 3), (21, 1)],
            &[(10, Some(1)), (12, Some(1)), (21, Some(2)), (40, Some(2))],
        );
    }

    #[test]
    fn orphans_are_known_by_their_mark_and_then_by_their_session() {
        owners(
            &[
                (50, 1, 50),
                (51, 50, 51),
                (60, 1, 30),
                (61, 1, 30),
                (70, 1, 70),
            ],
            &[(50, 3), (61, 1)],
            &[
                (50, Some(3)),
                (51, Some(3)),
                (60, Some(3)),
                (61, Some(1)),
                (70, None),
            ],
        );
    }

    /// What is read one after the other need not fit together.
    #[test]
    fn parents_in_a_circle_do_not_keep_anybody_busy() {
        owners(
            &[(50, 51, 50), (51, 50, 51)],
            &[],
            &[(50, None), (51, None)],
        );
    }
}
