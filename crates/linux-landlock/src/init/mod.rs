//! What runs in the helper: sets the session up once, then starts commands on request.
//!
//! ```text
//! helper (outer)   reads the plan; starts the janitor; makes init; waits for it
//!   janitor        removes placeholders when everybody else is gone
//!   init           process 1 of the session: mounts, rules, no capabilities; serves requests
//!     command      the rest of the way to exec is system calls only
//! ```
//! In the landlock tier the process that serves is no init, but adopts orphans, and so does the helper above it.
//!
//! Any one of these may be killed at any moment, and so may the caller: those who remain end what is left of the
//! session and remove what was made for it.

mod cgroup;
mod command;
mod handed_in;
mod janitor;
mod mounts;
mod namespaces;
mod network;
mod privileges;
mod remove_tree;
mod rules;
mod sampler;
mod serve;
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
use rustix::pipe::{PipeFlags, pipe_with};

use crate::channel::Channel;
use crate::plan::{LimitMechanism, Plan, Tier};
use crate::step::Step;
use crate::sys::reap::end_everybody_else;
use crate::sys::{process, signals};
use crate::wire::{Failure, SetupReply, Wire};

pub(crate) use command::{ChildSetup, PreparedExec};
pub(crate) use janitor::{PLACEHOLDER_MARK, UNFINISHED_PLACEHOLDER};
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
        Ok(channel) => outer(channel),
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

fn outer(channel: Channel) -> ExitCode {
    signals::heed_ignored();
    // Out of the caller's process group: a Ctrl-C in its terminal is for the commands, and the caller passes it on.
    // Whoever leads a group already is not in a terminal's.
    let _ = rustix::process::setsid();
    let outcome = receive_plan(&channel).and_then(|plan| {
        rustix::process::chdir("/").during(Step::ReadPlan)?;
        Outer::prepare(plan, &channel)?.run(&channel)
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            report_failure(&channel, &failed);
            ExitCode::from(125)
        }
    }
}

