//! Init, from its birth to its first command.
//!
//! Namespaces, a network and private file systems depend on no plan. So init is born as soon as there is a helper, also
//! before anybody knows what for, and waits to be briefed. A plan that needs no init, or a caller who is gone, ends it.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use super::announcement::{Announcement, Voice};
use super::cgroup::{Doors, Groups};
use super::janitor::{FarEnd, Line};
use super::mounts::{self, Mounter};
use super::network::Network;
use super::stock::Stock;
use super::stores::Stores;
use super::{During, Failed, namespaces, privileges, rules, serve, watch};
use super::{report_failure, report_success};
use crate::channel::Channel;
use crate::plan::{NetworkNamespace, Plan};
use crate::step::Step;
use crate::sys::process::{self, Forked};
use crate::sys::reap::{kill_process, reap_this};
use crate::wire::{Wire, wire_struct};

/// An init that waits to be told what it is for.
pub(super) struct Newborn {
    pid: i32,
    /// Readable when it has ended, and everything in it.
    handle: OwnedFd,
    briefing: Channel,
    voice: Option<Voice>,
    /// Ends it together with the helper.
    _lifeline: OwnedFd,
}

/// What init has to know besides its plan.
#[derive(Default)]
pub(super) struct Errand {
    /// The name of what was made in places that others use as well.
    pub(super) name: String,
    /// Whether something is still being made, and said when it is.
    pub(super) wait: bool,
    pub(super) stores: Stores,
}

wire_struct!(Errand { name, wait, stores });

impl Newborn {
    /// Gives birth to init. `known` is what is known about its network by now. It holds the janitor's line for as long as it
    /// lives, and not its far end, which is given back.
    pub(super) fn bear(
        known: Option<NetworkNamespace>,
        _line: &Line,
        far: FarEnd,
        channel: &Channel,
    ) -> Result<(Self, FarEnd), Failed> {
        let user = User::current();
        let (helper, lifeline) = pipe_with(PipeFlags::CLOEXEC).during(Step::Namespaces)?;
        let (briefing, briefed) = Channel::pair().during(Step::Namespaces)?;
        let (announcement, voice) = Announcement::new()?;
        match process::fork_into(namespaces::BIRTH).during(Step::Namespaces)? {
            Forked::Child => {
                drop((lifeline, briefing, voice, far));
                let briefing = Channel::from(briefed);
                let lived = live(user, known, &briefing, announcement, helper, channel);
                if let Err(failed) = &lived {
                    report_failure(channel, failed);
                }
                process::exit_now(if lived.is_ok() { 0 } else { 125 })
            }
            Forked::Parent(pid) => match watch::handle(pid) {
                Ok(handle) => {
                    let newborn = Self {
                        pid,
                        handle,
                        briefing,
                        voice: Some(voice),
                        _lifeline: lifeline,
                    };
                    Ok((newborn, far))
                }
                Err(errno) => {
                    end(pid);
                    Err(Failed::new(Step::Namespaces, errno))
                }
            },
        }
    }

    /// Hands the plan over, as it came, and what else there is to know.
    pub(super) fn brief(&self, plan: &[u8], errand: &Errand, doors: &Doors) -> Result<(), Failed> {
        let doors: Vec<_> = doors.0.iter().map(AsFd::as_fd).collect();
        let sent = self.briefing.send(plan, &[]);
        sent.and_then(|()| self.briefing.send(&errand.to_bytes(), &doors))
            .during(Step::ReadPlan)
    }

    /// What it is told with, once, that everything was made which the plan asks for.
    pub(super) fn voice(&mut self) -> Result<Voice, Failed> {
        let voice = self.voice.take();
        voice.ok_or(Failed::new(Step::Janitor, Errno::BADF))
    }

    /// A descriptor that is readable when it has ended, and everything in it.
    pub(super) fn handle(&self) -> Result<OwnedFd, Failed> {
        let handle = self.handle.try_clone();
        handle.map_err(|_| Failed::new(Step::Janitor, Errno::MFILE))
    }

    /// Waits until it is gone.
    pub(super) fn attend(mut self, channel: &Channel) {
        let pid = std::mem::take(&mut self.pid);
        watch::until_gone(pid, &self.handle, channel);
    }
}

/// Nobody needs it.
impl Drop for Newborn {
    fn drop(&mut self) {
        end(self.pid);
    }
}

fn end(pid: i32) {
    if pid > 0 {
        kill_process(pid);
        let _ = reap_this(pid);
    }
}

/// Who the session runs as.
#[derive(Clone, Copy)]
struct User {
    uid: u32,
    gid: u32,
}

impl User {
    fn current() -> Self {
        Self {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
        }
    }
}

/// Init's life.
fn live(
    user: User,
    known: Option<NetworkNamespace>,
    briefing: &Channel,
    announcement: Announcement,
    helper: OwnedFd,
    channel: &Channel,
) -> Result<(), Failed> {
    // Whether this is a failure is seen when somebody wants a session of this kind.
    let prepared = Prepared::make(user, known);
    let Some(brief) = Brief::receive(briefing)? else {
        return Ok(());
    };
    let session = prepared?.settle(brief, announcement, helper, channel)?;
    session.serve(channel)
}

/// What init was told.
struct Brief {
    plan: Plan,
    errand: Errand,
    doors: Doors,
}

impl Brief {
    /// `None` if nobody has anything to tell.
    fn receive(briefing: &Channel) -> Result<Option<Self>, Failed> {
        let malformed = || Failed::new(Step::ReadPlan, Errno::BADMSG);
        let Some((plan, _)) = briefing.receive().during(Step::ReadPlan)? else {
            return Ok(None);
        };
        let Some((errand, doors)) = briefing.receive().during(Step::ReadPlan)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            plan: Plan::from_bytes(&plan).map_err(|_| malformed())?,
            errand: Errand::from_bytes(&errand).map_err(|_| malformed())?,
            doors: Doors(doors),
        }))
    }
}

/// What is made for every session.
struct Prepared {
    network: Network,
    stock: Stock,
}

impl Prepared {
    fn make(user: User, known: Option<NetworkNamespace>) -> Result<Self, Failed> {
        namespaces::enter(user.uid, user.gid)?;
        // What most sessions have.
        let expected = known.unwrap_or(NetworkNamespace::OwnLoopback);
        Ok(Self {
            network: Network::begin(expected)?,
            // Where the plan has come already, each thing is made in its turn.
            stock: match known {
                None => Stock::fill(),
                Some(_) => Stock::default(),
            },
        })
    }

    /// Sets up what the plan says.
    fn settle(
        self,
        brief: Brief,
        announcement: Announcement,
        helper: OwnedFd,
        channel: &Channel,
    ) -> Result<serve::Session, Failed> {
        let Brief {
            plan,
            errand,
            doors,
        } = brief;
        doors.enter().during(Step::ControlGroup)?;
        let mounter = Mounter::begin(&plan, &errand.stores, self.stock)?;
        mounter.mount_all(&plan, || match errand.wait {
            true => announcement.wait(&plan),
            false => Ok(()),
        })?;
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
        handed_out.extend(self.network.enter(plan.network)?);
        privileges::renounce()?;
        let groups = Groups::of(&plan, &errand.name);
        let session = serve::Session::new(&plan, ruleset, None, groups, helper)?;
        report_success(channel, None, &handed_out)?;
        Ok(session)
    }
}
