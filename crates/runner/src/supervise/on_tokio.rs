//! Driving a run on a tokio runtime: ports that wake, and a timer; no process feature, no signals.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

#[cfg(windows)]
use super::on_threads::Threaded as Registered;
use super::pump::{Guard, Parts, Pump, Step};
#[cfg(unix)]
use super::registered::Registered;
use super::{Plan, Streams, Watch, Watched};

/// Watches a process until its run is over. A future that is dropped before kills it, with everything it started, even
/// if it was never polled.
///
/// It needs a tokio runtime with I/O and time; without a runtime the process is killed, and the outcome says so.
pub(crate) fn drive_tokio<W: Watched>(
    process: &mut W,
    streams: Streams,
    plan: Plan,
) -> impl Future<Output = Watch> {
    drive(Guard::new(process), streams, plan)
}

async fn drive<W: Watched>(process: Guard<'_, W>, streams: Streams, mut plan: Plan) -> Watch {
    let started = Instant::now();
    let clock = || started.elapsed();
    let cancel = std::mem::take(&mut plan.cancel);
    let listener = Some(cancel.listen()).filter(|listener| !listener.is_alone());
    if tokio::runtime::Handle::try_current().is_err() {
        let why = "the command was killed, since there is no tokio runtime to wait for it in; \
                   enter one, or use the blocking driver";
        return Watch::lost(why.to_owned());
    }
    let parts = Parts { plan, streams };
    let mut pump = match Pump::new(process, listener, parts, Registered::new) {
        Ok(pump) => pump,
        Err(why) => return Watch::lost(why),
    };
    let mut alarm = Alarm::default();
    poll_fn(|cx| {
        loop {
            match pump.step(cx, clock) {
                Step::Finished => return Poll::Ready(()),
                Step::Again => {
                    // Other tasks come first.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Step::Idle => ready!(alarm.poll(cx, started, pump.deadline())),
            }
        }
    })
    .await;
    let (mut watch, mut backlog) = pump.finish(clock());
    poll_fn(|cx| {
        while backlog.step(cx, clock()).is_pending() {
            ready!(alarm.poll(cx, started, backlog.deadline()));
        }
        Poll::Ready(())
    })
    .await;
    watch.notes.extend(backlog.note());
    watch
}

/// A timer that is set again only where the time changes.
#[derive(Default)]
struct Alarm {
    set: Option<(Duration, Pin<Box<Sleep>>)>,
}

impl Alarm {
    /// Ready at the deadline; never without one.
    fn poll(&mut self, cx: &mut Context<'_>, since: Instant, at: Option<Duration>) -> Poll<()> {
        // A time that the clock cannot count never comes.
        let Some((at, when)) = at.and_then(|at| Some((at, since.checked_add(at)?))) else {
            self.set = None;
            return Poll::Pending;
        };
        let sleep = match &mut self.set {
            Some((set, sleep)) => {
                if *set != at {
                    *set = at;
                    sleep.as_mut().reset(when);
                }
                sleep
            }
            unset => &mut unset.insert((at, Box::pin(sleep_until(when)))).1,
        };
        sleep.as_mut().poll(cx)
    }
}