fn receive_plan(channel: &Channel) -> Result<Plan, Failed> {
    let frame = channel.receive().during(Step::ReadPlan)?;
    let (bytes, _) = frame.ok_or(Failed::new(Step::ReadPlan, Errno::PIPE))?;
    Plan::from_bytes(&bytes).map_err(|_| Failed::new(Step::ReadPlan, Errno::BADMSG))
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

/// The helper before the session exists.
struct Outer {
    plan: Plan,
    janitor: Option<janitor::Janitor>,
    /// Held until init is gone, and the session's mounts with it.
    stores: stores::Stores,
}

impl Outer {
    fn prepare(plan: Plan, channel: &Channel) -> Result<Self, Failed> {
        let janitor = janitor::Janitor::appoint(&plan, channel)?;
        let stores = stores::Stores::lock(&plan)?;
        Ok(Self {
            plan,
            janitor,
            stores,
        })
    }

    /// The helper itself stays out of the groups: it waits for the janitor, who waits until they are empty.
    fn doors(&self) -> Result<Option<cgroup::Doors>, Failed> {
        let Some(groups) = self.groups().filter(|groups| !groups.is_empty()) else {
            return Ok(None);
        };
        self.wait_for_janitor()?;
        groups.doors().map(Some).during(Step::ControlGroup)
    }

    /// Waits for what the janitor makes, where it makes anything.
    fn wait_for_janitor(&self) -> Result<(), Failed> {
        self.janitor
            .as_ref()
            .map_or(Ok(()), janitor::Janitor::ready)
    }

    fn groups(&self) -> Option<&cgroup::Groups> {
        self.janitor.as_ref().map(janitor::Janitor::groups)
    }

    fn run(self, channel: &Channel) -> Result<(), Failed> {
        match self.plan.tier {
            Tier::Full => self.run_namespaces(channel),
            Tier::Landlock => self.run_subreaper(channel),
        }
    }

    fn run_namespaces(self, channel: &Channel) -> Result<(), Failed> {
        let uid = rustix::process::geteuid().as_raw();
        let gid = rustix::process::getegid().as_raw();
        let (helper, lifeline) = pipe_with(PipeFlags::CLOEXEC).during(Step::Namespaces)?;
        let doors = self.doors()?;
        match process::fork_into(namespaces::BIRTH).during(Step::Namespaces)? {
            process::Forked::Child => {
                drop(lifeline);
                let entered = enter(doors);
                let code = match entered.and_then(|()| self.become_init(channel, helper, uid, gid))
                {
                    Ok(()) => 0,
                    Err(failed) => {
                        report_failure(channel, &failed);
                        125
                    }
                };
                process::exit_now(code)
            }
            process::Forked::Parent(pid) => {
                drop(helper);
                watch::until_gone(pid, channel);
                Ok(())
            }
        }
    }

    /// In the new namespaces: sets the session up and serves it until the caller is gone.
    fn become_init(
        &self,
        channel: &Channel,
        helper: OwnedFd,
        uid: u32,
        gid: u32,
    ) -> Result<(), Failed> {
        let plan = &self.plan;
        namespaces::enter(uid, gid)?;
        let network = network::Network::begin(plan)?;
        let mounter = mounts::Mounter::begin(plan, &self.stores)?;
        self.wait_for_janitor()?;
        mounter.mount_all(plan)?;
        // Before the network, which takes longer than the mounts.
        let ruleset = plan.landlock.as_ref().map(rules::build).transpose()?;
        let mut handed_out = plan
            .git
            .iter()
            .map(|git| {
                mounts::open_directory(&git.common_dir).during_at(Step::Overlay, &git.common_dir)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let handles = handed_out
            .iter()
            .map(|view| mounts::pick(view.as_fd()).during(Step::Overlay))
            .collect::<Result<Vec<_>, _>>()?;
        handed_out.extend(handles);
        handed_out.extend(network.enter()?);
        privileges::renounce()?;
        let session = serve::Session::new(plan, ruleset, None, self.groups(), helper)?;
        report_success(channel, None, &handed_out)?;
        drop(handed_out);
        session.serve(channel)?;
        // Init's end would kill everybody too, but only after its descriptors are closed: where the helper is gone as
        // well, the janitor would be at work by then.
        if self.janitor.is_some() {
            end_everybody_else();
        }
        Ok(())
    }

    /// Two processes adopt what commands leave behind, one above the other: whichever is killed, the other ends the
    /// tree.
    fn run_subreaper(self, channel: &Channel) -> Result<(), Failed> {
        subreaper::adopt_orphans().during(Step::Serve)?;
        let (helper, lifeline) = pipe_with(PipeFlags::CLOEXEC).during(Step::Serve)?;
        let doors = self.doors()?;
        match process::fork().during(Step::Serve)? {
            process::Forked::Child => {
                drop(lifeline);
                let served = enter(doors).and_then(|()| self.serve_as_subreaper(channel, helper));
                if let Err(failed) = &served {
                    report_failure(channel, failed);
                }
                subreaper::sweep(None);
                process::exit_now(if served.is_ok() { 0 } else { 125 })
            }
            process::Forked::Parent(pid) => {
                drop(helper);
                let renounced = privileges::renounce();
                if renounced.is_ok() {
                    watch::until_gone(pid, channel);
                }
                subreaper::sweep(self.janitor.as_ref().map(janitor::Janitor::pid));
                renounced
            }
        }
    }

    fn serve_as_subreaper(&self, channel: &Channel, helper: OwnedFd) -> Result<(), Failed> {
        self.wait_for_janitor()?;
        let tmpdir = self.janitor.as_ref().and_then(janitor::Janitor::tmpdir);
        let session = subreaper::begin(&self.plan, tmpdir, self.groups(), helper)?;
        report_success(channel, tmpdir, &[])?;
        session.serve(channel)
    }
}

fn enter(doors: Option<cgroup::Doors>) -> Result<(), Failed> {
    doors
        .map_or(Ok(()), cgroup::Doors::enter)
        .during(Step::ControlGroup)
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
