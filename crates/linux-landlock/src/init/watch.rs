//! The helper's wait for the process that serves, which must end soon after the caller has gone.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::channel::{Channel, retry};
use crate::sys::reap::{kill_process, reap_this};

/// How long the process that serves may take to end once the caller is gone: ending a tree that defends itself takes a
/// second or two.
const GRACE: Duration = Duration::from_secs(5);

/// Waits until a child is gone. If the caller goes first, a child that does not follow, because somebody has stopped it,
/// is killed.
pub(super) fn until_gone(child: i32, handle: &OwnedFd, channel: &Channel) {
    let caller_left = wait(handle, Some(channel), None);
    if caller_left && wait(handle, None, Timespec::try_from(GRACE).ok()) {
        kill_process(child);
    }
    let _ = reap_this(child);
}

/// A descriptor that becomes readable when a child of ours has ended, and all that ended with it.
pub(super) fn handle(child: i32) -> Result<OwnedFd, Errno> {
    pidfd_open(
        Pid::from_raw(child).ok_or(Errno::SRCH)?,
        PidfdFlags::empty(),
    )
}

/// Waits for the end of the child; `true` if something else came first.
fn wait(child: &OwnedFd, caller: Option<&Channel>, limit: Option<Timespec>) -> bool {
    let mut watched = vec![PollFd::from_borrowed_fd(child.as_fd(), PollFlags::IN)];
    // Not what the caller sends, which is for the child, but that it has stopped to.
    watched.extend(caller.map(|channel| PollFd::new(channel, PollFlags::RDHUP)));
    match retry(|| poll(&mut watched, limit.as_ref())) {
        Ok(_) => watched
            .first()
            .is_some_and(|child| child.revents().is_empty()),
        Err(_) => false,
    }
}
