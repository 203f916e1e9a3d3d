//! A command without a sandbox: a child of this program, known by a handle, with a mark on all that it starts.
//!
//! Its first process is not reaped before the value and everybody who still ends its tree are gone. So its number means
//! nobody else, neither as a process nor as a group or session, as long as anybody here uses it.

mod child;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod forked_tests;
mod mark;
mod prepare;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "macos")]
mod tree_macos;
#[cfg(any(target_os = "macos", test))]
mod waiter;

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::{Errno, fcntl_dupfd_cloexec};

use super::order::Order;
use super::stdio::Stdio;
use super::sys::spawn::{Failed, Prepared, REPORT};
use super::sys::wait::{Reap, signal_group};
use crate::outcome::SetupFailure;
use crate::supervise::{Ended, NoEnd};
use child::Child;
use mark::Mark;
#[cfg(all(any(target_os = "macos", test), feature = "seatbelt"))]
pub(super) use prepare::candidates;
use prepare::{Names, prepare};
#[cfg(target_os = "macos")]
use tree_macos as tree;

/// A command without a sandbox.
#[derive(Debug)]
pub(crate) struct BareProcess {
    leader: Arc<Leader>,
    ended: Option<Result<Ended, NoEnd>>,
}

/// The first process of a command, which leads its group and its session.
#[derive(Debug)]
struct Leader {
    child: Child,
    ties: tree::Ties,
}

/// How long the first attempt to end a tree may take, in the caller's own time.
const AT_ONCE: Duration = Duration::from_millis(5);

/// How long ending a tree goes on where something is left that does not end: it is of another user, or the kernel holds
/// it.
const PATIENCE: Duration = Duration::from_secs(10);

impl BareProcess {
    pub(super) fn spawn(order: &Order, stdio: &Stdio) -> Result<Self, SetupFailure> {
        Self::start(order, stdio, |prepared, stdio| {
            #[cfg(target_os = "linux")]
            let child = Child::spawn(prepared, stdio);
            #[cfg(target_os = "macos")]
            let child = Child::spawn(prepared, stdio, None);
            child
        })
    }

    /// The same, with a descriptor for a helper to talk over in the command's place.
    #[cfg(all(target_os = "macos", feature = "seatbelt"))]
    pub(super) fn spawn_reporting(
        order: &Order,
        stdio: &Stdio,
        report: BorrowedFd<'_>,
    ) -> Result<Self, SetupFailure> {
        let names = Names::of(order);
        let report =
            fcntl_dupfd_cloexec(report, REPORT + 1).map_err(|errno| names.failure_before(errno))?;
        Self::start(order, stdio, |prepared, stdio| {
            Child::spawn(prepared, stdio, Some(report.as_fd()))
        })
    }

    fn start(
        order: &Order,
        stdio: &Stdio,
        spawn: impl FnOnce(&Prepared, [BorrowedFd<'_>; 3]) -> Result<Child, Failed>,
    ) -> Result<Self, SetupFailure> {
        let names = Names::of(order);
        let mark = Mark::random().map_err(|errno| names.failure_before(errno))?;
        let prepared = prepare(order, &mark)?;
        let copy = |descriptor: BorrowedFd<'_>| {
            fcntl_dupfd_cloexec(descriptor, REPORT + 1).map_err(|errno| names.failure_before(errno))
        };
        let [stdin, stdout, stderr] = stdio.each();
        let stdio = [copy(stdin)?, copy(stdout)?, copy(stderr)?];
        let child = spawn(&prepared, stdio.each_ref().map(OwnedFd::as_fd))
            .map_err(|failed| names.failure(failed))?;
        Ok(Self {
            leader: Arc::new(Leader {
                ties: tree::Ties::new(child.pid(), mark),
                child,
            }),
            ended: None,
        })
    }

    /// Its number, which means nobody else while this value lives.
    #[cfg(test)]
    #[cfg(target_os = "linux")]
    pub(super) fn pid(&self) -> i32 {
        self.leader.child.pid()
    }

    pub(super) fn status(&self) -> BorrowedFd<'_> {
        self.leader.child.status()
    }

    pub(super) fn try_end(&mut self) -> Result<Option<Ended>, NoEnd> {
        if self.ended.is_none() {
            self.ended = match self.leader.child.end(Reap::Not) {
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
        if matches!(self.child.end(Reap::Not), Ok(None)) {
            signal_group(self.child.pid(), signal);
        }
    }

    /// Whether its number still means it: it lives, or waits to be reaped.
    fn is_ours(&self) -> bool {
        self.child.end(Reap::Not).is_ok()
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        // One that was told to end and takes its time is reaped by nobody else.
        if matches!(self.child.end(Reap::Now), Ok(None)) {
            self.child.kill_and_reap();
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
