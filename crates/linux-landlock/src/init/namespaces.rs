//! The namespaces of the full tier, and the user in them.

use std::io::Write as _;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Signal};

use super::{During, Failed};
use crate::step::Step;

/// The namespaces that every session of the full tier is born in. Its network comes a little later: [`network`](
/// super::network).
pub(super) const BIRTH: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS;

/// First thing in the new namespaces: ends with the helper, and maps the user to itself.
///
/// The map is the identity, not root: a mapped root would regain capabilities at exec.
pub(super) fn enter(uid: u32, gid: u32) -> Result<(), Failed> {
    // A helper that is gone by now is noticed when the session begins to serve.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .during(Step::Namespaces)?;
    // The files below belong to root if the process is not dumpable, as after a change of user without an exec.
    rustix::process::set_dumpable_behavior(DumpableBehavior::Dumpable).during(Step::UserMap)?;
    write_once("/proc/self/setgroups", "deny").during(Step::UserMap)?;
    write_once("/proc/self/uid_map", &format!("{uid} {uid} 1")).during(Step::UserMap)?;
    write_once("/proc/self/gid_map", &format!("{gid} {gid} 1")).during(Step::UserMap)
}

fn write_once(path: &str, text: &str) -> Result<(), Errno> {
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    let written = std::fs::File::from(file).write(text.as_bytes());
    match written {
        Ok(length) if length == text.len() => Ok(()),
        Ok(_) => Err(Errno::IO),
        Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
    }
}
