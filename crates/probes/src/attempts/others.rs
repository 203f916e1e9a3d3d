//! What can be done to the other processes of the user, to the one that watches, and about its own end.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::thread;
use std::time::Duration;

use super::Tries;
use super::processes::{AFTERLIFE, leave_behind};
use super::rarer::worked;
use crate::report::Report;
use crate::site::Site;
use crate::sys::{ipc, privilege, process};

pub(crate) fn schedule(site: &Site) -> Report {
    Tries::default()
        .escape("processor", worked(privilege::make_idle(site.victim)))
        .escape("disks", worked(privilege::make_idle_for_disks(site.victim)))
        .report()
}

pub(crate) fn peek(site: &Site) -> Report {
    privilege::peek(site.victim)
        .into_iter()
        .fold(Tries::default(), |tries, (name, seen)| {
            tries.escape(name, seen)
        })
        .report()
}

pub(crate) fn settings(site: &Site) -> Report {
    let write = OpenOptions::new()
        .write(true)
        .open(format!("/proc/{}/coredump_filter", site.victim))
        .and_then(|mut file| file.write_all(b"0x7f"));
    Tries::default()
        .escape("what a dump of it holds", worked(write))
        .report()
}

pub(crate) fn messages(site: &Site) -> Report {
    let queue = crate::stage::shared::own_queue_name(&site.token);
    Tries::default()
        .escape("System V", worked(ipc::send_message(site.messages)))
        .escape(
            "POSIX",
            worked(ipc::send_to_queue(&queue, site.token.as_bytes())),
        )
        .report()
}

pub(crate) fn first_descriptor(_: &Site) -> Report {
    // Taken and closed again.
    let taken =
        privilege::open_first().and_then(|first| process::take_descriptor(&first, 0).map(drop));
    Tries::default()
        .escape("descriptor of the first process", worked(taken))
        .report()
}

/// In the command line of what watches over a sandbox.
const WATCHER: &str = "linux-sandbox";

/// Whoever watches over this process, if it is in a sandbox: its parent, or the first process that it sees. Others are
/// left alone, and without a sandbox neither of the two is one.
fn watchers() -> Vec<i32> {
    let parent = i32::try_from(std::os::unix::process::parent_id()).unwrap_or_default();
    let mut all = vec![1, parent];
    all.dedup();
    all.retain(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .take(2)
            .any(|argument| String::from_utf8_lossy(argument).ends_with(WATCHER))
    });
    all
}

pub(crate) fn watcher(site: &Site) -> Report {
    let mut counts = (0, 0);
    for pid in watchers() {
        // Its own first process may not be ended by the one who watches, but is tried all the same.
        for signal in [
            libc::SIGSTOP,
            libc::SIGTERM,
            libc::SIGHUP,
            libc::SIGSEGV,
            libc::SIGKILL,
        ] {
            counts.0 += 1;
            counts.1 += i32::from(process::signal_watcher(pid, signal).is_ok());
        }
    }
    let (tried, sent) = counts;
    let _ = leave_behind(|| {
        let _ = process::new_session();
    });
    let write = fs::write(site.outside.join("file"), "written without a watcher");
    Tries::default()
        .escape("file", worked(write))
        .act(
            "left a process behind after signals to the watcher:",
            Ok(format!("{sent} of {tried} sent")),
        )
        .report()
}

pub(crate) fn own_reaper(_: &Site) -> Report {
    leave_behind(|| {
        let _ = privilege::adopt_orphans();
        let _ = process::new_session();
    })
}

pub(crate) fn sibling(_: &Site) -> Report {
    let started = privilege::fork_sibling(|| {
        let _ = process::new_session();
        thread::sleep(AFTERLIFE);
        0
    });
    Tries::default()
        .act("left a sibling behind", started.map(|()| ""))
        .report()
}

pub(crate) fn other_user(_: &Site) -> Report {
    const NOBODY_ELSE: u32 = 65_533;
    let child = process::fork(|| {
        privilege::become_user(NOBODY_ELSE).map_or_else(
            |error| {
                error
                    .raw_os_error()
                    .and_then(|number| u8::try_from(number).ok())
                    .unwrap_or(u8::MAX)
            },
            |()| 0,
        )
    });
    Tries::default()
        .escape(
            "another user",
            super::chains::result_of(child.and_then(|pid| process::wait(pid, false)))
                .map(|_| "was taken"),
        )
        .report()
}

/// The capabilities in a text from `/proc/PID/status`: an error if there are none.
fn capabilities(status: &str) -> io::Result<String> {
    let held = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .map(str::trim)
        .unwrap_or_default();
    if held.bytes().any(|digit| digit != b'0') {
        Ok(held.to_owned())
    } else {
        Err(io::Error::from_raw_os_error(libc::EPERM))
    }
}

pub(crate) fn regain(_: &Site) -> Report {
    // For root, the kernel gives capabilities back at each exec unless it was told not to.
    let after = std::process::Command::new("cat")
        .arg("/proc/self/status")
        .output()
        .and_then(|output| capabilities(&String::from_utf8_lossy(&output.stdout)));
    let before = fs::read_to_string("/proc/self/status").and_then(|status| capabilities(&status));
    Tries::default()
        .escape("capabilities", before)
        .escape("capabilities after another exec", after)
        .report()
}

pub(crate) fn raise(_: &Site) -> Report {
    Tries::default()
        .escape("priority", worked(privilege::raise_priority()))
        .report()
}

pub(crate) fn raise_limits(_: &Site) -> Report {
    Tries::default()
        .escape("limit of descriptors", worked(privilege::raise_limit()))
        .escape(
            "shield from the end of memory",
            worked(fs::write("/proc/self/oom_score_adj", "-500")),
        )
        .report()
}

pub(crate) fn stopped_child(_: &Site) -> Report {
    // A stopped process does not end by a request to: only by force.
    let started = process::fork(|| {
        let _ = process::new_session();
        let left = process::fork(|| {
            let own = i32::try_from(std::process::id()).unwrap_or_default();
            let _ = process::kill(own, libc::SIGSTOP);
            thread::sleep(AFTERLIFE);
            0
        });
        u8::from(left.is_err())
    });
    let waited = started.and_then(|pid| process::wait(pid, false));
    Tries::default()
        .act("left a stopped process behind", waited.map(|_| ""))
        .report()
}

pub(crate) fn signal_by_pipe(site: &Site) -> Report {
    // The kernel takes the request from everybody, and decides when it sends: only evidence counts.
    let asked = privilege::signal_by_pipe(site.victim, libc::SIGTERM);
    thread::sleep(Duration::from_millis(10));
    Tries::default()
        .act("a signal with the next byte", worked(asked))
        .report()
}
