//! More of the kernel's surface: what is seldom called, and the same calls by other numbers.

use std::fs;
use std::io;

use super::Tries;
use super::chains::result_of;
use super::rarer::worked;
use crate::report::Report;
use crate::site::Site;
use crate::sys::harmless::{self, Harmless};
use crate::sys::{privilege, process};

fn reach(calls: &[Harmless]) -> Report {
    Tries::default().reach_all(calls).report()
}

pub(crate) fn peers(_: &Site) -> Report {
    reach(harmless::PEERS)
}

pub(crate) fn places(_: &Site) -> Report {
    reach(harmless::PLACES)
}

pub(crate) fn newer(_: &Site) -> Report {
    reach(harmless::NEWER)
}

pub(crate) fn other_interface(_: &Site) -> Report {
    #[cfg(target_arch = "x86_64")]
    {
        reach(harmless::X32)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        super::unavailable("x86-64 only")
    }
}

pub(crate) fn settings_of_own(_: &Site) -> Report {
    reach(harmless::PRCTL)
}

pub(crate) fn own_memory(_: &Site) -> Report {
    reach(harmless::SET_MM)
}

pub(crate) fn wide(_: &Site) -> Report {
    reach(harmless::WIDE)
}

pub(crate) fn watch_everything(_: &Site) -> Report {
    reach(harmless::FANOTIFY)
}

/// Tries in a child, so that what it changes goes with it.
fn in_child(attempt: impl FnOnce() -> io::Result<()>) -> io::Result<&'static str> {
    let child = process::fork(|| match attempt() {
        Ok(()) => 0,
        Err(error) => error
            .raw_os_error()
            .and_then(|number| u8::try_from(number).ok())
            .unwrap_or(u8::MAX),
    });
    result_of(child.and_then(|pid| process::wait(pid, false))).map(|_| "worked")
}

pub(crate) fn namespaces(_: &Site) -> Report {
    privilege::NAMESPACES
        .iter()
        .fold(Tries::default(), |tries, (name, flag)| {
            tries.escape(name, in_child(|| process::unshare(*flag)))
        })
        .report()
}

pub(crate) fn executable_data(_: &Site) -> Report {
    Tries::default()
        .escape("personality", worked(privilege::read_implies_execute()))
        .report()
}

pub(crate) fn hang_up(_: &Site) -> Report {
    let done = in_child(|| {
        // Without a terminal there is nothing to hang up.
        process::new_session()?;
        privilege::hang_up()
    });
    Tries::default().escape("vhangup", done).report()
}

pub(crate) fn listener(_: &Site) -> Report {
    let escape = privilege::listen_to_calls()
        .and_then(|_listener| process::unshare(process::NEW_USER))
        .map(|()| "worked");
    Tries::default()
        .escape("user namespace under a listener of its own", escape)
        .report()
}

/// Opens for writing and closes: nothing is written, and opening has no effect.
fn open(path: &str) -> io::Result<&'static str> {
    fs::OpenOptions::new()
        .write(true)
        .open(path)
        .map(|_| "was opened for writing")
}

pub(crate) fn settings(_: &Site) -> Report {
    [
        "/proc/sys/kernel/randomize_va_space",
        "/proc/sys/kernel/modprobe",
        "/proc/sys/kernel/domainname",
        "/proc/sys/vm/overcommit_memory",
        "/proc/sys/fs/suid_dumpable",
        "/proc/sys/net/ipv4/ip_forward",
        "/proc/irq/default_smp_affinity",
        "/proc/sys/fs/binfmt_misc/register",
        "/sys/kernel/uevent_helper",
        "/sys/power/state",
        "/sys/kernel/tracing/trace_marker",
    ]
    .iter()
    .fold(Tries::default(), |tries, path| {
        match fs::symlink_metadata(path) {
            Ok(_) => tries.escape(path, open(path)),
            Err(_) => tries.missing(path),
        }
    })
    .report()
}

pub(crate) fn groups(_: &Site) -> Report {
    // The own group of this process, and the one above all.
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = own
        .lines()
        .find_map(|line| line.strip_prefix("0::"))
        .unwrap_or("/");
    let base = format!("/sys/fs/cgroup{}", own.trim_end_matches('/'));
    let mut tries = Tries::default();
    for directory in [base.as_str(), "/sys/fs/cgroup"] {
        for name in [
            "cgroup.procs",
            "cgroup.subtree_control",
            "cgroup.kill",
            "cgroup.freeze",
            "pids.max",
            "release_agent",
        ] {
            let path = format!("{directory}/{name}");
            tries = match fs::symlink_metadata(&path) {
                Ok(_) => tries.escape(&path, open(&path)),
                Err(_) => tries.missing(&path),
            };
        }
    }
    tries.report()
}

pub(crate) fn i386_open(site: &Site) -> Report {
    #[cfg(target_arch = "x86_64")]
    {
        let file = site.outside.join("file");
        super::kernel::in_child("32-bit open", || crate::sys::i386::empty(&file))
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = site;
        super::unavailable("32-bit calls are tried on x86-64 only")
    }
}
