//! Watching a running command: a machine from events to actions, and the two that drive it.
//!
//! - `machine`: the rules about time and ends. Pure.
//! - `relay`, `attend`: what a command on the caller's own streams needs besides.
//! - `pump`: moves bytes and events between ports, queues and the machine, each as far as it goes without waiting.
//! - `on_poll` and `on_tokio`: the two that wait. Neither has a rule of its own.
//! - `on_threads`: ports for Windows, whose pipes block; and what waits there without a runtime.
//!
//! Nothing here handles `SIGCHLD` or waits for processes that it was not given. Only on Windows are threads started: one
//! for each stream, which ends with the run.

mod attend;
mod backlog;
mod block_on;
mod cancel;
#[cfg(unix)]
mod descriptor;
#[cfg(unix)]
mod doorbell;
mod feed;
mod live;
mod machine;
#[cfg(unix)]
mod on_poll;
#[cfg(windows)]
mod on_threads;
mod on_tokio;
mod pump;
#[cfg(unix)]
mod registered;
mod relay;
#[cfg(unix)]
mod sys;
mod watch;
mod watched;

pub use attend::{Attend, Patience};
pub(crate) use attend::{Attendance, Attendant, Begun};
pub(crate) use block_on::block_on;
pub use cancel::Cancellation;
#[cfg(unix)]
pub(crate) use on_poll::drive_blocking;
#[cfg(windows)]
pub(crate) use on_threads::drive_blocking;
pub(crate) use on_tokio::drive_tokio;
pub(crate) use watch::{Cause, Lent, Plan, Streams, Watch};
pub use watched::Usage;
pub(crate) use watched::{Ended, How, NoEnd, Watched};

use std::time::Duration;

/// How long things may take when a command is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timing {
    /// Between the polite signal and the one that none survives.
    pub grace: Duration,
    /// After the command ended, for what others still hold open of its output.
    pub drain: Duration,
}

impl Timing {
    /// With this grace.
    #[must_use]
    pub const fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// With this drain time.
    #[must_use]
    pub const fn with_drain(mut self, drain: Duration) -> Self {
        self.drain = drain;
        self
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            grace: Duration::from_millis(500),
            drain: Duration::from_millis(250),
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
