//! What a command reads, written as it reads.

use std::task::{Context, Poll};

use super::pump::Port;
use crate::launch::Stdin;

/// The input of a command on its way.
pub(super) struct Feed<P> {
    port: P,
    bytes: Vec<u8>,
    written: usize,
    more: Option<tokio::sync::mpsc::Receiver<Vec<u8>>>,
    /// A terminal has no end that could be closed; it is told the end by a character.
    terminal: bool,
    line_is_open: bool,
}

/// What a turn brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fed {
    /// Bytes went through; there may be room for more.
    Moved,
    /// The command must read, or the queue must be filled, first.
    Waits,
    /// All is written, or nobody reads any more.
    Over,
}

/// The most that is written at once.
const WRITE: usize = 256 * 1024;

/// The character that ends the input of a terminal where a line begins; elsewhere it ends the line's part.
const END_OF_INPUT: u8 = 4;

impl<P: Port> Feed<P> {
    pub(super) fn new(port: P, source: Stdin, terminal: bool) -> Self {
        let (bytes, more) = match source {
            Stdin::Bytes(bytes) => (bytes, None),
            Stdin::Queue(queue) => (Vec::new(), Some(queue)),
            // The command got these itself; what is left for us is to close.
            Stdin::Null | Stdin::Descriptor(_) => (Vec::new(), None),
        };
        let mut feed = Self {
            port,
            bytes,
            written: 0,
            more,
            terminal,
            line_is_open: false,
        };
        if feed.more.is_none() {
            feed.end();
        }
        feed
    }

    #[cfg(unix)]
    pub(super) const fn port(&mut self) -> &mut P {
        &mut self.port
    }

    /// Writes once, if there is something and it can be.
    pub(super) fn turn(&mut self, cx: &mut Context<'_>) -> Fed {
        let rest = self.bytes.get(self.written..).unwrap_or_default();
        if rest.is_empty() {
            return self.next(cx);
        }
        let piece = rest.get(..WRITE).unwrap_or(rest);
        match self.port.poll_write(cx, piece) {
            Poll::Pending => Fed::Waits,
            Poll::Ready(Ok(many)) => {
                self.written += many;
                Fed::Moved
            }
            // Nobody reads any more. Many commands do not read to the end; it is not for us to blame them.
            Poll::Ready(Err(_)) => Fed::Over,
        }
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Fed {
        let Some(queue) = &mut self.more else {
            return Fed::Over;
        };
        match queue.poll_recv(cx) {
            Poll::Pending => Fed::Waits,
            Poll::Ready(more) => {
                if let Some(last) = self.bytes.last() {
                    self.line_is_open = *last != b'\n';
                }
                self.written = 0;
                if let Some(bytes) = more {
                    self.bytes = bytes;
                } else {
                    self.bytes = Vec::new();
                    self.more = None;
                    self.end();
                }
                Fed::Moved
            }
        }
    }

    /// Nothing comes after what is there.
    fn end(&mut self) {
        if !self.terminal {
            return;
        }
        let open = self
            .bytes
            .last()
            .map_or(self.line_is_open, |last| *last != b'\n');
        if open {
            self.bytes.push(END_OF_INPUT);
        }
        self.bytes.push(END_OF_INPUT);
    }
}
