//! Passing on what was read: output to where the caller has it, and what is typed to the command.

use std::task::{Context, Poll};

use super::attend::Attending;
use super::feed::Fed;
use super::pump::Port;

/// What is written at once to a descriptor that may block: a pipe that is ready takes this much.
pub(super) const PIECE: usize = 512;

/// The most that is written at once elsewhere.
const WRITE: usize = 64 * 1024;

/// The most that is read at once of what somebody types.
const TYPED: usize = 4096;

/// Bytes on their way to a descriptor. No more are read before these are taken.
pub(super) struct Relay<P> {
    port: P,
    piece: usize,
    bytes: Vec<u8>,
    written: usize,
}

/// How a relay stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passed {
    /// There is nothing to pass on.
    All,
    /// Some of it was taken, and there is more.
    Some,
    /// It must be taken first.
    Waits,
    /// Nobody takes it any more.
    Broken,
}

impl<P: Port> Relay<P> {
    /// To a port that may block, or to one that never does.
    pub(super) const fn new(port: P, may_block: bool) -> Self {
        Self {
            port,
            piece: if may_block { PIECE } else { WRITE },
            bytes: Vec::new(),
            written: 0,
        }
    }

    #[cfg(unix)]
    pub(super) const fn port(&mut self) -> &mut P {
        &mut self.port
    }

    /// Whether something is on its way.
    pub(super) fn is_busy(&self) -> bool {
        self.written < self.bytes.len()
    }

    /// Adds bytes to the end.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if !self.is_busy() {
            self.bytes.clear();
            self.written = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes once.
    pub(super) fn turn(&mut self, cx: &mut Context<'_>) -> Passed {
        let rest = self.bytes.get(self.written..).unwrap_or_default();
        if rest.is_empty() {
            return Passed::All;
        }
        let piece = rest.get(..self.piece).unwrap_or(rest);
        match self.port.poll_write(cx, piece) {
            Poll::Pending => Passed::Waits,
            Poll::Ready(Ok(many)) => {
                self.written += many;
                match self.is_busy() {
                    true => Passed::Some,
                    false => Passed::All,
                }
            }
            Poll::Ready(Err(_)) => Passed::Broken,
        }
    }
}

/// What somebody types, on its way to the terminal of the command.
pub(super) struct Typed<P> {
    from: P,
    to: Relay<P>,
    deaf: bool,
}

impl<P: Port> Typed<P> {
    pub(super) const fn new(from: P, to: P) -> Self {
        Self {
            from,
            to: Relay::new(to, false),
            deaf: false,
        }
    }

    #[cfg(unix)]
    pub(super) fn ports(&mut self) -> impl Iterator<Item = &mut P> {
        [&mut self.from, self.to.port()].into_iter()
    }

    /// Whether it is not listened to for the time being.
    #[cfg(unix)]
    pub(super) const fn is_deaf(&self) -> bool {
        self.deaf
    }

    /// One read or one write.
    pub(super) fn turn(&mut self, cx: &mut Context<'_>, attending: Option<&Attending<P>>) -> Fed {
        match self.to.turn(cx) {
            Passed::Waits => return Fed::Waits,
            Passed::Some => return Fed::Moved,
            Passed::Broken => return Fed::Over,
            Passed::All => {}
        }
        self.deaf = attending.is_some_and(|attending| !attending.listens());
        if self.deaf {
            return Fed::Waits;
        }
        let mut bytes = Vec::with_capacity(TYPED);
        match self.from.poll_read(cx, &mut bytes) {
            Poll::Pending => Fed::Waits,
            Poll::Ready(Err(_)) => Fed::Over,
            Poll::Ready(Ok(many)) => {
                if let Some(attending) = attending {
                    attending.typed(&mut bytes);
                }
                if many == 0 && bytes.is_empty() {
                    return Fed::Over;
                }
                self.to.push(&bytes);
                Fed::Moved
            }
        }
    }
}
