//! Who belongs to a command, by a table of processes. Pure: tests pass what they like.

use std::collections::{HashMap, HashSet};

/// A process, as a look at the table shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "tests and tables make them")]
pub struct ProcessEntry {
    /// Its number.
    pub pid: i32,
    /// Its parent's: 1 once its own is gone.
    pub parent: i32,
    /// Its process group.
    pub group: i32,
    /// Its process session.
    pub session: i32,
    /// When it was started, in microseconds: with the number, this means one process and no other.
    pub born: u64,
    /// Whether it has ended and waits to be reaped.
    pub dead: bool,
}

impl ProcessEntry {
    /// What tells it from another of the same number.
    #[must_use]
    pub const fn identity(&self) -> Identity {
        Identity {
            pid: self.pid,
            born: self.born,
        }
    }
}

/// One process and no other, whatever became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a number and a time, for good")]
pub struct Identity {
    /// Its number.
    pub pid: i32,
    /// When it was started.
    pub born: u64,
}

/// The first process of a command, which leads its group and its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers make them")]
pub struct Root {
    /// Which it is.
    pub identity: Identity,
    /// Whether its number still means it, as process, group and session: it lives, or was not reaped.
    pub is_ours: bool,
}

/// Those in the table that belong to a command and have not ended.
///
/// `known` are those that belonged to it when it was looked at before; `marked` says who carries its mark; `own` is the
/// process that asks, which is never among them, whatever the table says, and neither are the first two of the system.
pub fn condemned(
    table: &[ProcessEntry],
    root: Root,
    known: &HashSet<Identity>,
    own: i32,
    marked: impl Fn(&ProcessEntry) -> bool,
) -> Vec<ProcessEntry> {
    // Nobody who belongs to it is older. That keeps out whoever has a number that one of its processes had before, and
    // those who merely share the number of a parent.
    let all: HashMap<i32, &ProcessEntry> = table
        .iter()
        .filter(|entry| entry.pid > 1 && entry.pid != own && entry.born >= root.identity.born)
        .map(|entry| (entry.pid, entry))
        .collect();
    let leader = root.identity.pid;
    let tied = |entry: &ProcessEntry| {
        entry.identity() == root.identity
            || known.contains(&entry.identity())
            || root.is_ours && [entry.group, entry.session].contains(&leader)
            || marked(entry)
    };
    let mut members: HashSet<i32> = all
        .values()
        .filter(|entry| tied(entry))
        .map(|entry| entry.pid)
        .collect();
    // Children of members, and theirs. The set only grows, so a table that is wrong in circles ends too.
    loop {
        let children: Vec<i32> = all
            .values()
            .filter(|entry| !members.contains(&entry.pid) && is_child(entry, &members, &all))
            .map(|entry| entry.pid)
            .collect();
        if children.is_empty() {
            break;
        }
        members.extend(children);
    }
    let mut condemned: Vec<ProcessEntry> = all
        .values()
        .filter(|entry| members.contains(&entry.pid) && !entry.dead)
        .map(|entry| **entry)
        .collect();
    condemned.sort_by_key(|entry| (entry.born, entry.pid));
    condemned
}

