//! Watching a running command: a machine from events to actions, and the two that drive it.
//!
//! - `machine`: the rules about time and ends. Pure.
//! - `pump`: moves bytes and events between descriptors, queues and the machine, each as far as it goes without waiting.
//! - `on_poll` and `on_tokio`: the two that wait. Neither has a rule of its own.
//!
//! Nothing here handles `SIGCHLD`, starts threads or waits for processes that it was not given.

mod block_on;
mod cancel;
#[cfg(unix)]
mod doorbell;
#[cfg(unix)]
mod feed;
#[cfg(unix)]
mod live;
mod machine;
#[cfg(unix)]
mod on_poll;
#[cfg(unix)]
mod on_tokio;
#[cfg(unix)]
mod pump;
#[cfg(unix)]
mod sys;
mod watch;
mod watched;

pub(crate) use block_on::block_on;
pub use cancel::Cancellation;
#[cfg(unix)]
pub(crate) use on_poll::drive_blocking;
#[cfg(unix)]
pub(crate) use on_tokio::drive_tokio;
#[cfg(unix)]
pub(crate) use watch::Streams;
pub(crate) use watch::{Cause, Plan, Watch};
pub use watched::Usage;
#[cfg(unix)]
pub(crate) use watched::Watched;
pub(crate) use watched::{Ended, How, NoEnd};

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
