//! Reaping with resource usage, and signals to groups.

use std::mem;

/// A child that ended.
pub(crate) struct Reaped {
    pub(crate) pid: i32,
    /// As from `waitpid`.
    pub(crate) status: i32,
    pub(crate) usage: Usage,
}

/// What a child and its own reaped children used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) user_micros: u64,
    pub(crate) system_micros: u64,
    pub(crate) max_rss_kib: u64,
}

/// Reaps one child that has ended, but none that was [forked aside](super::process::fork_aside); `None` if there is none.
pub(crate) fn reap_one() -> Option<Reaped> {
    reap(-1, libc::WNOHANG)
}

/// Waits for one child.
pub(crate) fn reap_this(pid: i32) -> Option<Reaped> {
    reap(pid, libc::__WALL)
}

fn reap(which: i32, options: libc::c_int) -> Option<Reaped> {
    let mut status = 0;
    // SAFETY: an all-zero record is valid storage.
    let mut usage: libc::rusage = unsafe { mem::zeroed() };
    loop {
        // SAFETY: both are ours.
        let pid = unsafe { libc::wait4(which, &raw mut status, options, &raw mut usage) };
        if pid == -1 && super::last_error() == rustix::io::Errno::INTR {
            continue;
        }
        return (pid > 0).then(|| Reaped {
            pid,
            status,
            usage: Usage::from(&usage),
        });
    }
}

impl From<&libc::rusage> for Usage {
    fn from(usage: &libc::rusage) -> Self {
        let micros = |time: libc::timeval| {
            let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
            let rest = u64::try_from(time.tv_usec).unwrap_or(0);
            seconds.saturating_mul(1_000_000).saturating_add(rest)
        };
        Self {
            user_micros: micros(usage.ru_utime),
            system_micros: micros(usage.ru_stime),
            max_rss_kib: u64::try_from(usage.ru_maxrss).unwrap_or(0),
        }
    }
}

/// Whether this process has children, living or not yet reaped, besides those that were [forked
/// aside](super::process::fork_aside). The kernel answers for one moment: whoever has no child and adopts orphans has no
/// descendant; orphans are never aside.
pub(crate) fn has_children() -> bool {
    // SAFETY: an all-zero record is valid storage.
    let mut info: libc::siginfo_t = unsafe { mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the record is ours.
    let found = unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, options) };
    found == 0 || super::last_error() != rustix::io::Errno::CHILD
}

/// Sends a signal to the process group of a command, which is a child that has not been reaped: its id cannot mean
/// another process. Before the command leads its group, the signal is for the process that will.
pub(crate) fn signal_command(leader: i32, signal: i32) {
    if leader > 1 {
        // SAFETY: no memory is passed.
        let sent = unsafe { libc::kill(-leader, signal) };
        if sent == -1 && super::last_error() == rustix::io::Errno::SRCH {
            // SAFETY: no memory is passed. A process that is gone is refused, which is fine.
            unsafe { libc::kill(leader, signal) };
        }
    }
}

/// Kills a process group at once: none of its members can fork its way out, as the kernel does not let a fork pass
/// while a signal for the group is on its way.
pub(crate) fn kill_group(group: i32) {
    if group > 1 {
        // SAFETY: no memory is passed.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
}

/// The process group of the caller; 0 if it is none of its pid namespace, as init's is.
pub(crate) fn own_group() -> i32 {
    // SAFETY: no memory is passed, and it never fails.
    unsafe { libc::getpgrp() }
}

/// Kills one process.
pub(crate) fn kill_process(pid: i32) {
    if pid > 1 {
        // SAFETY: no memory is passed.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
}

/// Kills every process of the pid namespace but init, which is who calls this.
pub(crate) fn kill_everybody_else() {
    // Outside a pid namespace of our own this would reach far beyond the session.
    if rustix::process::getpid().as_raw_nonzero().get() == 1 {
        // SAFETY: no memory is passed.
        unsafe { libc::kill(-1, libc::SIGKILL) };
    }
}
