//! The helper: who brings the others of a session together, makes what it stands on, and waits.

use std::process::ExitCode;

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use super::announcement::Announcement;
use super::cgroup::Doors;
use super::household::Household;
use super::janitor::{Janitor, Line};
use super::newborn::{Errand, Newborn};
use super::premises::{Premises, unforeseeable_name};
use super::stores::{Locks, Stores};
use super::{During, Failed, privileges, report_failure, report_success, subreaper, watch};
use crate::channel::Channel;
use crate::plan::{NetworkNamespace, Plan, Tier};
use crate::step::Step;
use crate::sys::process::{self, Forked};
use crate::sys::signals;
use crate::wire::Wire;

/// The helper's life.
pub(super) fn run(channel: &Channel) -> ExitCode {
    signals::heed_ignored();
    // Out of the caller's process group: a Ctrl-C in its terminal is for the commands, and the caller passes it on.
    // Whoever leads a group already is not in a terminal's.
    let _ = rustix::process::setsid();
    match serve(channel) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            report_failure(channel, &failed);
            ExitCode::from(125)
        }
    }
}

fn serve(channel: &Channel) -> Result<(), Failed> {
    rustix::process::chdir("/").during(Step::ReadPlan)?;
    // Whoever starts a helper ahead has no plan yet. Most plans want namespaces; what one that does not gets out of this
    // is nothing but a moment's delay. That they cannot be had is said to those who want them.
    let early = (!channel.has_something()).then(|| Crew::gather(None, channel));
    let (bytes, plan) = receive_plan(channel)?;
    let told = Told {
        name: unforeseeable_name().during(Step::Janitor)?,
        bytes,
        plan,
    };
    match told.plan.tier {
        Tier::Full => {
            let crew = early.unwrap_or_else(|| Crew::gather(Some(told.plan.network), channel))?;
            with_namespaces(crew, &told, channel)
        }
        Tier::Landlock => {
            drop(early.map(|early| early.map(Crew::dismiss)));
            without_namespaces(&told, channel)
        }
    }
}

/// What the helper was told.
struct Told {
    /// The plan as it came.
    bytes: Vec<u8>,
    plan: Plan,
    /// For what is made in places that others use as well.
    name: String,
}

fn receive_plan(channel: &Channel) -> Result<(Vec<u8>, Plan), Failed> {
    let frame = channel.receive().during(Step::ReadPlan)?;
    let (bytes, _) = frame.ok_or(Failed::new(Step::ReadPlan, Errno::PIPE))?;
    let plan = Plan::from_bytes(&bytes).map_err(|_| Failed::new(Step::ReadPlan, Errno::BADMSG))?;
    Ok((bytes, plan))
}

/// Those who wait for a plan with namespaces.
struct Crew {
    newborn: Newborn,
    janitor: Janitor,
}

impl Crew {
    fn gather(known: Option<NetworkNamespace>, channel: &Channel) -> Result<Self, Failed> {
        let (line, far) = Line::new()?;
        let (newborn, far) = Newborn::bear(known, &line, far, channel)?;
        let gone = Some(newborn.handle()?);
        let janitor = Janitor::appoint(line, far, gone, channel)?;
        Ok(Self { newborn, janitor })
    }

    fn dismiss(self) {
        drop(self.newborn);
        self.janitor.leave();
    }
}

fn with_namespaces(crew: Crew, told: &Told, channel: &Channel) -> Result<(), Failed> {
    let Crew { newborn, janitor } = crew;
    let premises = Premises::of(&told.plan, &told.name)?;
    let (stores, locks) = Stores::lock(&told.plan)?;
    let janitor = match premises.is_nothing() && stores.is_empty() {
        true => {
            janitor.leave();
            None
        }
        false => {
            janitor.brief(&told.name, &told.bytes)?;
            Some(janitor)
        }
    };
    let mut household = Household::new(premises, locks, janitor);
    let lived = live(newborn, stores, &mut household, told, channel);
    // Init is gone, and the session's mounts with it.
    household.clear();
    lived
}

/// From the briefing of init to its end.
fn live(
    mut newborn: Newborn,
    stores: Stores,
    household: &mut Household,
    told: &Told,
    channel: &Channel,
) -> Result<(), Failed> {
    let mut errand = Errand {
        name: told.name.clone(),
        wait: true,
        stores,
    };
    let voice = newborn.voice()?;
    if household.groups().is_empty() {
        newborn.brief(&told.bytes, &errand, &Doors::default())?;
        voice.say(household.make());
    } else {
        // They must be there before init enters them.
        household.make().map_err(|unmade| unmade.of(&told.plan))?;
        let doors = household.groups().doors().during(Step::ControlGroup)?;
        errand.wait = false;
        newborn.brief(&told.bytes, &errand, &doors)?;
    }
    newborn.attend(channel);
    Ok(())
}

/// Two processes adopt what commands leave behind, one above the other: whichever is killed, the other ends the tree. The
/// janitor waits for both of them.
fn without_namespaces(told: &Told, channel: &Channel) -> Result<(), Failed> {
    let plan = &told.plan;
    let premises = Premises::of(plan, &told.name)?;
    let janitor = match premises.is_nothing() {
        true => None,
        false => {
            let (line, far) = Line::new()?;
            let janitor = Janitor::appoint(line, far, None, channel)?;
            janitor.brief(&told.name, &told.bytes)?;
            Some(janitor)
        }
    };
    let mut household = Household::new(premises, Locks::default(), janitor);
    let served = serve_tree(&mut household, plan, channel);
    household.leave();
    served
}

fn serve_tree(household: &mut Household, plan: &Plan, channel: &Channel) -> Result<(), Failed> {
    subreaper::adopt_orphans().during(Step::Serve)?;
    let (helper, lifeline) = pipe_with(PipeFlags::CLOEXEC).during(Step::Serve)?;
    let (announcement, voice) = Announcement::new()?;
    let grouped = !household.groups().is_empty();
    if grouped {
        household.make().map_err(|unmade| unmade.of(plan))?;
    }
    // The helper itself stays out of the groups: it waits for the janitor, who waits until they are empty.
    let doors = household.groups().doors().during(Step::ControlGroup)?;
    match process::fork().during(Step::Serve)? {
        Forked::Child => {
            drop((lifeline, voice));
            let tmpdir = household.premises().tmpdir();
            let groups = household.groups().clone();
            let served = doors.enter().during(Step::ControlGroup).and_then(|()| {
                if !grouped {
                    announcement.wait(plan)?;
                }
                let session = subreaper::begin(plan, tmpdir, groups, helper)?;
                report_success(channel, tmpdir, &[])?;
                session.serve(channel)
            });
            if let Err(failed) = &served {
                report_failure(channel, failed);
            }
            subreaper::sweep(None);
            process::exit_now(if served.is_ok() { 0 } else { 125 })
        }
        Forked::Parent(pid) => {
            drop((helper, announcement));
            let handle = watch::handle(pid).during(Step::Serve);
            if !grouped {
                voice.say(household.make());
            }
            let renounced = privileges::renounce();
            if renounced.is_ok()
                && let Ok(handle) = &handle
            {
                watch::until_gone(pid, handle, channel);
            }
            subreaper::sweep(household.janitor());
            renounced.and(handle.map(drop))
        }
    }
}
