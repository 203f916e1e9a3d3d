//! What a process holds, counted before and after.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long what is being taken down may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Everything that a run could leave behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Open descriptors, by what they are; pipes and sockets without their numbers.
    descriptors: BTreeMap<String, usize>,
    threads: usize,
    /// Processes that descend from this one, zombies included.
    descendants: BTreeSet<String>,
    mounts: BTreeSet<String>,
    temporary: BTreeSet<String>,
}

impl Counts {
    /// Counts now. `stage` is the directory of this test.
    pub(crate) fn now(stage: &Path) -> Self {
        Self {
            descriptors: descriptors(),
            threads: fs::read_dir("/proc/self/task").unwrap().count(),
            descendants: descendants_of(std::process::id())
                .into_iter()
                .map(|(pid, about)| format!("{pid} {about}"))
                .collect(),
            mounts: mounts(stage),
            temporary: temporary(),
        }
    }

    /// Waits until there is nothing that was not there before. Threads of a runtime and unmounts take a moment.
    #[track_caller]
    pub(crate) fn hold_again(&self, stage: &Path) {
        let until = Instant::now() + PATIENCE;
        loop {
            let now = Self::now(stage);
            if now.no_more_than(self) {
                return;
            }
            assert!(
                Instant::now() < until,
                "left behind\nbefore: {self:#?}\nafter: {now:#?}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn no_more_than(&self, before: &Self) -> bool {
        self.descriptors
            .iter()
            .all(|(what, many)| before.descriptors.get(what).copied().unwrap_or(0) >= *many)
            && self.threads <= before.threads
            && self.descendants.is_subset(&before.descendants)
            && self.mounts.is_subset(&before.mounts)
            && self.temporary.is_subset(&before.temporary)
    }
}

fn descriptors() -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir("/proc/self/fd").unwrap().flatten() {
        let Ok(target) = fs::read_link(entry.path()) else {
            continue;
        };
        let target = target.display().to_string();
        // The directory that is being read.
        if target.ends_with("/fd") {
            continue;
        }
        let what = match target.split_once(":[") {
            Some((kind, _)) => kind.to_owned(),
            None => target,
        };
        *found.entry(what).or_insert(0) += 1;
    }
    found
}

/// Every process that descends from this one, with its name and state.
pub(crate) fn descendants_of(ancestor: u32) -> Vec<(u32, String)> {
    let processes: BTreeMap<u32, (u32, String)> = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            let (name, rest) = stat.rsplit_once(')')?;
            let mut rest = rest.split_whitespace();
            // Whether one sleeps or runs changes all the time; whether it is a zombie matters.
            let state = match rest.next()? {
                "Z" => "Z",
                _ => "alive",
            };
            let parent: u32 = rest.next()?.parse().ok()?;
            Some((pid, (parent, format!("{name}) {state}"))))
        })
        .collect();
    processes
        .iter()
        .filter(|(pid, _)| {
            let mut at = **pid;
            while let Some((parent, _)) = processes.get(&at) {
                if *parent == ancestor {
                    return true;
                }
                at = *parent;
            }
            false
        })
        .map(|(pid, (_, about))| (*pid, about.clone()))
        .collect()
}

/// Mounts that this process sees and that are ours: others mount things on this machine, too.
fn mounts(stage: &Path) -> BTreeSet<String> {
    let stage = stage.display().to_string();
    fs::read_to_string("/proc/self/mountinfo")
        .unwrap()
        .lines()
        .filter(|line| line.contains(&stage))
        .map(str::to_owned)
        .collect()
}

/// What has a name that the sandbox gives to temporary directories.
fn temporary() -> BTreeSet<String> {
    ["/tmp", "/var/tmp", "/dev/shm"]
        .iter()
        .flat_map(|directory| fs::read_dir(directory).unwrap().flatten())
        .filter(|entry| {
            entry
                .file_name()
                .to_str()
                .and_then(|name| name.strip_prefix("palisade-"))
                .is_some_and(|rest| rest.chars().all(|digit| digit.is_ascii_hexdigit()))
        })
        .map(|entry| entry.path().display().to_string())
        .collect()
}

/// What the kernel says about this process's memory, in KiB.
pub(crate) fn status_kib(name: &str) -> u64 {
    fs::read_to_string("/proc/self/status")
        .unwrap()
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .and_then(|value| value.split_whitespace().next()?.parse().ok())
        .unwrap()
}
