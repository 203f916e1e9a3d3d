//! Keys of a terminal, one at a time.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush};

use super::raw::Raw;
use super::sys::{Held, Waiting};

/// How long nothing counts after a question appeared: what is typed so soon was meant for something else.
const SETTLE: Duration = Duration::from_millis(500);

/// How often signals are looked for.
const GLANCE: Duration = Duration::from_millis(100);

/// Why nobody answers any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gone {
    /// Ctrl-C, or a signal that means the same.
    Interrupted,
    /// The terminal was closed, or cannot be used.
    Closed,
}

/// What was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Key(char),
    /// More than a key at once, such as an arrow or a paste, or no text at all.
    Other,
}

/// The keys of a terminal, while they are taken as they are typed.
#[derive(Debug)]
pub(super) struct Keys<'a> {
    terminal: &'a File,
    // In this order: first the terminal is as it was, then signals may end this program.
    _raw: Raw<'a>,
    held: Held,
    /// What came in one piece and was not looked at yet.
    pending: Vec<u8>,
}

impl<'a> Keys<'a> {
    /// Takes keys until it is dropped. What was typed before is thrown away.
    pub(super) fn take(terminal: &'a File) -> Result<Self, Gone> {
        let held = Held::hold();
        let raw = Raw::enter(terminal).map_err(|_| Gone::Closed)?;
        Ok(Self {
            terminal,
            _raw: raw,
            held,
            pending: Vec::new(),
        })
    }

    /// Throws away what is typed in the next moments. Whoever types on is still busy with something else: then it takes
    /// longer.
    pub(super) fn settle(&mut self) -> Result<(), Gone> {
        self.pending.clear();
        let mut until = Instant::now() + SETTLE;
        while let Some(left) = until
            .checked_duration_since(Instant::now())
            .filter(|left| !left.is_zero())
        {
            if self.wait(left.min(GLANCE))? {
                let bytes = self.read()?;
                if bytes.contains(&INTERRUPT) {
                    return Err(Gone::Interrupted);
                }
                until = Instant::now() + SETTLE;
            }
        }
        tcflush(self.terminal, QueueSelector::IFlush).map_err(|_| Gone::Closed)
    }

    /// Waits for a key. Several bytes at once are no answer, whatever is among them: nobody is that fast.
    pub(super) fn next(&mut self) -> Result<Typed, Gone> {
        let bytes = self.piece()?;
        match bytes.as_slice() {
            [INTERRUPT] => Err(Gone::Interrupted),
            [one] if one.is_ascii() => Ok(Typed::Key(char::from(*one))),
            _ => Ok(Typed::Other),
        }
    }

    /// Waits for the next character of a text, which may be pasted.
    pub(super) fn next_of_text(&mut self) -> Result<Typed, Gone> {
        if self.pending.is_empty() {
            self.pending = self.piece()?;
            // An arrow or the like means nothing here.
            if self.pending.first() == Some(&0x1b) {
                self.pending.clear();
                return Ok(Typed::Other);
            }
        }
        let taken = match std::str::from_utf8(&self.pending) {
            Ok(text) => text.chars().next(),
            Err(error) => {
                let valid = self.pending.get(..error.valid_up_to()).unwrap_or_default();
                let text = std::str::from_utf8(valid).unwrap_or_default();
                text.chars().next()
            }
        };
        let Some(key) = taken else {
            // Half a character waits for its other half; more than that is none.
            if self.pending.len() < 4 {
                let more = self.piece()?;
                self.pending.extend(more);
            } else {
                self.pending.clear();
            }
            return Ok(Typed::Other);
        };
        self.pending.drain(..key.len_utf8());
        match key {
            '\u{3}' => Err(Gone::Interrupted),
            key => Ok(Typed::Key(key)),
        }
    }

    fn piece(&mut self) -> Result<Vec<u8>, Gone> {
        while !self.wait(GLANCE)? {}
        self.read()
    }

    /// Whether something was typed within this time.
    fn wait(&self, time: Duration) -> Result<bool, Gone> {
        match self.held.waiting() {
            Some(Waiting::HangUp) => return Err(Gone::Closed),
            Some(Waiting::Interrupt) => return Err(Gone::Interrupted),
            None => {}
        }
        let time = Timespec::try_from(time).map_err(|_| Gone::Closed)?;
        let mut polled = [PollFd::from_borrowed_fd(
            self.terminal.as_fd(),
            PollFlags::IN,
        )];
        match poll(&mut polled, Some(&time)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(_) => Err(Gone::Closed),
        }
    }

    fn read(&self) -> Result<Vec<u8>, Gone> {
        let mut some = [0; 256];
        match rustix::io::read(self.terminal, &mut some) {
            // The other side was closed.
            Ok(0) => Err(Gone::Closed),
            Ok(read) => Ok(some.get(..read).unwrap_or_default().to_vec()),
            Err(Errno::INTR | Errno::AGAIN) => Ok(Vec::new()),
            Err(_) => Err(Gone::Closed),
        }
    }
}

/// Ctrl-C.
const INTERRUPT: u8 = 3;
