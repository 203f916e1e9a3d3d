//! Moves bytes and events between descriptors, queues and the machine, each as far as it goes without waiting.

use std::collections::VecDeque;
use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

use super::attend::{Attending, Patience};
use super::backlog::Backlog;
use super::cancel::Listener;
use super::feed::{Fed, Feed};
use super::live::{Held, Offered, offer};
use super::machine::{Action, Event, Machine, Open, Verdict, Why};
use super::relay::{Passed, Relay, Typed};
use super::{Cause, Ended, How, Lent, NoEnd, Plan, Streams, Usage, Watch, Watched};
use crate::capture::{Caps, Chunk, Recorder, Stream};
use crate::launch::{Descriptor, Live};
use crate::os;

/// One end of a stream, or what tells the end of a process, and a way to be woken when it is ready.
pub(super) trait Port {
    /// Reads once into what the buffer has room for. Nothing is the end.
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut Vec<u8>) -> Poll<io::Result<usize>>;

    /// Reads what is there without being asked to wait; nothing is the end, and [`io::ErrorKind::WouldBlock`] is not yet.
    fn read_now(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize>;

    /// Writes once. Until it is ready it is asked again with the same bytes.
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Asks a process for its end, where that has something new to say.
    fn poll_end<W: Watched>(
        &mut self,
        cx: &mut Context<'_>,
        process: &mut W,
    ) -> Poll<io::Result<Result<Ended, NoEnd>>>;

    /// Makes room for a stream that is a flood.
    fn widen(&mut self);
}

/// What a port is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
    Status,
    /// As `Read`, but it may block where others read too.
    ReadShared,
    /// As `Write`, but it may block.
    WriteShared,
}

impl Direction {
    #[cfg(unix)]
    pub(super) const fn is_shared(self) -> bool {
        matches!(self, Self::ReadShared | Self::WriteShared)
    }
}

/// How far a step came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Everything waits; who is woken shall call again, or at the deadline.
    Idle,
    /// There is more to do, but others come first.
    Again,
    /// The run is over.
    Finished,
}

/// The first read of a stream. It doubles with every read that is filled.
const FIRST_READ: usize = 16 * 1024;

/// The most that is read at once.
const MAX_READ: usize = 64 * 1024;

/// Reads in a row, before others come first.
const ROUNDS: usize = 16;

/// After so many bytes a stream is taken for a flood, which is worth a larger pipe. Pipes of every command from the
/// start would use up what the kernel grants to one user.
const FLOOD: u64 = 1024 * 1024;

/// The most that is read of each stream when waiting is over: what the largest pipe can hold that a command can make,
/// and no more, since somebody may still write.
const LEFTOVER: usize = 1024 * 1024;

/// How often it is asked whether what is typed is for the command again.
#[cfg(unix)]
const DEAF: Duration = Duration::from_millis(250);

/// A process that is killed with everything it started, unless its end is known.
pub(super) struct Guard<'a, W: Watched> {
    process: &'a mut W,
    armed: bool,
}

impl<'a, W: Watched> Guard<'a, W> {
    pub(super) const fn new(process: &'a mut W) -> Self {
        Self {
            process,
            armed: true,
        }
    }
}

impl<W: Watched> Drop for Guard<'_, W> {
    fn drop(&mut self) {
        if self.armed {
            self.process.kill_tree();
        }
    }
}

/// One stream that is read.
struct Source<P> {
    stream: Stream,
    port: P,
    total: u64,
    /// What the queue had no room for. Nothing is read before it is taken.
    held: Option<Held>,
    /// Where it is passed on to.
    relay: Option<Relay<P>>,
}

/// A run in progress.
pub(super) struct Pump<'a, W: Watched, P> {
    process: Guard<'a, W>,
    status: Option<P>,
    sources: Vec<Source<P>>,
    feed: Option<Feed<P>>,
    typed: Option<Typed<P>>,
    attending: Option<Attending<P>>,
    keep: Option<Descriptor>,
    cancel: Option<Listener<'a>>,
    live: Live,
    machine: Machine,
    recorder: Recorder,
    buffer: Vec<u8>,
    read: usize,
    end: Option<Ended>,
    failure: Option<NoEnd>,
    verdict: Option<(Verdict, Duration)>,
    wall: Option<Duration>,
    drain: Duration,
    notes: Vec<String>,
}

/// What a plan consists of besides the cancellation, which is borrowed.
pub(super) struct Parts {
    pub(super) plan: Plan,
    pub(super) streams: Streams,
}

