//! Who removes what was made for a session when nobody else can any more.
//!
//! The helper makes what a session needs on the host, and removes it. It may be killed at any moment; so the janitor is
//! started before anything is made, is told what is going to be, holds every lock that was taken, and waits. Dismissed, it
//! ends. Left alone by the helper and by whoever serves, it does their work, and until then no other session takes what this
//! one still stands on. It keeps the caller's channel open, so that the caller can wait for it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::premises::Premises;
use super::{During, Failed};
use crate::channel::{Channel, MAX_DESCRIPTORS, retry};
use crate::plan::Plan;
use crate::step::Step;
use crate::sys::process::{self, Forked};
use crate::sys::reap::reap_this;
use crate::wire::Wire;

/// What the janitor is told after it knows what is going to be made.
const HOLD: &[u8] = b"hold";
const DISMISSED: &[u8] = b"dismissed";

/// A janitor who waits.
pub(super) struct Janitor {
    pid: i32,
    /// Whoever holds a copy of it is not gone yet.
    line: Line,
}

/// Our end of the janitor's line.
pub(super) struct Line(Channel);

/// The janitor's own end.
pub(super) struct FarEnd(OwnedFd);

impl Line {
    pub(super) fn new() -> Result<(Self, FarEnd), Failed> {
        let (near, far) = Channel::pair().during(Step::Janitor)?;
        Ok((Self(near), FarEnd(far)))
    }
}

impl Janitor {
    /// Starts a janitor. It acts when nobody holds the line any more, and then not before `gone` is readable, if that is
    /// given: a process that has ended.
    pub(super) fn appoint(
        line: Line,
        far: FarEnd,
        gone: Option<OwnedFd>,
        channel: &Channel,
    ) -> Result<Self, Failed> {
        match process::fork_aside().during(Step::Janitor)? {
            Forked::Child => {
                let far = Channel::from(far.0);
                let mut kept = vec![channel.as_fd(), far.as_fd()];
                kept.extend(gone.as_ref().map(AsFd::as_fd));
                // By what it inherited others would be kept waiting for one another.
                if process::close_all_but(&kept).is_ok() {
                    work(&far, gone.as_ref(), channel);
                }
                process::exit_now(0)
            }
            Forked::Parent(pid) => Ok(Self { pid, line }),
        }
    }

    /// The janitor's process.
    pub(super) const fn pid(&self) -> i32 {
        self.pid
    }

    /// Tells what is going to be made. It must be told before.
    pub(super) fn brief(&self, name: &str, plan: &[u8]) -> Result<(), Failed> {
        let line = &self.line.0;
        let told = line.send(&name.to_owned().to_bytes(), &[]);
        told.and_then(|()| line.send(plan, &[]))
            .during(Step::Janitor)
    }

    /// Gives it copies of locks to hold.
    pub(super) fn hold(&self, locks: &[BorrowedFd<'_>]) -> Result<(), Errno> {
        for some in locks.chunks(MAX_DESCRIPTORS) {
            self.line.0.send(HOLD, some)?;
        }
        Ok(())
    }

    /// Tells it that there is nothing left to do.
    pub(super) fn dismiss(&self) {
        // One that was killed has nothing to do either.
        let _ = self.line.0.send(DISMISSED, &[]);
    }

    /// Leaves everything to it, unless it was dismissed, and waits for its end. Says whether that was a good one.
    pub(super) fn leave(self) -> bool {
        self.line.0.finish();
        reap_this(self.pid).is_some_and(|ended| {
            libc::WIFEXITED(ended.status) && libc::WEXITSTATUS(ended.status) == 0
        })
    }
}

/// The janitor's life.
fn work(line: &Channel, gone: Option<&OwnedFd>, _channel: &Channel) {
    // A terminal's signals are not for it.
    let _ = rustix::process::setsid();
    let told = || -> Result<Option<Premises>, Errno> {
        let (Some((name, _)), Some((plan, _))) = (line.receive()?, line.receive()?) else {
            return Ok(None);
        };
        let name = String::from_bytes(&name).map_err(|_| Errno::BADMSG)?;
        let plan = Plan::from_bytes(&plan).map_err(|_| Errno::BADMSG)?;
        Ok(Premises::of(&plan, &name).ok())
    };
    let Ok(Some(premises)) = told() else {
        // Nothing was made.
        return;
    };
    let mut locks = Vec::new();
    while let Ok(Some((word, some))) = line.receive() {
        match word.as_slice() {
            HOLD => locks.extend(some),
            _ => return,
        }
    }
    if let Some(gone) = gone {
        // While mounts stand on a placeholder, removing that would take them along, and makes the kernel wait for all
        // processors once more.
        let mut watched = [PollFd::new(gone, PollFlags::IN)];
        let _ = retry(|| poll(&mut watched, None));
    }
    drop(locks);
    premises.remove_of_others();
}
