//! Ending a tree on macOS: by its group, and by a look at the table of processes where that is built in.

use std::time::Instant;

use super::Leader;
use super::mark::Mark;

/// What ties processes to a leader.
#[cfg(feature = "seatbelt")]
#[derive(Debug)]
pub(super) struct Ties(palisade_seatbelt::tree::Ending);

#[cfg(feature = "seatbelt")]
impl Ties {
    pub(super) fn new(leader: i32, mark: Mark) -> Self {
        use std::os::unix::ffi::OsStringExt as _;
        Self(palisade_seatbelt::tree::Ending::new(
            leader,
            mark.entry().into_vec(),
        ))
    }
}

/// Kills what belongs to a leader until there is nothing, or the time is over; says whether there is nothing.
#[cfg(feature = "seatbelt")]
pub(super) fn sweep(leader: &Leader, until: Instant) -> bool {
    leader.ties.0.sweep(until, || leader.is_ours())
}

/// Remembers who belongs to a leader now.
#[cfg(feature = "seatbelt")]
pub(super) fn remember(leader: &Leader) {
    leader.ties.0.remember(leader.is_ours());
}

/// Nothing but the group.
#[cfg(not(feature = "seatbelt"))]
#[derive(Debug)]
pub(super) struct Ties {
    group: i32,
}

#[cfg(not(feature = "seatbelt"))]
impl Ties {
    pub(super) fn new(leader: i32, _: Mark) -> Self {
        Self { group: leader }
    }
}

/// Kills the group, also where the leader has ended and was not reaped. Nobody looks for others.
#[cfg(not(feature = "seatbelt"))]
pub(super) fn sweep(leader: &Leader, _: Instant) -> bool {
    if leader.is_ours() {
        crate::os::sys::wait::signal_group(leader.ties.group, libc::SIGKILL);
    }
    true
}

#[cfg(not(feature = "seatbelt"))]
pub(super) fn remember(_: &Leader) {}
