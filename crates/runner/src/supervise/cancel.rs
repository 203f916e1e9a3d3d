//! A cancellation that every way of waiting can wait for.
//!
//! It wakes wakers and has no descriptor: a run under tokio waits with its task, one under poll(2) with its doorbell, a
//! question to a person with whatever drives that future. One wish can be shared by any number of runs.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Somebody's wish that a run end. Clones are the same wish.
///
/// It can be made on any thread, but not in a signal handler, since it takes a lock: wait for the signal in a thread.
#[derive(Clone, Debug, Default)]
pub struct Cancellation {
    wish: Arc<Wish>,
}

#[derive(Debug, Default)]
struct Wish {
    made: AtomicBool,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// The last place that was given.
    last: u64,
    wakers: BTreeMap<u64, Waker>,
}

impl Cancellation {
    /// A wish that nobody has made yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the wish.
    pub fn cancel(&self) {
        self.wish.made.store(true, Ordering::SeqCst);
        let wakers = std::mem::take(&mut self.wish.waiting().wakers);
        // Outside the lock: a waker may run code that asks for it.
        for waker in wakers.into_values() {
            waker.wake();
        }
    }

    /// Whether it was made.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.wish.made.load(Ordering::SeqCst)
    }

    /// Waits until it is made. Needs no runtime.
    pub async fn cancelled(&self) {
        let mut listener = self.listen();
        poll_fn(|cx| listener.poll(cx)).await;
    }

    pub(crate) const fn listen(&self) -> Listener<'_> {
        Listener {
            wish: &self.wish,
            place: None,
        }
    }
}

impl Wish {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Nothing under the lock leaves it half done.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who waits. Its place is given up when it is dropped.
#[derive(Debug)]
pub(crate) struct Listener<'a> {
    wish: &'a Arc<Wish>,
    place: Option<(u64, Waker)>,
}

impl Listener<'_> {
    /// Ready once the wish was made.
    pub(crate) fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        if self.wish.made.load(Ordering::SeqCst) {
            return Poll::Ready(());
        }
        if self
            .place
            .as_ref()
            .is_some_and(|(_, waker)| waker.will_wake(cx.waker()))
        {
            return Poll::Pending;
        }
        let mut waiting = self.wish.waiting();
        let number = if let Some((number, _)) = self.place {
            number
        } else {
            waiting.last = waiting.last.wrapping_add(1);
            waiting.last
        };
        waiting.wakers.insert(number, cx.waker().clone());
        drop(waiting);
        self.place = Some((number, cx.waker().clone()));
        // The wish may have been made before the place was taken.
        if self.wish.made.load(Ordering::SeqCst) {
            return Poll::Ready(());
        }
        Poll::Pending
    }

    /// Whether nobody made the wish and nobody else holds it, so that it can never be made.
    pub(crate) fn is_alone(&self) -> bool {
        // In this order: whoever makes it holds it until then.
        Arc::strong_count(self.wish) == 1 && !self.wish.made.load(Ordering::SeqCst)
    }
}

impl Drop for Listener<'_> {
    fn drop(&mut self) {
        if let Some((number, _)) = self.place {
            let waker = self.wish.waiting().wakers.remove(&number);
            drop(waker);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::block_on::block_on;
    use super::*;

    #[test]
    fn a_wish_wakes_everybody_who_waits() {
        let cancel = Cancellation::new();
        std::thread::scope(|scope| {
            let waiters: Vec<_> = (0..8)
                .map(|_| {
                    let cancel = cancel.clone();
                    scope.spawn(move || block_on(cancel.cancelled()))
                })
                .collect();
            while cancel.wish.waiting().wakers.len() < 8 {
                std::thread::yield_now();
            }
            assert!(!cancel.is_cancelled());
            cancel.cancel();
            for waiter in waiters {
                waiter.join().unwrap();
            }
        });
        assert!(cancel.is_cancelled());
        block_on(cancel.cancelled());
    }

    #[test]
    fn a_wish_outlives_whoever_made_it() {
        let cancel = Cancellation::new();
        let theirs = cancel.clone();
        assert!(!cancel.listen().is_alone());
        theirs.cancel();
        drop(theirs);
        assert!(!cancel.listen().is_alone());
        block_on(cancel.cancelled());
    }

    #[test]
    fn who_stops_waiting_leaves_nothing_behind() {
        let cancel = Cancellation::new();
        let mut listener = cancel.listen();
        assert!(listener.is_alone());
        let cx = Context::from_waker(Waker::noop());
        assert!(listener.poll(&cx).is_pending());
        assert!(listener.poll(&cx).is_pending());
        assert_eq!(cancel.wish.waiting().wakers.len(), 1);
        drop(listener);
        assert!(cancel.wish.waiting().wakers.is_empty());
    }
}