impl<'a, W: Watched, P: Port> Pump<'a, W, P> {
    /// A process that has just started. If a descriptor cannot be waited for, it is killed.
    pub(super) fn new(
        process: Guard<'a, W>,
        cancel: Option<Listener<'a>>,
        parts: Parts,
        port: impl Fn(Descriptor, Direction) -> io::Result<P>,
    ) -> Result<Self, String> {
        let open = |descriptor: Descriptor, direction| {
            os::never_block(&descriptor)
                .and_then(|()| port(descriptor, direction))
                .map_err(|error| cannot_watch(&error))
        };
        let Parts { plan, streams } = parts;
        let status = process
            .process
            .status()
            .try_clone_to_owned()
            .and_then(|descriptor| port(descriptor, Direction::Status))
            .map_err(|error| cannot_watch(&error))?;
        let lent = |lent: Lent, free, shared| {
            let direction = if lent.may_block { shared } else { free };
            port(lent.descriptor, direction).map_err(|error| cannot_watch(&error))
        };
        let terminal = streams.terminal.is_some();
        let mut sources = Vec::with_capacity(2);
        let outputs = [
            (
                Stream::Stdout,
                streams.terminal.or(streams.stdout),
                streams.terminal_to,
            ),
            (Stream::Stderr, streams.stderr, streams.stderr_to),
        ];
        for (stream, descriptor, to) in outputs {
            if let Some(descriptor) = descriptor {
                let relay = match to {
                    Some(to) => {
                        let may_block = to.may_block;
                        let port = lent(to, Direction::Write, Direction::WriteShared)?;
                        Some(Relay::new(port, may_block))
                    }
                    None => None,
                };
                sources.push(Source {
                    stream,
                    port: open(descriptor, Direction::Read)?,
                    total: 0,
                    held: None,
                    relay,
                });
            }
        }
        let typed = match streams.typed {
            Some((from, to)) => Some(Typed::new(
                lent(from, Direction::Read, Direction::ReadShared)?,
                open(to, Direction::Write)?,
            )),
            None => None,
        };
        let feed = match streams.stdin {
            Some((descriptor, source)) => Some(Feed::new(
                open(descriptor, Direction::Write)?,
                source,
                terminal,
            )),
            None => None,
        };
        let has = |wanted| {
            sources
                .iter()
                .any(|source: &Source<P>| source.stream == wanted)
        };
        let streams_open = Open {
            stdout: has(Stream::Stdout),
            stderr: has(Stream::Stderr),
        };
        let attending = match plan.attendance {
            Some(attendance) => {
                let bell = |bell| open(bell, Direction::Read);
                Some(Attending::begin(attendance, bell)?)
            }
            None => None,
        };
        Ok(Self {
            typed,
            attending,
            keep: streams.keep,
            status: Some(status),
            machine: Machine::new(plan.wall, plan.timing, streams_open),
            sources,
            feed,
            cancel,
            live: plan.live,
            recorder: Recorder::new(plan.caps),
            buffer: Vec::new(),
            read: FIRST_READ,
            end: None,
            failure: None,
            verdict: None,
            wall: plan.wall,
            drain: plan.timing.drain,
            notes: Vec::new(),
            process,
        })
    }

    /// When a step is due even if nobody was woken.
    pub(super) const fn deadline(&self) -> Option<Duration> {
        self.machine.deadline()
    }

    /// The descriptors that are waited for.
    #[cfg(unix)]
    pub(super) fn ports(&mut self) -> impl Iterator<Item = &mut P> {
        self.status
            .iter_mut()
            .chain(self.sources.iter_mut().flat_map(|source| {
                let relay = source.relay.as_mut().map(Relay::port);
                [&mut source.port].into_iter().chain(relay)
            }))
            .chain(self.feed.iter_mut().map(Feed::port))
            .chain(self.typed.iter_mut().flat_map(Typed::ports))
            .chain(self.attending.iter_mut().filter_map(Attending::port))
    }

    /// How long is waited at most, besides.
    #[cfg(unix)]
    pub(super) fn pause(&self) -> Option<Duration> {
        let deaf = self.typed.as_ref().is_some_and(Typed::is_deaf);
        deaf.then_some(DEAF)
    }

    /// Does what can be done without waiting.
    pub(super) fn step(&mut self, cx: &mut Context<'_>, clock: impl Fn() -> Duration) -> Step {
        for _ in 0..ROUNDS {
            let now = clock();
            self.look(cx, now);
            if self.verdict.is_some() {
                return Step::Finished;
            }
            let mut moved = self.read(cx, now);
            moved |= self.write(cx);
            if self.verdict.is_some() {
                return Step::Finished;
            }
            if !moved {
                return Step::Idle;
            }
        }
        Step::Again
    }

