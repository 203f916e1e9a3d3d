//! A waker that a thread can wait for, whoever else parks it.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::Wake;
use std::time::Duration;

/// Rings once for any number of wakes.
#[derive(Debug, Default)]
pub(super) struct Bell {
    rang: Mutex<bool>,
    changed: Condvar,
}

impl Bell {
    /// Waits for a ring, which may have come before, or for so long.
    pub(super) fn wait(&self, until: Option<Duration>) {
        let rang = self.rang.lock().unwrap_or_else(PoisonError::into_inner);
        let silent = |rang: &mut bool| !*rang;
        let mut rang = match until {
            Some(until) => {
                let waited = self.changed.wait_timeout_while(rang, until, silent);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => self
                .changed
                .wait_while(rang, silent)
                .unwrap_or_else(PoisonError::into_inner),
        };
        *rang = false;
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        *self.rang.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
    }
}
