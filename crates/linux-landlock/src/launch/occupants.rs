//! Whether anything runs in a session, as the kernel tells whoever started it.

use std::fs;
use std::path::Path;

/// Whether init of the session that this process set up has any child. Everything of a command that outlives it becomes one.
/// Nothing if that cannot be told.
pub(super) fn any(helper: u32) -> Option<bool> {
    let init = children(helper)?.into_iter().find(|pid| is_init(*pid))?;
    Some(!children(init)?.is_empty())
}

/// The children of all threads of a process.
fn children(pid: u32) -> Option<Vec<u32>> {
    let mut found = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let children = fs::read_to_string(task.ok()?.path().join("children")).ok()?;
        found.extend(
            children
                .split_ascii_whitespace()
                .filter_map(|pid| pid.parse::<u32>().ok()),
        );
    }
    Some(found)
}

/// Whether a process is the first of a process namespace of its own.
fn is_init(pid: u32) -> bool {
    let status = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("status"));
    status.is_ok_and(|status| {
        let pids = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        let mut pids = pids.unwrap_or_default().split_ascii_whitespace();
        pids.next().is_some() && pids.last() == Some("1")
    })
}