    /// Cancel, end and time, which never wait for bytes.
    fn look(&mut self, cx: &mut Context<'_>, now: Duration) {
        if let Some(listener) = &mut self.cancel
            && listener.poll(cx).is_ready()
        {
            self.cancel = None;
            self.tell(now, Event::CancelRequested);
        }
        let busy = |source: &Source<P>| source.relay.as_ref().is_some_and(Relay::is_busy);
        if self.sources.iter().any(busy) {
            self.machine.hold(now);
        }
        let attended = self.attending.as_mut();
        if attended.and_then(|attending| attending.turn(cx)) == Some(Patience::Leave)
            && self.status.is_none()
        {
            let actions = self.machine.hurry();
            self.act(now, actions);
        }
        let Some(status) = &mut self.status else {
            return self.tell(now, Event::Tick);
        };
        let event = match status.poll_end(cx, self.process.process) {
            Poll::Pending => Event::Tick,
            Poll::Ready(Ok(Ok(end))) => {
                self.end = Some(end);
                Event::Ended
            }
            Poll::Ready(Ok(Err(failure))) => {
                self.failure = Some(failure);
                Event::Lost
            }
            Poll::Ready(Err(error)) => {
                self.failure = Some(NoEnd::Lost(cannot_watch(&error)));
                Event::Lost
            }
        };
        if event != Event::Tick {
            self.status = None;
            self.keep = None;
        }
        self.tell(now, event);
    }

    /// One read of each stream; whether any moved.
    fn read(&mut self, cx: &mut Context<'_>, now: Duration) -> bool {
        let mut moved = false;
        let mut closed = [None, None];
        for (source, closed) in self.sources.iter_mut().zip(&mut closed) {
            if let Some(held) = &mut source.held {
                if held.poll(&mut self.live, cx).is_pending() {
                    continue;
                }
                source.held = None;
            }
            match source.pass_on(cx) {
                Passed::All => {}
                Passed::Some => {
                    moved = true;
                    continue;
                }
                Passed::Waits => continue,
                Passed::Broken if source.stream == Stream::Stderr => {
                    // Whoever writes to it learns what we learnt.
                    *closed = Some(source.stream);
                    moved = true;
                    continue;
                }
                Passed::Broken => {
                    // The caller's terminal is gone. What comes yet is for nobody.
                    source.relay = None;
                    self.process.process.signal(os::HANG_UP);
                }
            }
            // What somebody else took away, or took over, is got again.
            if self.buffer.capacity() < self.read {
                self.buffer = Vec::with_capacity(self.read);
            }
            let many = match source.port.poll_read(cx, &mut self.buffer) {
                Poll::Pending => continue,
                Poll::Ready(Ok(many)) => many,
                Poll::Ready(Err(error)) => {
                    self.notes
                        .push(format!("reading its output failed: {error}"));
                    0
                }
            };
            moved = true;
            if many == 0 {
                *closed = Some(source.stream);
                continue;
            }
            if let Some(relay) = &mut source.relay {
                relay.push(&self.buffer);
            }
            if many >= self.read && self.read < MAX_READ {
                self.read *= 2;
            }
            source.count(many);
            self.recorder.push(source.stream, &self.buffer);
            match offer(&mut self.live, source.stream, &mut self.buffer) {
                Offered::Done => {}
                Offered::Full(held) => source.held = Some(held),
            }
        }
        for stream in closed.into_iter().flatten() {
            self.sources.retain(|source| source.stream != stream);
            self.tell(now, Event::StreamClosed(stream));
        }
        moved
    }

    /// One write of the input; whether it moved.
    fn write(&mut self, cx: &mut Context<'_>) -> bool {
        let attending = self.attending.as_ref();
        match self.typed.as_mut().map(|typed| typed.turn(cx, attending)) {
            None | Some(Fed::Waits) => {}
            Some(Fed::Moved) => return true,
            Some(Fed::Over) => self.typed = None,
        }
        match self.feed.as_mut().map(|feed| feed.turn(cx)) {
            None | Some(Fed::Waits) => false,
            Some(Fed::Moved) => true,
            Some(Fed::Over) => {
                // The command sees the end of its input.
                self.feed = None;
                false
            }
        }
    }

    fn tell(&mut self, now: Duration, event: Event) {
        let actions = self.machine.on(now, event);
        self.act(now, actions);
    }

