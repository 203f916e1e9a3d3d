//! The rules about time and ends: from events to actions, without a clock and without descriptors.
//!
//! ```text
//!            time is up, cancel              grace is over
//!  Running ----------------------> Terminating -----------> Killing
//!     | ended                            | ended               | ended, or too long
//!     v                                  v                     v
//!  Draining <---------------------- (kill the tree) <----------+
//!     | streams closed, or drain time is over
//!     v
//!    Done
//! ```
//!
//! Every event carries the time at which it was seen, and time is looked at before the event: an end that is seen when
//! the time was up is a timeout, whoever came first in the kernel.

use std::time::Duration;

use super::Timing;
use crate::capture::Stream;

/// How long the end may take to be reported after the tree was killed.
pub(crate) const KILL_BOUND: Duration = Duration::from_secs(2);

/// What was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Nothing but that time went by.
    Tick,
    /// A stream has no writer any more.
    StreamClosed(Stream),
    /// The process ended.
    Ended,
    /// The process cannot be watched any more.
    Lost,
    /// Somebody cancelled.
    CancelRequested,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Ask the process group to end.
    Terminate,
    /// Let a stopped process go on, so that it can follow.
    Continue,
    /// End everything that the command started.
    KillTree,
    /// Stop waiting.
    Finish(Verdict),
}

/// How it ended, as far as time and events tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Why.
    pub(crate) why: Why,
    /// Whether the end of the process was seen.
    pub(crate) end_seen: bool,
    /// Whether every stream was read to its end.
    pub(crate) streams_closed: bool,
}

/// Why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// By itself, or by what its status says.
    Ended,
    /// Its time was up.
    TimedOut,
    /// Somebody cancelled it.
    Cancelled,
    /// It could not be watched any more.
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    Terminating {
        why: Why,
        until: Duration,
    },
    Killing {
        why: Why,
        until: Duration,
    },
    Draining {
        why: Why,
        end_seen: bool,
        until: Duration,
    },
    Done,
}

/// Which streams have a writer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
}

impl Open {
    const fn any(self) -> bool {
        self.stdout || self.stderr
    }
}

/// A run, as the rules see it.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    state: State,
    open: Open,
    wall: Option<Duration>,
    timing: Timing,
}

impl Machine {
    /// A process that runs with these streams since time zero.
    pub(crate) const fn new(wall: Option<Duration>, timing: Timing, open: Open) -> Self {
        Self {
            state: State::Running,
            open,
            wall,
            timing,
        }
    }

    /// When it wants a [`Event::Tick`] at the latest.
    pub(crate) const fn deadline(&self) -> Option<Duration> {
        match self.state {
            State::Running => self.wall,
            State::Terminating { until, .. }
            | State::Killing { until, .. }
            | State::Draining { until, .. } => Some(until),
            State::Done => None,
        }
    }

    /// Whoever takes the output of a command that has ended by itself is slow: that is no reason to give up.
    pub(crate) const fn hold(&mut self, now: Duration) {
        if let State::Draining {
            why: Why::Ended,
            until,
            ..
        } = &mut self.state
        {
            *until = now.saturating_add(self.timing.drain);
        }
    }

    /// Nobody wants to wait any longer for what a command left that has ended.
    pub(crate) fn hurry(&mut self) -> Vec<Action> {
        let mut actions = Vec::new();
        if let State::Draining { why, end_seen, .. } = self.state {
            self.finish(why, end_seen, &mut actions);
        }
        actions
    }

    /// What an event that was seen at this time means, in this order.
    pub(crate) fn on(&mut self, now: Duration, event: Event) -> Vec<Action> {
        let mut actions = Vec::new();
        self.time(now, &mut actions);
        match event {
            Event::Tick => {}
            Event::StreamClosed(Stream::Stdout) => self.open.stdout = false,
            Event::StreamClosed(Stream::Stderr) => self.open.stderr = false,
            Event::CancelRequested => {
                if self.state == State::Running {
                    self.terminate(now, Why::Cancelled, &mut actions);
                }
            }
            Event::Ended => self.end(now, true, &mut actions),
            Event::Lost => self.end(now, false, &mut actions),
        }
        if let State::Draining { why, end_seen, .. } = self.state
            && !self.open.any()
        {
            self.finish(why, end_seen, &mut actions);
        }
        actions
    }

    /// What the time alone means.
    fn time(&mut self, now: Duration, actions: &mut Vec<Action>) {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return;
        }
        match self.state {
            State::Running => self.terminate(now, Why::TimedOut, actions),
            State::Terminating { why, .. } => self.kill(now, why, actions),
            State::Killing { why, .. } => self.finish(why, false, actions),
            State::Draining { why, end_seen, .. } => self.finish(why, end_seen, actions),
            State::Done => {}
        }
    }

    fn terminate(&mut self, now: Duration, why: Why, actions: &mut Vec<Action>) {
        if self.timing.grace.is_zero() {
            self.kill(now, why, actions);
            return;
        }
        // A stopped process takes the first signal when it goes on.
        actions.extend([Action::Terminate, Action::Continue]);
        let until = now.saturating_add(self.timing.grace);
        self.state = State::Terminating { why, until };
    }

    fn kill(&mut self, now: Duration, why: Why, actions: &mut Vec<Action>) {
        actions.push(Action::KillTree);
        let until = now.saturating_add(KILL_BOUND);
        self.state = State::Killing { why, until };
    }

    /// The process ended, or nobody can tell any more.
    fn end(&mut self, now: Duration, seen: bool, actions: &mut Vec<Action>) {
        let why = match self.state {
            State::Running if seen => Why::Ended,
            State::Running => {
                actions.push(Action::KillTree);
                Why::Lost
            }
            State::Terminating { why, .. } => {
                // The leader obeyed. Whatever it left behind was to end as well.
                actions.push(Action::KillTree);
                why
            }
            State::Killing { why, .. } => why,
            State::Draining { .. } | State::Done => return,
        };
        let until = now.saturating_add(self.timing.drain);
        self.state = State::Draining {
            why,
            end_seen: seen,
            until,
        };
    }

    fn finish(&mut self, why: Why, end_seen: bool, actions: &mut Vec<Action>) {
        self.state = State::Done;
        actions.push(Action::Finish(Verdict {
            why,
            end_seen,
            streams_closed: !self.open.any(),
        }));
    }
}

#[cfg(test)]
mod tests;
