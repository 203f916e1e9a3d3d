//! Driving a run with poll(2): on the calling thread, without a runtime and without threads.

use std::future::{Future, poll_fn};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::descriptor::{Ready, WriteMode};
use super::doorbell::Doorbell;
use super::pump::{Direction, Guard, Parts, Pump, Step};
use super::{Plan, Streams, Watch, Watched};
use crate::launch::{Live, Stdin};

/// How long is slept at most where nothing can ring, because no descriptor was left for a doorbell.
const WITHOUT_DOORBELL: Duration = Duration::from_millis(20);

/// A descriptor with what the last poll(2) said about it.
struct Polled {
    descriptor: OwnedFd,
    direction: Direction,
    ready: bool,
    /// Whether somebody waits for it: only then it is polled.
    wanted: bool,
    mode: WriteMode,
}

impl Ready for Polled {
    fn poll_io<R>(
        &mut self,
        _: &mut Context<'_>,
        mut io: impl FnMut(BorrowedFd<'_>) -> rustix::io::Result<R>,
    ) -> Poll<rustix::io::Result<R>> {
        if self.ready {
            match io(self.descriptor.as_fd()) {
                Err(Errno::AGAIN) => self.ready = false,
                // poll(2) tells again.
                Err(Errno::INTR) => {}
                done => {
                    // Another one may block.
                    self.ready = !self.direction.is_shared();
                    return Poll::Ready(done);
                }
            }
        }
        self.wanted = true;
        Poll::Pending
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    fn mode(&self) -> WriteMode {
        self.mode
    }
}

/// Watches a process until its run is over, on the calling thread.
///
/// Queues and the cancellation wake it through a doorbell; no time is slept blindly.
pub(crate) fn drive_blocking<W: Watched>(
    process: &mut W,
    streams: Streams,
    mut plan: Plan,
) -> Watch {
    let process = Guard::new(process);
    let started = Instant::now();
    let clock = || started.elapsed();
    let cancel = std::mem::take(&mut plan.cancel);
    let listener = Some(cancel.listen()).filter(|listener| !listener.is_alone());
    let queues =
        matches!(plan.live, Live::Queue(_)) || matches!(streams.stdin, Some((_, Stdin::Queue(_))));
    let bell = Bell::new(queues || listener.is_some());
    let mut cx = Context::from_waker(&bell.waker);
    let port = |descriptor, direction| {
        Ok(Polled {
            descriptor,
            direction,
            ready: false,
            wanted: true,
            mode: WriteMode::of(direction),
        })
    };
    let mut pump = match Pump::new(process, listener, Parts { plan, streams }, port) {
        Ok(pump) => pump,
        Err(why) => return Watch::lost(why),
    };
    loop {
        for port in pump.ports() {
            port.wanted = false;
        }
        let until = match unconstrained(&mut cx, |cx| Poll::Ready(pump.step(cx, clock))) {
            Poll::Ready(Step::Finished) => break,
            Poll::Ready(Step::Idle) => remaining(pump.deadline(), clock())
                .into_iter()
                .chain(pump.pause())
                .min(),
            // Only to learn who else is ready.
            Poll::Ready(Step::Again) | Poll::Pending => Some(Duration::ZERO),
        };
        wait(pump.ports(), &bell, until);
    }
    let (mut watch, mut backlog) = pump.finish(clock());
    while unconstrained(&mut cx, |cx| backlog.step(cx, clock())).is_pending() {
        bell.wait(&mut Vec::new(), remaining(backlog.deadline(), clock()));
    }
    watch.notes.extend(backlog.note());
    watch
}

fn remaining(deadline: Option<Duration>, now: Duration) -> Option<Duration> {
    deadline.map(|deadline| deadline.saturating_sub(now))
}

/// Polls without tokio's budget for tasks: where the calling thread is a task's, nobody would ever fill it up again.
fn unconstrained<R>(
    cx: &mut Context<'_>,
    poll: impl FnMut(&mut Context<'_>) -> Poll<R>,
) -> Poll<R> {
    pin!(tokio::task::unconstrained(poll_fn(poll))).poll(cx)
}

/// Waits until a port is ready, the bell rings or the time is over, and says so at the ports.
fn wait<'p>(ports: impl Iterator<Item = &'p mut Polled>, bell: &Bell, until: Option<Duration>) {
    // Those that nobody waits for are left out, since poll(2) tells of hang-ups without being asked, again and again.
    let mut ports: Vec<&mut Polled> = ports.filter(|port| port.wanted).collect();
    let mut polled: Vec<PollFd<'_>> = ports
        .iter()
        .map(|port| {
            let wanted = match port.direction {
                Direction::Read | Direction::ReadShared | Direction::Status => PollFlags::IN,
                Direction::Write | Direction::WriteShared => PollFlags::OUT,
            };
            PollFd::from_borrowed_fd(port.descriptor.as_fd(), wanted)
        })
        .collect();
    bell.wait(&mut polled, until);
    let seen: Vec<PollFlags> = polled.iter().map(PollFd::revents).collect();
    for (port, seen) in ports.iter_mut().zip(seen) {
        // A hang-up or an error is told by the next read or write.
        port.ready |= !seen.is_empty();
    }
}

/// What wakes a thread that waits in poll(2).
struct Bell {
    doorbell: Option<Arc<Doorbell>>,
    waker: Waker,
    /// Whether there is somebody who would ring, but no doorbell.
    deaf: bool,
}

impl Bell {
    fn new(wanted: bool) -> Self {
        let doorbell = wanted.then(|| Doorbell::new().ok().map(Arc::new)).flatten();
        Self {
            waker: doorbell
                .clone()
                .map_or_else(|| Waker::noop().clone(), Waker::from),
            deaf: wanted && doorbell.is_none(),
            doorbell,
        }
    }

    /// Waits for these, for a ring, or for so long.
    fn wait<'b>(&'b self, polled: &mut Vec<PollFd<'b>>, until: Option<Duration>) {
        let until = match until {
            Some(until) if self.deaf => Some(until.min(WITHOUT_DOORBELL)),
            None if self.deaf => Some(WITHOUT_DOORBELL),
            until => until,
        };
        if let Some(doorbell) = &self.doorbell {
            polled.push(PollFd::from_borrowed_fd(
                doorbell.descriptor(),
                PollFlags::IN,
            ));
        }
        // A time that the kernel cannot count is for ever.
        let timeout = until.and_then(|until| Timespec::try_from(until).ok());
        match poll(polled, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // The kernel is out of memory, which passes or does not; meanwhile the run is looked at now and then.
            Err(_) => std::thread::sleep(WITHOUT_DOORBELL),
        }
        if let Some(doorbell) = &self.doorbell
            && polled.pop().is_some_and(|bell| !bell.revents().is_empty())
        {
            doorbell.hush();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_doorbell_it_looks_now_and_then() {
        let bell = Bell {
            doorbell: None,
            waker: Waker::noop().clone(),
            deaf: true,
        };
        bell.wait(&mut Vec::new(), None);
        bell.wait(&mut Vec::new(), Some(Duration::from_secs(3600)));
    }

    #[test]
    fn a_ring_from_before_is_heard_once() {
        let bell = Bell::new(true);
        bell.waker.wake_by_ref();
        bell.waker.wake_by_ref();
        bell.wait(&mut Vec::new(), None);
        let started = Instant::now();
        bell.wait(&mut Vec::new(), Some(Duration::from_millis(30)));
        assert!(started.elapsed() >= Duration::from_millis(30));
    }

    #[test]
    fn a_time_beyond_counting_is_for_ever() {
        let bell = Bell::new(true);
        bell.waker.wake_by_ref();
        bell.wait(&mut Vec::new(), Some(Duration::MAX));
    }
}
