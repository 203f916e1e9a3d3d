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

/// Reaps one child that has ended; `None` if there is none.
pub(crate) fn reap_one() -> Option<Reaped> {
    reap(-1, libc::WNOHANG)
}

/// Waits for one child.
pub(crate) fn reap_this(pid: i32) -> Option<Reaped> {
    reap(pid, 0)
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

/// Sends a signal to the process group that a command leads. Groups of others cannot be meant: every command leads one.
pub(crate) fn signal_group(leader: i32, signal: i32) {
    if leader > 1 {
        // SAFETY: no memory is passed. A group that is gone is refused, which is fine.
        unsafe { libc::kill(-leader, signal) };
    }
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
