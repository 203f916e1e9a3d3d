//! A command without a sandbox: a child of this program, known by a handle, with a mark on all that it starts.
//!
//! Its first process is not reaped before the value and everybody who still ends its tree are gone. So its number means
//! nobody else, neither as a process nor as a group or session, as long as anybody here uses it.

mod mark;
mod prepare;
mod tree;

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{Signal, pidfd_send_signal};

use super::order::Order;
use super::stdio::Stdio;
use super::sys::spawn::spawn;
use super::sys::wait::{Reap, end_of, signal_group};
use crate::outcome::SetupFailure;
use crate::supervise::{Ended, NoEnd};
use mark::Mark;
use prepare::{Names, prepare};

/// A command without a sandbox.
#[derive(Debug)]
pub(crate) struct BareProcess {
    leader: Arc<Leader>,
    ended: Option<Result<Ended, NoEnd>>,
}

/// The first process of a command, which leads its group and its session.
#[derive(Debug)]
struct Leader {
    pid: i32,
    handle: OwnedFd,
    mark: Mark,
    /// When it was born, in ticks: nobody who belongs to it is older.
    born: u64,
    /// Who belonged to it when it was last told something: what it ends of may be all that tied them to it.
    known: Mutex<Vec<tree::Seen>>,
}

/// How long the first attempt to end a tree may take, in the caller's own time.
const AT_ONCE: Duration = Duration::from_millis(5);

/// How long ending a tree goes on where something is left that does not end: it is of another user, or the kernel holds
/// it.
const PATIENCE: Duration = Duration::from_secs(10);

impl BareProcess {
    pub(super) fn spawn(order: &Order, stdio: &Stdio) -> Result<Self, SetupFailure> {
        let names = Names::of(order);
        let mark = Mark::random().map_err(|errno| names.failure_before(errno))?;
        let prepared = prepare(order, &mark)?;
        let copy = |descriptor: BorrowedFd<'_>| {
            fcntl_dupfd_cloexec(descriptor, 3).map_err(|errno| names.failure_before(errno))
        };
        let [stdin, stdout, stderr] = stdio.each();
        let stdio = [copy(stdin)?, copy(stdout)?, copy(stderr)?];
        let (pid, handle) = spawn(&prepared, stdio.each_ref().map(OwnedFd::as_fd))
            .map_err(|failed| names.failure(failed))?;
        Ok(Self {
            leader: Arc::new(Leader {
                pid,
                handle,
                mark,
                // It cannot have been reaped yet. Where it was, by somebody who reaps all, its mark alone counts.
                born: tree::born(pid).unwrap_or(0),
                known: Mutex::default(),
            }),
            ended: None,
        })
    }

    /// Its number, which means nobody else while this value lives.
    #[cfg(test)]
    pub(super) fn pid(&self) -> i32 {
        self.leader.pid
    }

    pub(super) fn status(&self) -> BorrowedFd<'_> {
        self.leader.handle.as_fd()
    }

    pub(super) fn try_end(&mut self) -> Result<Option<Ended>, NoEnd> {
        if self.ended.is_none() {
            self.ended = match end_of(self.leader.handle.as_fd(), Reap::Not) {
                Ok(ended) => ended.map(Ok),
                Err(errno) => Some(Err(NoEnd::Lost(stolen(errno)))),
            };
        }
        self.ended.clone().transpose()
    }

    pub(super) fn signal(&self, signal: i32) {
        tree::remember(&self.leader);
        self.leader.signal(signal);
    }

    pub(super) fn kill_tree(&mut self) {
        end_tree(&self.leader);
    }
}

impl Drop for BareProcess {
    fn drop(&mut self) {
        if !matches!(self.try_end(), Ok(Some(_))) {
            end_tree(&self.leader);
        }
    }
}

/// Ends a tree: what is seen now at once, and the rest on the side, if there is a rest.
fn end_tree(leader: &Arc<Leader>) {
    leader.signal(libc::SIGKILL);
    if tree::sweep(leader, Instant::now() + AT_ONCE) {
        return;
    }
    let leader = Arc::clone(leader);
    // Without a thread, what was seen is killed all the same.
    let _ = std::thread::Builder::new()
        .name("palisade-tree".to_owned())
        .spawn(move || tree::sweep(&leader, Instant::now() + PATIENCE));
}

impl Leader {
    /// Sends a signal to the group, while the leader has not ended.
    fn signal(&self, signal: i32) {
        // Where somebody else has reaped it, its number may mean another by now.
        if matches!(end_of(self.handle.as_fd(), Reap::Not), Ok(None)) {
            signal_group(self.pid, signal);
        }
    }

    /// Whether its number still means it: it lives, or waits to be reaped.
    fn is_ours(&self) -> bool {
        end_of(self.handle.as_fd(), Reap::Not).is_ok()
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if !matches!(end_of(self.handle.as_fd(), Reap::Now), Ok(None)) {
            return;
        }
        // It was told to end and takes its time. Nobody else will reap it.
        let _ = pidfd_send_signal(&self.handle, Signal::KILL);
        if let Ok(handle) = self.handle.try_clone() {
            let _ = std::thread::Builder::new()
                .name("palisade-reaper".to_owned())
                .spawn(move || end_of(handle.as_fd(), Reap::Wait));
        }
    }
}

fn stolen(errno: Errno) -> String {
    match errno {
        Errno::CHILD => "how the command ended is not known: this program ignores SIGCHLD, or another part of it waits for every \
             child; let that part wait for its own"
            .to_owned(),
        errno => format!("how the command ended is not known: {errno}"),
    }
}
