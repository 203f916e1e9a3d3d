//! What is watched, and what came of it.

use std::time::Duration;

use palisade_policy::LimitKind;

use super::attend::Attendance;
use super::{Cancellation, Timing, Usage};
use crate::capture::{Caps, Output};
use crate::launch::{Descriptor, Live, Stdin};
use crate::outcome::SetupFailure;

/// Our ends of the streams of a process. What is not here goes elsewhere, untouched.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// Where its input is written, and what.
    pub(crate) stdin: Option<(Descriptor, Stdin)>,
    /// Where its output is read.
    pub(crate) stdout: Option<Descriptor>,
    /// Where its errors are read.
    pub(crate) stderr: Option<Descriptor>,
    /// The master of its terminal, read as its output. Its input, if any, is another descriptor of the same master.
    pub(crate) terminal: Option<Descriptor>,
    /// Where what its terminal shows is passed on to.
    pub(crate) terminal_to: Option<Lent>,
    /// Where its errors are passed on to.
    pub(crate) stderr_to: Option<Lent>,
    /// Where somebody types, and another descriptor of the terminal's master that it is for.
    pub(crate) typed: Option<(Lent, Descriptor)>,
    /// A descriptor of the command's side of its terminal. While it is open, a command that closes all of its own can
    /// still come back to its terminal.
    pub(crate) keep: Option<Descriptor>,
}

/// A descriptor that is open for others as well, so that its flags are not ours to change.
#[derive(Debug)]
pub(crate) struct Lent {
    pub(crate) descriptor: Descriptor,
    /// Whether reading or writing may block, though it is ready: then only a little is tried at a time.
    pub(crate) may_block: bool,
}

/// How a process is watched.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// How much is kept of each stream.
    pub(crate) caps: Caps,
    /// Who gets output while it runs.
    pub(crate) live: Live,
    /// How long it may run.
    pub(crate) wall: Option<Duration>,
    /// How it is ended.
    pub(crate) timing: Timing,
    /// Who can end it.
    pub(crate) cancel: Cancellation,
    /// Who attends to it.
    pub(crate) attendance: Option<Attendance>,
}

/// A run that is over.
#[derive(Debug)]
pub(crate) struct Watch {
    /// How it ended.
    pub(crate) cause: Cause,
    /// What it wrote.
    pub(crate) output: Output,
    /// What it used; zero where its end was not seen.
    pub(crate) usage: Usage,
    /// What is worth knowing besides.
    pub(crate) notes: Vec<String>,
    /// How long it was watched.
    pub(crate) duration: Duration,
}

impl Watch {
    /// Of a process that could not be watched.
    pub(super) fn lost(why: String) -> Self {
        Self {
            cause: Cause::Lost(why),
            output: Output::default(),
            usage: Usage::default(),
            notes: Vec::new(),
            duration: Duration::ZERO,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that nobody here sent.
    Signaled(i32),
    /// It was over a limit.
    Limit(LimitKind),
    /// It took longer than this.
    TimedOut(Duration),
    /// Somebody cancelled it.
    Cancelled,
    /// It was not started.
    Failed(SetupFailure),
    /// It could not be watched any more; it was killed.
    Lost(String),
}