/// Whether its parent is a member, and not one that came to that number later: no child is older than its parent.
fn is_child(
    entry: &ProcessEntry,
    members: &HashSet<i32>,
    all: &HashMap<i32, &ProcessEntry>,
) -> bool {
    members.contains(&entry.parent)
        && all
            .get(&entry.parent)
            .is_some_and(|parent| parent.born <= entry.born)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OWN: i32 = 50;
    const LEADER: i32 = 100;

    fn entry(pid: i32, parent: i32, group: i32, session: i32, born: u64) -> ProcessEntry {
        ProcessEntry {
            pid,
            parent,
            group,
            session,
            born,
            dead: false,
        }
    }

    fn root() -> Root {
        Root {
            identity: Identity {
                pid: LEADER,
                born: 1000,
            },
            is_ours: true,
        }
    }

    /// The shell that runs us, us, and somebody else's program.
    fn others() -> Vec<ProcessEntry> {
        vec![
            entry(1, 0, 1, 1, 1),
            entry(40, 1, 40, 40, 10),
            entry(OWN, 40, OWN, 40, 20),
            entry(60, 1, 60, 60, 2000),
        ]
    }

    fn pids(table: &[ProcessEntry], root: Root, known: &[Identity]) -> Vec<i32> {
        let known = known.iter().copied().collect();
        condemned(table, root, &known, OWN, |_| false)
            .iter()
            .map(|entry| entry.pid)
            .collect()
    }

    #[test]
    fn the_group_and_everybody_who_descends_belong() {
        let mut table = others();
        table.extend([
            entry(LEADER, OWN, LEADER, LEADER, 1000),
            entry(101, LEADER, LEADER, LEADER, 1001),
            // Its own group, its own session.
            entry(102, 101, 102, LEADER, 1002),
            entry(103, 102, 103, 103, 1003),
            entry(104, 103, 103, 103, 1004),
        ]);
        assert_eq!(pids(&table, root(), &[]), [100, 101, 102, 103, 104]);
    }

    #[test]
    fn a_daemon_is_found_where_it_was_known_and_not_otherwise() {
        let daemon = entry(110, 1, 109, 109, 1010);
        let mut table = others();
        table.extend([
            entry(LEADER, OWN, LEADER, LEADER, 1000),
            daemon,
            entry(111, 110, 109, 109, 1011),
        ]);
        assert_eq!(pids(&table, root(), &[]), [100]);
        assert_eq!(pids(&table, root(), &[daemon.identity()]), [100, 110, 111]);
        // By its mark alone.
        let marked = condemned(&table, root(), &HashSet::new(), OWN, |entry| {
            entry.pid == 110
        });
        assert_eq!(marked.len(), 3);
    }

    #[test]
    fn who_only_has_a_number_that_was_one_of_ours_is_left_alone() {
        let known = Identity {
            pid: 110,
            born: 1010,
        };
        let mut table = others();
        // The number was given again, to a younger one that nothing else ties to us.
        table.push(entry(110, 1, 110, 110, 9000));
        assert_eq!(pids(&table, root(), &[known]), [0; 0]);
        // The leader's own number, after it was reaped: process, group and session of another.
        let gone = Root {
            is_ours: false,
            ..root()
        };
        table.extend([
            entry(LEADER, 1, LEADER, LEADER, 8000),
            entry(120, LEADER, LEADER, LEADER, 8001),
        ]);
        assert_eq!(pids(&table, gone, &[]), [0; 0]);
        // A child that is older than what has its parent's number now.
        let mut table = others();
        table.extend([
            entry(LEADER, OWN, LEADER, LEADER, 5000),
            entry(130, LEADER, 130, 130, 1500),
        ]);
        let young = Root {
            identity: Identity {
                pid: LEADER,
                born: 5000,
            },
            is_ours: true,
        };
        assert_eq!(pids(&table, young, &[]), [100]);
    }

    #[test]
    fn nobody_ends_itself_or_its_parents_whatever_the_table_says() {
        // A table that claims that we descend from the command, are in its group, and that the parents run in circles.
        let table = [
            entry(1, LEADER, LEADER, LEADER, 1000),
            entry(0, LEADER, LEADER, LEADER, 1000),
            entry(OWN, LEADER, LEADER, LEADER, 3000),
            entry(LEADER, 103, LEADER, LEADER, 1000),
            entry(103, LEADER, LEADER, LEADER, 1000),
            // Ours, and not the command's.
            entry(55, OWN, 55, 55, 3001),
        ];
        assert_eq!(pids(&table, root(), &[]), [100, 103]);
    }

    #[test]
    fn who_waits_to_be_reaped_leads_to_its_children_and_is_not_ended_again() {
        let mut leader = entry(LEADER, OWN, LEADER, LEADER, 1000);
        leader.dead = true;
        let mut table = others();
        table.extend([leader, entry(101, LEADER, 101, 101, 1001)]);
        assert_eq!(pids(&table, root(), &[]), [101]);
        let known = [leader.identity()];
        assert_eq!(pids(&table, root(), &known), [101]);
    }

    proptest! {
        #[test]
        fn whatever_the_table_ours_and_the_older_are_safe(
            rows in prop::collection::vec((0..40_i32, 0..40_i32, 0..40_i32, 0..40_i32, 0..2000_u64, any::<bool>()), 0..60),
            own in 0..40_i32,
            is_ours in any::<bool>(),
        ) {
            let table: Vec<ProcessEntry> = rows
                .into_iter()
                .map(|(pid, parent, group, session, born, dead)| ProcessEntry { pid, parent, group, session, born, dead })
                .collect();
            let root = Root { identity: Identity { pid: 20, born: 1000 }, is_ours };
            for entry in condemned(&table, root, &HashSet::new(), own, |_| false) {
                prop_assert!(entry.pid > 1 && entry.pid != own && entry.born >= 1000 && !entry.dead);
                prop_assert!(table.contains(&entry));
            }
        }
    }
}
