//! The direct launch: the landlock tier without a helper, for callers who accept that nobody ends the tree.
//!
//! A child is made as `posix_spawn` makes one, in memory shared with the caller, on a stack of its own and with every signal
//! blocked: the cost does not depend on the caller's size.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use palisade_policy::{Enforcement, Guarantee, Measure};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::pipe::{PipeFlags, pipe_with};

use super::child::{Exit, ExitCause, Usage};
use super::error::LaunchError;
use super::session::Command;
use super::stdio::{Network, Stdio};
use crate::channel::retry;
use crate::init::{ChildSetup, PreparedExec, build_ruleset};
use crate::plan::{Limits, Plan, Tier};
use crate::step::Step;
use crate::sys::process::{GuardedStack, exit_now, reset_handlers, vfork};
use crate::sys::reap::{reap_this, signal_command};
use crate::wire::{Record, STATUS_RECORD};

/// Launches commands under Landlock and seccomp, without a helper.
#[derive(Debug)]
pub struct DirectLauncher {
    setup: ChildSetup,
    /// Of one child at a time, which leaves it before the launch is over.
    stack: Mutex<GuardedStack>,
    has_landlock: bool,
    network: Network,
    limits: Limits,
}

impl DirectLauncher {
    /// Prepares the rules once.
    ///
    /// # Errors
    /// The plan is not of the landlock tier, or its rules cannot be built.
    pub fn new(plan: &Plan) -> Result<Self, LaunchError> {
        if plan.tier != Tier::Landlock {
            let why = "a direct launch has no namespaces; use a session for the full tier";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why).into());
        }
        let ruleset = plan.landlock.as_ref().map(build_ruleset).transpose();
        let ruleset = ruleset.map_err(|failed| LaunchError::from(failed.to_wire()))?;
        let stack = GuardedStack::new().map_err(LaunchError::system)?;
        Ok(Self {
            setup: ChildSetup::renouncing(plan, ruleset),
            stack: Mutex::new(stack),
            has_landlock: plan.landlock.is_some(),
            network: Network::of(plan),
            limits: plan.limits,
        })
    }

    /// The report of a plan, less what only a helper provides.
    pub fn enforcement(of_plan: Enforcement) -> Enforcement {
        let why = "nobody ends the tree of a direct launch";
        of_plan.with(
            Guarantee::TreeKill,
            Measure::missing(why).cured_by("launch through a session"),
        )
    }

    /// Starts a command and waits until its program runs.
    ///
    /// # Errors
    /// Names the step that failed; nothing ran.
    pub fn spawn(&self, command: &Command, stdio: &Stdio) -> Result<DirectChild, LaunchError> {
        stdio.check(self.has_landlock, self.network)?;
        let prepared = PreparedExec::new(command.request(0, None), &[])
            .map_err(|failed| LaunchError::from(failed.to_wire()))?;
        let [stdin, stdout, stderr] = stdio.descriptors();
        let stdio = [above_two(stdin)?, above_two(stdout)?, above_two(stderr)?];
        // Nothing panics while a child is on it.
        let stack = self.stack.lock().unwrap_or_else(PoisonError::into_inner);
        let pid = launch(&self.setup, &stack, &prepared, &stdio)?;
        Ok(DirectChild {
            pid,
            limits: self.limits,
            exit: None,
        })
    }
}

/// A copy that does not get in the way when the command's descriptors take their places: they would overwrite one
/// another, or what a caller without descriptors 0-2 gets there. The original is closed if it is owned.
fn above_two(descriptor: impl AsFd) -> Result<OwnedFd, LaunchError> {
    fcntl_dupfd_cloexec(descriptor, 3).map_err(LaunchError::system)
}

fn launch(
    setup: &ChildSetup,
    stack: &GuardedStack,
    command: &PreparedExec,
    stdio: &[OwnedFd; 3],
) -> Result<i32, LaunchError> {
    let (failures, theirs) = pipe_with(PipeFlags::CLOEXEC).map_err(LaunchError::system)?;
    let theirs = above_two(theirs)?;
    let child = || {
        reset_handlers();
        let (step, errno) = setup.become_command(command, stdio.each_ref().map(AsFd::as_fd));
        let record = Record::Failed {
            step,
            errno: errno.raw_os_error(),
        };
        let _ = rustix::io::write(&theirs, &record.to_array());
        exit_now(127)
    };
    let pid = vfork(stack, &child)
        .map_err(|errno| LaunchError::step(Step::Fork, errno.raw_os_error()))?;
    drop(theirs);
    let mut record = [0; STATUS_RECORD];
    match retry(|| rustix::io::read(&failures, &mut record)) {
        // The pipe was closed by exec: the program runs.
        Ok(0) => Ok(pid),
        Ok(STATUS_RECORD) => {
            let _ = reap_this(pid);
            match Record::from_array(&record) {
                Ok(Record::Failed { step, errno }) => Err(LaunchError::step(step, errno)),
                _ => Err(LaunchError::SessionLost),
            }
        }
        Ok(_) | Err(_) => {
            let _ = reap_this(pid);
            Err(LaunchError::step(Step::Fork, Errno::IO.raw_os_error()))
        }
    }
}

/// A command that was launched directly. It is a child of the calling process and must be waited for.
#[derive(Debug)]
pub struct DirectChild {
    pid: i32,
    limits: Limits,
    exit: Option<Exit>,
}

impl DirectChild {
    /// Its process id.
    #[must_use]
    pub const fn pid(&self) -> i32 {
        self.pid
    }

    /// Waits until the command ends.
    ///
    /// # Errors
    /// Somebody else has reaped it.
    pub fn wait(&mut self) -> Result<Exit, LaunchError> {
        if let Some(exit) = self.exit {
            return Ok(exit);
        }
        let reaped = reap_this(self.pid).ok_or(LaunchError::SessionLost)?;
        let usage = Usage::from_kernel(reaped.usage);
        Ok(*self.exit.insert(Exit {
            cause: ExitCause::of(reaped.status, &self.limits),
            usage,
        }))
    }

    /// Sends a signal to the command's process group.
    pub fn signal(&self, signal: i32) {
        if self.exit.is_none() {
            signal_command(self.pid, signal);
        }
    }
}
