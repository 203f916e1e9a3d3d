//! The helper: who brings the others of a session together and waits for them.

use std::process::ExitCode;

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use super::cgroup::{Doors, Groups};
use super::janitor::{Announcement, Chores, Janitor, unforeseeable_name};
use super::newborn::{Errand, Newborn};
use super::stores::Stores;
use super::{During, Failed, privileges, report_failure, report_success, subreaper, watch};
use crate::channel::Channel;
use crate::plan::{Plan, Tier};
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
    let early = (!channel.has_something()).then(|| Newborn::bear(None, channel));
    let (bytes, plan) = receive_plan(channel)?;
    match plan.tier {
        Tier::Full => {
            let newborn = early.unwrap_or_else(|| Newborn::bear(Some(plan.network), channel))?;
            with_namespaces(newborn, &bytes, &plan, channel)
        }
        Tier::Landlock => {
            drop(early);
            without_namespaces(&plan, channel)
        }
    }
}

fn receive_plan(channel: &Channel) -> Result<(Vec<u8>, Plan), Failed> {
    let frame = channel.receive().during(Step::ReadPlan)?;
    let (bytes, _) = frame.ok_or(Failed::new(Step::ReadPlan, Errno::PIPE))?;
    let plan = Plan::from_bytes(&bytes).map_err(|_| Failed::new(Step::ReadPlan, Errno::BADMSG))?;
    Ok((bytes, plan))
}

/// The janitor of a session with namespaces waits for the end of init: the mounts are gone by then.
fn with_namespaces(
    mut newborn: Newborn,
    bytes: &[u8],
    plan: &Plan,
    channel: &Channel,
) -> Result<(), Failed> {
    let name = unforeseeable_name().during(Step::Janitor)?;
    // Held until init is gone, and the session's mounts with it.
    let (stores, _locks) = Stores::lock(plan)?;
    let chores = Chores::of(plan, &name).during(Step::Janitor)?;
    let mut errand = Errand {
        name,
        janitor: chores.is_some(),
        stores,
    };
    let _janitor = match chores {
        None => {
            newborn.brief(bytes, &errand, &Doors::default())?;
            None
        }
        Some(chores) if chores.groups().is_empty() => {
            newborn.brief(bytes, &errand, &Doors::default())?;
            Some(appoint(chores, &mut newborn, channel)?)
        }
        Some(chores) => {
            // The groups must be there before init enters them.
            let janitor = appoint(chores, &mut newborn, channel)?;
            newborn.announcement()?.wait(plan)?;
            errand.janitor = false;
            let doors = janitor.chores().groups().doors();
            newborn.brief(bytes, &errand, &doors.during(Step::ControlGroup)?)?;
            Some(janitor)
        }
    };
    newborn.attend(channel);
    Ok(())
}

fn appoint(chores: Chores, newborn: &mut Newborn, channel: &Channel) -> Result<Janitor, Failed> {
    Janitor::appoint(chores, channel, newborn.voice()?, newborn.handle()?, None)
}

/// Two processes adopt what commands leave behind, one above the other: whichever is killed, the other ends the tree. The
/// janitor waits for both of them.
fn without_namespaces(plan: &Plan, channel: &Channel) -> Result<(), Failed> {
    let name = unforeseeable_name().during(Step::Janitor)?;
    let (announcement, voice) = Announcement::new()?;
    let chores = Chores::of(plan, &name).during(Step::Janitor)?;
    let janitor = match chores {
        None => None,
        Some(chores) => {
            let (gone, alive) = pipe_with(PipeFlags::CLOEXEC).during(Step::Janitor)?;
            let janitor = Janitor::appoint(chores, channel, voice, gone, Some(alive))?;
            Some(janitor)
        }
    };
    subreaper::adopt_orphans().during(Step::Serve)?;
    let (helper, lifeline) = pipe_with(PipeFlags::CLOEXEC).during(Step::Serve)?;
    let chores = janitor.as_ref().map(Janitor::chores);
    let groups = chores.map_or_else(Groups::default, |chores| chores.groups().clone());
    let mut announcement = janitor.is_some().then_some(announcement);
    if !groups.is_empty()
        && let Some(announcement) = announcement.take()
    {
        announcement.wait(plan)?;
    }
    // The helper itself stays out of the groups: it waits for the janitor, who waits until they are empty.
    let doors = groups.doors().during(Step::ControlGroup)?;
    match process::fork().during(Step::Serve)? {
        Forked::Child => {
            drop(lifeline);
            let tmpdir = chores.and_then(Chores::tmpdir);
            let served = doors.enter().during(Step::ControlGroup).and_then(|()| {
                announcement.map_or(Ok(()), |announcement| announcement.wait(plan))?;
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
            drop(helper);
            let handle = watch::handle(pid).during(Step::Serve);
            let renounced = privileges::renounce();
            if renounced.is_ok()
                && let Ok(handle) = &handle
            {
                watch::until_gone(pid, handle, channel);
            }
            subreaper::sweep(janitor.as_ref().map(Janitor::pid));
            renounced.and(handle.map(drop))
        }
    }
}
