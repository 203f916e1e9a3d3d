//! What attempts leave behind, in places that a stage shares with others.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::attempts::files::shared_name;
use crate::attempts::kernel::queue_name;
use crate::sys::{ipc, process};

/// Finds and removes what was planted in shared places.
pub(super) fn planted(token: &str) -> Vec<String> {
    let name = shared_name(token);
    let mut found: Vec<String> = ["/tmp", "/var/tmp", "/dev/shm"]
        .iter()
        .map(|directory| Path::new(directory).join(&name))
        .filter(|path| fs::remove_file(path).is_ok())
        .map(|path| format!("{} was planted", path.display()))
        .collect();
    if ipc::remove_queue(&queue_name(token)) {
        found.push("a message queue was made".to_owned());
    }
    found
}

/// How long a process may still be dying.
const GRACE: Duration = Duration::from_millis(800);

/// How often nobody must be found: what goes on as new processes all the time can be missed once.
const LOOKS: usize = 3;

/// Finds and ends processes of the run that are still there.
pub(super) fn running(token: &str) -> Vec<String> {
    let start = Instant::now();
    let mut empty = 0;
    let left = loop {
        let found = with_token(token);
        if found.is_empty() {
            empty += 1;
            if empty == LOOKS {
                return Vec::new();
            }
        } else if start.elapsed() < GRACE {
            empty = 0;
            thread::sleep(Duration::from_millis(10));
        } else {
            break found;
        }
    };
    left.iter()
        .map(|pid| {
            // The token makes it one of ours.
            let _ = process::kill(*pid, libc::SIGKILL);
            format!("process {pid} was left running")
        })
        .collect()
}

/// The processes with this in their command line. The newest are looked at first: what goes on as new processes all the
/// time has ended by the time that a list is gone through from its start.
fn with_token(token: &str) -> Vec<i32> {
    let needle = format!("token={token}");
    let mut all: Vec<i32> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    all.sort_unstable_by(|one, other| other.cmp(one));
    all.retain(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .any(|argument| argument == needle.as_bytes())
    });
    all
}

/// Whether the probe itself runs: who starts it in a sandbox has its command line behind its own.
pub(super) fn has_started(token: &str) -> bool {
    with_token(token).into_iter().any(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let program = line.split(|byte| *byte == 0).next().unwrap_or_default();
        program.ends_with(b"/palisade-probe")
    })
}

/// Removes a tree, whatever became of its modes.
pub(super) fn remove(path: &Path) {
    if fs::remove_dir_all(path).is_ok() {
        return;
    }
    open_up(path, 0);
    let _ = fs::remove_dir_all(path);
}

/// Makes every directory enterable again.
fn open_up(path: &Path, depth: usize) {
    use std::os::unix::fs::PermissionsExt as _;

    let Ok(about) = fs::symlink_metadata(path) else {
        return;
    };
    if !about.is_dir() || depth > 64 || path.as_os_str().as_bytes().is_empty() {
        return;
    }
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        open_up(&entry.path(), depth + 1);
    }
}
