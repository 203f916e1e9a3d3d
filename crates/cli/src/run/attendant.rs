//! Who minds a command that runs on the caller's streams: signals, window sizes, Ctrl-Z.
//!
//! Keys pass through the terminal inside, so Ctrl-C is what that terminal makes of it. Ctrl-Z alone is looked for: the
//! command has a process session of its own, whose groups the kernel does not stop, because nobody in it could let them go
//! on. Where a shell inside minds jobs of its own, or the key is no such key there, it passes like any other.

use std::io;
use std::os::fd::OwnedFd;

use palisade::runner::launch::{Control, TerminalUse};
use palisade::runner::supervise::{Attend, Patience};

use super::signals::{self, Signals, Whom};
use super::terminal::{Inner, Terminal};

/// Who minds a command.
pub(super) struct Attendant {
    terminal: Option<Terminal>,
    signals: Signals,
}

impl Attendant {
    /// One who minds this terminal, and what rings for them: one byte for each signal.
    ///
    /// # Errors
    /// There is no descriptor left.
    pub(super) fn new(terminal: Option<Terminal>) -> io::Result<(OwnedFd, Self)> {
        let (bell, signals) = Signals::new()?;
        Ok((bell, Self { terminal, signals }))
    }

    /// Takes the terminal if it is ours to take, and tells the command its size.
    fn enter(&mut self, control: &Control) {
        if let Some(terminal) = &mut self.terminal {
            terminal.enter();
            if let Some(size) = terminal.size() {
                control.resize(size);
            }
        }
    }

    /// Stops the command, then this program, as Ctrl-Z does; returns when somebody lets both go on. Where nobody could,
    /// nothing is stopped for long.
    fn suspend(&mut self, control: &Control, whom: Whom) {
        control.signal(signals::STOP);
        if let Some(terminal) = &mut self.terminal {
            terminal.leave();
        }
        self.signals.stop(whom);
        self.enter(control);
        control.signal(signals::CONTINUE);
    }
}

impl Attend for Attendant {
    fn begin(&mut self) {
        self.signals.catch();
    }

    fn started(&mut self, control: &Control) {
        self.enter(control);
    }

    fn told(&mut self, control: &Control, bytes: &[u8]) -> Patience {
        let mut patience = Patience::Stay;
        for signal in bytes.iter().copied().map(i32::from) {
            match signal {
                signals::WINDOW => {
                    if let Some(size) = self.terminal.as_ref().and_then(Terminal::size) {
                        control.resize(size);
                    }
                }
                signals::SUSPEND => self.suspend(control, Whom::Us),
                signals::CONTINUE => {
                    self.enter(control);
                    control.signal(signals::CONTINUE);
                }
                signal => {
                    control.signal(signal);
                    if signals::ends(signal) {
                        patience = Patience::Leave;
                    }
                }
            }
        }
        patience
    }

    fn listens(&mut self, control: &Control) -> bool {
        let Some(terminal) = &mut self.terminal else {
            return false;
        };
        if !terminal.is_ours() {
            return false;
        }
        if terminal.is_to_be_entered() {
            // The shell gave it back without a word.
            self.enter(control);
        }
        true
    }

    fn typed(&mut self, control: &Control, bytes: &mut Vec<u8>) {
        let Some(terminal) = &self.terminal else {
            return;
        };
        let Some(inner) = Inner::of(control) else {
            return;
        };
        if bytes.is_empty() {
            // The end of the input was typed, unless the terminal is gone.
            if terminal.usage() == TerminalUse::Lines && terminal.is_there() {
                bytes.push(inner.end_of_input());
            }
            return;
        }
        let Some(key) = inner.suspend_key().filter(|key| bytes.contains(key)) else {
            return;
        };
        if terminal.usage() == TerminalUse::Whole && !inner.minds_jobs() {
            bytes.retain(|byte| *byte != key);
            drop(inner);
            self.suspend(control, Whom::Group);
        }
    }

    fn end(&mut self) {
        if let Some(terminal) = &mut self.terminal {
            terminal.leave();
        }
        self.signals.release();
    }
}
