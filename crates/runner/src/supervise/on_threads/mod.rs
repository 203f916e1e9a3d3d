//! Driving a run on Windows, whose pipes block: a thread for each stream, and the thread pool of the system for the end of
//! the process. What wakes is the same for a thread and for a runtime, so `on_tokio` drives these ports as well.
//!
//! No thread outlives its port: one that hangs in a pipe which a grandchild keeps open is called back.

mod bell;
mod reader;
mod sys;
mod writer;

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::pump::{Direction, Guard, Parts, Port, Pump, Step};
use super::{Ended, NoEnd, Plan, Streams, Watch, Watched};
use crate::launch::Descriptor;
use bell::Bell;
use reader::Reader;
use sys::EndWatch;
use writer::Writer;

/// A handle, and what waits for it.
pub(super) enum Threaded {
    Read(Reader),
    Write(Writer),
    Status(EndWatch),
}

impl Threaded {
    pub(super) fn new(handle: Descriptor, direction: Direction) -> io::Result<Self> {
        Ok(match direction {
            Direction::Read | Direction::ReadShared => Self::Read(Reader::new(handle)?),
            Direction::Write | Direction::WriteShared => Self::Write(Writer::new(handle)?),
            Direction::Status => Self::Status(EndWatch::new(handle)?),
        })
    }
}

fn wrong_way() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "the handle is for something else",
    )
}

impl Port for Threaded {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut Vec<u8>) -> Poll<io::Result<usize>> {
        match self {
            Self::Read(reader) => reader.poll(cx, buffer),
            Self::Write(_) | Self::Status(_) => Poll::Ready(Err(wrong_way())),
        }
    }

    fn read_now(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Self::Read(reader) => reader.now(buffer),
            Self::Write(_) | Self::Status(_) => Err(wrong_way()),
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Write(writer) => writer.poll(cx, bytes),
            Self::Read(_) | Self::Status(_) => Poll::Ready(Err(wrong_way())),
        }
    }

    fn poll_end<W: Watched>(
        &mut self,
        cx: &mut Context<'_>,
        process: &mut W,
    ) -> Poll<io::Result<Result<Ended, NoEnd>>> {
        let Self::Status(status) = self else {
            return Poll::Ready(Err(wrong_way()));
        };
        if status.poll(cx).is_pending() {
            return Poll::Pending;
        }
        match process.try_end() {
            Ok(Some(end)) => Poll::Ready(Ok(Ok(end))),
            Err(failure) => Poll::Ready(Ok(Err(failure))),
            // A handle that was signalled stays so. Whoever says otherwise will never be asked again.
            Ok(None) => Poll::Ready(Err(io::Error::other(
                "its end was announced and is not known",
            ))),
        }
    }

    fn widen(&mut self) {}
}

/// Watches a process until its run is over, on the calling thread.
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
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    let mut cx = Context::from_waker(&waker);
    let mut pump = match Pump::new(process, listener, Parts { plan, streams }, Threaded::new) {
        Ok(pump) => pump,
        Err(why) => return Watch::lost(why),
    };
    loop {
        match unconstrained(&mut cx, |cx| Poll::Ready(pump.step(cx, clock))) {
            Poll::Ready(Step::Finished) => break,
            Poll::Ready(Step::Idle) => bell.wait(remaining(pump.deadline(), clock())),
            Poll::Ready(Step::Again) | Poll::Pending => {}
        }
    }
    let (mut watch, mut backlog) = pump.finish(clock());
    while unconstrained(&mut cx, |cx| backlog.step(cx, clock())).is_pending() {
        bell.wait(remaining(backlog.deadline(), clock()));
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

#[cfg(test)]
mod tests;
