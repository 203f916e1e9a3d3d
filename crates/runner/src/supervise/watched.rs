//! What a running process offers to who watches it.

use std::time::Duration;

use palisade_policy::LimitKind;

use crate::launch::BorrowedDescriptor;
use crate::outcome::SetupFailure;

/// A process that runs.
pub(crate) trait Watched {
    /// A descriptor that is readable when [`Self::try_end`] has something to say, such as a pidfd; on Windows a handle
    /// that is signalled then. It stays the same.
    fn status(&self) -> BorrowedDescriptor<'_>;

    /// How it ended; `None` while it runs. Never waits. Once it has told an end or an error, it is not asked again.
    fn try_end(&mut self) -> Result<Option<Ended>, NoEnd>;

    /// Sends a signal to its process group. That it is gone already is no error.
    fn signal(&self, signal: i32);

    /// Ends everything that it started, itself included. Can be called again, and after its end.
    fn kill_tree(&mut self);
}

/// An end, as the kernel or the helper tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) how: How,
    pub(crate) usage: Usage,
}

/// Why there is no end to tell. The two are kept apart, because after one of them the command can be run again as if it
/// had never been asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoEnd {
    /// It was not started.
    #[cfg_attr(
        not(any(
            all(target_os = "linux", feature = "linux-landlock"),
            all(any(target_os = "macos", test), unix, feature = "seatbelt")
        )),
        expect(dead_code, reason = "a bare command is started before it is watched")
    )]
    NotStarted(SetupFailure),
    /// It ran, or may have run, and whoever could have told its end is gone.
    Lost(String),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Because it was over this limit.
    #[cfg_attr(
        not(any(
            all(target_os = "linux", feature = "linux-landlock"),
            all(windows, feature = "windows-token")
        )),
        expect(dead_code, reason = "only a sandbox has limits")
    )]
    Limit(LimitKind),
}

/// What a command used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Processor time of its own code.
    pub user: Duration,
    /// Processor time of the kernel for it.
    pub system: Duration,
    /// The most memory that one process held, in KiB.
    pub max_rss_kib: u64,
}
