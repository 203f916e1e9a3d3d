//! Limits on the whole session where the kernel has no better: init measures now and then.

use std::fs;

use rustix::fs::statvfs;

use crate::plan::{LimitMechanism, Plan, Tier};
use crate::sys::reap::{kill_everybody_else, kill_process};

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
    page: u64,
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
            page: u64::try_from(rustix::param::page_size()).unwrap_or(4096),
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
        let used: u64 = processes.iter().map(|pid| self.private_memory(*pid)).sum();
        (used.saturating_add(self.memory_files()) > limit).then_some(Over::Memory)
    }

    /// The processes of the session: all that can be seen, init excepted, or in the landlock tier our descendants.
    fn processes(&self) -> Vec<i32> {
        match self.tier {
            Tier::Full => all_processes().filter(|pid| *pid != 1).collect(),
            Tier::Landlock => super::subreaper::descendants(),
        }
    }

    /// Memory that a process shares with nobody's files: what would be freed with it, more or less.
    fn private_memory(&self, pid: i32) -> u64 {
        let Ok(text) = fs::read_to_string(format!("/proc/{pid}/statm")) else {
            return 0;
        };
        let mut fields = text
            .split_ascii_whitespace()
            .skip(1)
            .map(|field| field.parse::<u64>().unwrap_or(0));
        let (resident, shared) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
        resident.saturating_sub(shared).saturating_mul(self.page)
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
            Tier::Landlock => super::subreaper::descendants()
                .into_iter()
                .for_each(kill_process),
        }
    }
}

/// Every process that `/proc` shows.
pub(super) fn all_processes() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}
