//! The session's control groups: limits on the whole tree that the kernel keeps.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;

use crate::plan::{LimitMechanism, Plan};

/// Groups of a session: one where the controllers share a hierarchy, else one for each.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    directories: Vec<PathBuf>,
    memory: Option<PathBuf>,
    limits: Vec<(PathBuf, u64)>,
}

impl Groups {
    /// The groups that a plan needs, under a name that nobody else uses. Nothing is made yet.
    pub(super) fn of(plan: &Plan, name: &str) -> Self {
        let mut groups = Self::default();
        let memory = plan
            .limits
            .memory
            .filter(|(_, by)| *by == LimitMechanism::Cgroup);
        let pids = plan
            .limits
            .pids
            .filter(|(_, by)| *by == LimitMechanism::Cgroup);
        if let (Some((bytes, _)), Some(parent)) = (memory, &plan.cgroups.memory) {
            let file = if is_unified(parent.as_path()) {
                "memory.max"
            } else {
                "memory.limit_in_bytes"
            };
            let directory = groups.join(parent.as_path(), name);
            groups.limits.push((directory.join(file), bytes));
            groups.memory = Some(directory);
        }
        if let (Some((count, _)), Some(parent)) = (pids, &plan.cgroups.pids) {
            let directory = groups.join(parent.as_path(), name);
            // The helper and init are members too.
            groups.limits.push((
                directory.join("pids.max"),
                u64::from(count).saturating_add(2),
            ));
        }
        groups
    }

    fn join(&mut self, parent: &Path, name: &str) -> PathBuf {
        let directory = parent.join(name);
        if !self.directories.contains(&directory) {
            self.directories.push(directory.clone());
        }
        directory
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.directories.is_empty()
    }

    /// Makes the groups and sets their limits.
    pub(super) fn make(&self) -> Result<(), Errno> {
        for directory in &self.directories {
            fs::create_dir(directory).map_err(|error| errno(&error))?;
        }
        self.limits
            .iter()
            .try_for_each(|(file, limit)| write(file, &limit.to_string()))
    }

    /// Moves the calling process into the groups; what it forks is born there.
    pub(super) fn enter(&self) -> Result<(), Errno> {
        self.directories
            .iter()
            .try_for_each(|directory| write(&directory.join("cgroup.procs"), "0"))
    }

    /// Removes the groups, which are empty or about to be: their last members are on their way out.
    pub(super) fn remove(&self) {
        for directory in &self.directories {
            for _ in 0..1000 {
                match fs::remove_dir(directory) {
                    Err(error) if errno(&error) == Errno::BUSY => {
                        std::thread::sleep(Duration::from_millis(1))
                    }
                    _ => break,
                }
            }
        }
    }

    /// Whether the kernel has killed something of the session for want of memory.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        let Some(directory) = &self.memory else {
            return false;
        };
        ["memory.events", "memory.oom_control"]
            .iter()
            .filter_map(|file| fs::read_to_string(directory.join(file)).ok())
            .any(|text| {
                text.lines().any(|line| {
                    line.strip_prefix("oom_kill ")
                        .is_some_and(|count| count.trim() != "0")
                })
            })
    }
}

/// Whether a directory is of the unified hierarchy (version 2).
fn is_unified(directory: &Path) -> bool {
    directory.join("cgroup.controllers").exists()
}

fn write(file: &Path, text: &str) -> Result<(), Errno> {
    fs::OpenOptions::new()
        .write(true)
        .open(file)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| errno(&error))
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
