//! A cancellation that can be waited for by poll(2) and by tokio alike.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Somebody's wish that a run end. Clones are the same wish.
#[derive(Clone, Debug, Default)]
pub struct Cancellation {
    wished: Arc<AtomicBool>,
}

impl Cancellation {
    /// A wish that nobody has made yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the wish.
    pub fn cancel(&self) {
        self.wished.store(true, Ordering::Release);
    }

    /// Whether it was made.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.wished.load(Ordering::Acquire)
    }
}
