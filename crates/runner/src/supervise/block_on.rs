//! Waiting for a future on the calling thread, without a runtime.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Wakes a thread that parks.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls a future on this thread until it is ready; the thread sleeps in between.
///
/// There is no reactor and no timer: futures of a runtime's sockets and clocks do not work in here.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        // Returns at once if the wake came before it, and sometimes for no reason; then the future is polled in vain.
        thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_for_another_thread() {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let other = thread::spawn(move || {
            thread::yield_now();
            sender.send(42)
        });
        assert_eq!(block_on(receiver), Ok(42));
        assert_eq!(other.join().unwrap(), Ok(()));
    }

    #[test]
    fn a_wake_before_the_park_is_not_lost() {
        let mut polled = 0;
        let answer = block_on(std::future::poll_fn(|cx| {
            polled += 1;
            cx.waker().wake_by_ref();
            if polled < 1000 {
                Poll::Pending
            } else {
                Poll::Ready(polled)
            }
        }));
        assert_eq!(answer, 1000);
    }
}
