//! What runs in the helper: sets the session up once, then starts commands on request.
//!
//! ```text
//! helper (outer)   gives birth to init; reads the plan; makes placeholders, and removes them when init is gone
//!   init           process 1 of the session: namespaces, mounts, rules, no capabilities; serves requests
//!     command      the rest of the way to exec is system calls only
//!   janitor        removes placeholders when everybody else is gone
//! ```
//! In the landlock tier the process that serves is no init, but adopts orphans, and so does the helper above it.
//!
//! Any one of these may be killed at any moment, and so may the caller: those who remain end what is left of the
//! session and remove what was made for it.

mod announcement;
mod cgroup;
mod command;
mod handed_in;
mod household;
mod janitor;
mod mounts;
mod namespaces;
mod network;
mod newborn;
mod outer;
mod premises;
mod privileges;
mod remove_tree;
mod rules;
mod sampler;
mod serve;
mod stock;
mod stores;
mod subreaper;
mod tree;
mod unseen;
mod watch;

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use palisade_policy::AbsolutePath;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

use crate::channel::Channel;
use crate::plan::{LimitMechanism, Plan};
use crate::step::Step;
use crate::sys::process;
use crate::wire::{Failure, SetupReply, Wire};

pub(crate) use command::{ChildSetup, PreparedExec};
pub(crate) use premises::{PLACEHOLDER_MARK, UNFINISHED_PLACEHOLDER};
pub(crate) use rules::build as build_ruleset;
pub(crate) use unseen::is_only_longer;

/// The first argument that makes a process a helper.
pub(crate) const HELPER_ARGUMENT: &str = "--palisade-linux-session";

/// A step that failed, on its way to the caller.
#[derive(Debug)]
pub(crate) struct Failed {
    step: Step,
    errno: Errno,
    path: Option<OsString>,
}

impl Failed {
    fn new(step: Step, errno: Errno) -> Self {
        Self {
            step,
            errno,
            path: None,
        }
    }

    fn at(step: Step, path: impl AsRef<Path>, errno: Errno) -> Self {
        Self {
            step,
            errno,
            path: Some(path.as_ref().as_os_str().to_owned()),
        }
    }

    pub(crate) fn to_wire(&self) -> Failure {
        Failure {
            step: self.step,
            errno: self.errno.raw_os_error(),
            path: self.path.clone(),
        }
    }
}

/// Gives a failing call its step.
trait During<T> {
    fn during(self, step: Step) -> Result<T, Failed>;
    fn during_at(self, step: Step, path: &AbsolutePath) -> Result<T, Failed>;
}

impl<T> During<T> for Result<T, Errno> {
    fn during(self, step: Step) -> Result<T, Failed> {
        self.map_err(|errno| Failed::new(step, errno))
    }

    fn during_at(self, step: Step, path: &AbsolutePath) -> Result<T, Failed> {
        self.map_err(|errno| Failed::at(step, path, errno))
    }
}

/// Runs the helper if these arguments ask for one; otherwise returns `None` at once.
pub(crate) fn dispatch(arguments: &[OsString]) -> Option<ExitCode> {
    let asked = arguments.get(1).map(OsString::as_os_str)
        == Some(OsStr::from_bytes(HELPER_ARGUMENT.as_bytes()));
    asked.then(|| match adopt_channel() {
        Ok(channel) => outer::run(&channel),
        Err(_) => ExitCode::from(125),
    })
}

/// The caller passes the channel as descriptor 0, because that is what spawning without a fork can do.
fn adopt_channel() -> Result<Channel, Errno> {
    let channel = fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    drop(null);
    // What the caller forgot to mark for closing must not reach a command.
    let number = u32::try_from(channel.as_raw_fd()).map_err(|_| Errno::BADF)?;
    process::close_range(3, number - 1)?;
    process::close_range(number + 1, u32::MAX)?;
    Ok(Channel::from(channel))
}

/// Answers the plan.
fn report_success(
    channel: &Channel,
    tmpdir: Option<&AbsolutePath>,
    descriptors: &[OwnedFd],
) -> Result<(), Failed> {
    let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
    let reply = SetupReply {
        failure: None,
        tmpdir: tmpdir.map(|path| path.as_path().as_os_str().to_owned()),
    };
    channel
        .send(&reply.to_bytes(), &descriptors)
        .during(Step::Serve)
}

/// Answers the plan, or after it says why the session ends. If nobody listens any more there is nobody to tell.
fn report_failure(channel: &Channel, failed: &Failed) {
    let reply = SetupReply {
        failure: Some(failed.to_wire()),
        tmpdir: None,
    };
    let _ = channel.send(&reply.to_bytes(), &[]);
}

/// Whether init has to measure something now and then.
fn samples(plan: &Plan) -> bool {
    let sampled = |mechanism| mechanism == LimitMechanism::Sampled;
    plan.limits
        .pids
        .is_some_and(|(_, mechanism)| sampled(mechanism))
        || plan
            .limits
            .memory
            .is_some_and(|(_, mechanism)| sampled(mechanism))
}
