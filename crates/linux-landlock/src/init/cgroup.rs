//! The session's control groups: limits on the whole tree that the kernel keeps.

use std::fs;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::plan::{LimitMechanism, Plan};
use crate::sys::reap::kill_process;

/// Groups of a session: one where the controllers share a hierarchy, else one for each.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    directories: Vec<PathBuf>,
    memory: Option<PathBuf>,
    limits: Vec<Setting>,
}

/// A file of a group and what is written there.
#[derive(Clone, Debug)]
struct Setting {
    file: PathBuf,
    value: u64,
    /// Whether a kernel may do without: not every one accounts for swapped memory.
    optional: bool,
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
            // Without the second of each pair, what is over the limit would be swapped out, without end.
            let files = if is_unified(parent.as_path()) {
                [("memory.max", bytes), ("memory.swap.max", 0)]
            } else {
                [
                    ("memory.limit_in_bytes", bytes),
                    ("memory.memsw.limit_in_bytes", bytes),
                ]
            };
            let directory = groups.join(parent.as_path(), name);
            for ((file, value), optional) in files.into_iter().zip([false, true]) {
                let file = directory.join(file);
                groups.limits.push(Setting {
                    file,
                    value,
                    optional,
                });
            }
            groups.memory = Some(directory);
        }
        if let (Some((count, _)), Some(parent)) = (pids, &plan.cgroups.pids) {
            let directory = groups.join(parent.as_path(), name);
            // Init is a member too.
            groups.limits.push(Setting {
                file: directory.join("pids.max"),
                value: u64::from(count).saturating_add(1),
                optional: false,
            });
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
        for setting in &self.limits {
            match write(&setting.file, &setting.value.to_string()) {
                Err(_) if setting.optional => {}
                written => written?,
            }
        }
        Ok(())
    }

    /// Opens the doors of the groups for a child: only what may not outlive the session goes through them.
    pub(super) fn doors(&self) -> Result<Doors, Errno> {
        let open = |directory: &PathBuf| {
            let flags = OFlags::WRONLY | OFlags::CLOEXEC;
            rustix::fs::open(directory.join("cgroup.procs"), flags, Mode::empty())
        };
        self.directories
            .iter()
            .map(open)
            .collect::<Result<_, _>>()
            .map(Doors)
    }

    /// Removes the groups, which are empty or about to be: their last members are on their way out, or have lost
    /// everybody who would have ended them.
    pub(super) fn remove(&self) {
        for directory in &self.directories {
            for _ in 0..1000 {
                match fs::remove_dir(directory) {
                    Err(error) if errno(&error) == Errno::BUSY => {
                        kill_members(directory);
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    _ => break,
                }
            }
        }
    }

    /// How many processes of the session the kernel has killed for want of memory.
    pub(super) fn killed_for_memory(&self) -> u64 {
        let Some(directory) = &self.memory else {
            return 0;
        };
        ["memory.events", "memory.oom_control"]
            .iter()
            .filter_map(|file| fs::read_to_string(directory.join(file)).ok())
            .filter_map(|text| {
                let count = |line: &str| line.strip_prefix("oom_kill ")?.trim().parse().ok();
                text.lines().find_map(count)
            })
            .next()
            .unwrap_or(0)
    }
}

/// Where a process enters the groups, opened by one that may; none where there are no groups.
#[derive(Default)]
pub(super) struct Doors(pub(super) Vec<OwnedFd>);

impl Doors {
    /// Moves the calling process into the groups; what it forks is born there.
    pub(super) fn enter(self) -> Result<(), Errno> {
        self.0
            .iter()
            .try_for_each(|door| rustix::io::write(door, b"0").map(drop))
    }
}

/// Kills who is in a group that nobody but the session's processes was ever in.
fn kill_members(directory: &Path) {
    // The kernel does it at once where it can.
    if write(&directory.join("cgroup.kill"), "1").is_ok() {
        return;
    }
    let members = fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
    members
        .lines()
        .filter_map(|pid| pid.parse().ok())
        .for_each(kill_process);
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
