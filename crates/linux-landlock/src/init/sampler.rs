//! Limits on the whole session where the kernel has no better: init measures now and then.

use std::fs;

use rustix::fs::statvfs;

use crate::plan::{LimitMechanism, Plan, Tier};
use crate::sys::reap::kill_everybody_else;

/// Which limit the session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    Memory,
    Processes,
}

impl Over {
    pub(super) const fn code(self) -> u32 {
        match self {
            Self::Memory => 1,
            Self::Processes => 2,
        }
    }
}

/// What is measured, and where.
pub(super) struct Sampler {
    memory: Option<u64>,
    pids: Option<u64>,
    tier: Tier,
    /// Private directories whose content is memory.
    memory_places: Vec<&'static str>,
}

impl Sampler {
    pub(super) fn new(plan: &Plan) -> Self {
        let sampled =
            |limit: u64, mechanism| (mechanism == LimitMechanism::Sampled).then_some(limit);
        Self {
            memory: plan
                .limits
                .memory
                .and_then(|(limit, by)| sampled(limit, by)),
            pids: plan
                .limits
                .pids
                .and_then(|(limit, by)| sampled(u64::from(limit), by)),
            tier: plan.tier,
            memory_places: match plan.tier {
                Tier::Full => vec!["/tmp", "/dev/shm"],
                Tier::Landlock => Vec::new(),
            },
        }
    }

    /// Which limit the session is over, if any.
    pub(super) fn over(&self) -> Option<Over> {
        let processes = self.processes();
        if let Some(limit) = self.pids
            && u64::try_from(processes.len()).unwrap_or(u64::MAX) > limit
        {
            return Some(Over::Processes);
        }
        let limit = self.memory?;
        let used: u64 = processes.iter().map(|pid| memory_of(*pid)).sum();
        (used.saturating_add(self.memory_files()) > limit).then_some(Over::Memory)
    }

    /// The processes of the session: all that can be seen, init excepted, or in the landlock tier our descendants.
    fn processes(&self) -> Vec<i32> {
        match self.tier {
            Tier::Full => all_processes().filter(|pid| *pid != 1).collect(),
            Tier::Landlock => super::subreaper::descendants(None)
                .into_iter()
                .map(|process| process.pid)
                .collect(),
        }
    }

    fn memory_files(&self) -> u64 {
        let used = |path: &&str| {
            statvfs(*path).map_or(0, |stat| {
                stat.f_blocks
                    .saturating_sub(stat.f_bfree)
                    .saturating_mul(stat.f_frsize)
            })
        };
        self.memory_places.iter().map(used).sum()
    }

    /// Ends every process of the session but init.
    pub(super) fn end_everything(&self) {
        match self.tier {
            Tier::Full => kill_everybody_else(),
            Tier::Landlock => drop(super::subreaper::kill_descendants(None)),
        }
    }
}

/// The memory of a process that is not a copy of some file: its own, and what it shares with others of its kind, which
/// counts for each of them. Memory in a file that has no name and that nobody has mapped is not seen.
fn memory_of(pid: i32) -> u64 {
    fs::read_to_string(format!("/proc/{pid}/status")).map_or(0, |status| memory_in(&status))
}

fn memory_in(status: &str) -> u64 {
    let kib = |line: &str| {
        let rest = ["RssAnon:", "RssShmem:"]
            .iter()
            .find_map(|name| line.strip_prefix(name))?;
        rest.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    status
        .lines()
        .filter_map(kib)
        .sum::<u64>()
        .saturating_mul(1024)
}

/// Every process that `/proc` shows.
pub(super) fn all_processes() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::memory_in;

    #[test]
    fn shared_memory_counts_and_files_do_not() {
        let status = "Name:\tRssAnon:\nVmRSS:\t999 kB\nRssAnon:\t   100 kB\nRssFile:\t 50 kB\nRssShmem:\t  24 kB\n";
        assert_eq!(memory_in(status), 124 * 1024);
        assert_eq!(memory_in("Name:\tkernel thread\n"), 0);
    }
}