    fn act(&mut self, now: Duration, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Terminate => self.process.process.signal(os::TERMINATE),
                Action::Continue => self.process.process.signal(os::CONTINUE),
                Action::KillTree => self.process.process.kill_tree(),
                Action::Finish(verdict) => self.verdict = Some((verdict, now)),
            }
        }
    }

    /// What came of it. Called after [`Step::Finished`].
    pub(super) fn finish(mut self, now: Duration) -> (Watch, Backlog<'a>) {
        // Whoever writes to the input learns that nobody reads.
        self.feed = None;
        self.typed = None;
        self.attending = None;
        let (verdict, duration) = self.verdict.take().unwrap_or((
            Verdict {
                why: Why::Lost,
                end_seen: false,
                streams_closed: false,
            },
            now,
        ));
        self.process.armed = false;
        let (held, all_closed) = self.sweep();
        let mut notes = std::mem::take(&mut self.notes);
        // What is lost or was not started says so itself.
        if !verdict.end_seen && verdict.why != Why::Lost {
            notes.push("it was killed, but its end was not reported in time".to_owned());
        }
        if !all_closed {
            notes.push(
                "something that it started still held its output when waiting for it was over"
                    .to_owned(),
            );
        }
        let cause = match (verdict.why, self.end) {
            (Why::TimedOut, _) => Cause::TimedOut(self.wall.unwrap_or(duration)),
            (Why::Cancelled, _) => Cause::Cancelled,
            (Why::Ended, Some(end)) => match end.how {
                How::Code(code) => Cause::Exited(code),
                How::Signal(signal) => Cause::Signaled(signal),
                How::Limit(limit) => Cause::Limit(limit),
            },
            (Why::Lost | Why::Ended, _) => match self.failure.take() {
                Some(NoEnd::NotStarted(failure)) => Cause::Failed(failure),
                Some(NoEnd::Lost(why)) => Cause::Lost(why),
                None => Cause::Lost("the end of the command was not reported".to_owned()),
            },
        };
        let backlog = Backlog {
            live: std::mem::take(&mut self.live),
            held,
            // Who looks on has time again, but not after a kill.
            patience: self.drain,
            until: (verdict.why == Why::Ended).then(|| now.saturating_add(self.drain)),
            cancel: self.cancel.take(),
        };
        let recorder = std::mem::replace(&mut self.recorder, Recorder::new(Caps::new(0, 0)));
        let watch = Watch {
            cause,
            output: recorder.finish(),
            usage: self.end.map_or_else(Usage::default, |end| end.usage),
            notes,
            duration,
        };
        (watch, backlog)
    }

    /// Reads what is left in the streams when waiting is over: what was written before the end is not lost because a
    /// stream was not closed, or because nobody took the live output. Tells whether every stream was at its end.
    fn sweep(&mut self) -> (VecDeque<Held>, bool) {
        let mut backlog = VecDeque::new();
        let mut all_closed = true;
        for source in &mut self.sources {
            backlog.extend(source.held.take());
            let mut left = LEFTOVER;
            let closed = loop {
                if left == 0 {
                    break false;
                }
                let mut bytes = Vec::with_capacity(left.min(MAX_READ));
                match source.port.read_now(&mut bytes) {
                    Ok(0) => break true,
                    Ok(many) => left = left.saturating_sub(many),
                    Err(_) => break false,
                }
                self.recorder.push(source.stream, &bytes);
                // Behind what waits, even if there is room by now: a stream keeps its order.
                if matches!(self.live, Live::Queue(_)) && !backlog.is_empty() {
                    backlog.push_back(Held::new(Chunk::new(source.stream, bytes)));
                } else if let Offered::Full(held) = offer(&mut self.live, source.stream, &mut bytes)
                {
                    backlog.push_back(held);
                }
            };
            all_closed &= closed;
        }
        (backlog, all_closed)
    }
}

impl<P: Port> Source<P> {
    /// Passes on what was read.
    fn pass_on(&mut self, cx: &mut Context<'_>) -> Passed {
        match &mut self.relay {
            Some(relay) => relay.turn(cx),
            None => Passed::All,
        }
    }

    /// Counts bytes, and gives a flood more room.
    fn count(&mut self, many: usize) {
        let before = self.total;
        self.total = before.saturating_add(many as u64);
        if before < FLOOD && self.total >= FLOOD {
            self.port.widen();
        }
    }
}

fn cannot_watch(error: &io::Error) -> String {
    format!("the command was killed, since it could not be waited for: {error}")
}
