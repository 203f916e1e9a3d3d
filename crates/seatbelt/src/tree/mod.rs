//! Ending what a command started, where no kernel keeps it together: its process group, and whoever a look at the table
//! of processes ties to it.
//!
//! This finds and does not confine: a process that leaves group and session, sheds the mark in its environment, and
//! whose parents are gone before anybody looked, is not found. So it is reported as detected only.

#[cfg(target_os = "macos")]
mod macos;
mod select;

#[cfg(target_os = "macos")]
pub use macos::Ending;
pub use select::{Identity, ProcessEntry, Root, condemned};

/// How a tree is ended, for a report.
pub const MECHANISM: &str = "process group, process session, descent and a mark in the environment";

/// Why that is not more than detection, for a report.
pub const WHY_DETECTED: &str = "macOS ties no process to the command that started it: one that leaves its group and session, \
     sheds its mark and outlives its parents is not found";
