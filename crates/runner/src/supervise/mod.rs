//! Watching a running command: a machine from events to actions, and the two that drive it.

mod block_on;
mod cancel;

pub use block_on::block_on;
pub use cancel::Cancellation;

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
