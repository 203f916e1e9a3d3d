//! A terminal that hands keys over as they are typed, and is as it was afterwards.

use std::fs::File;
use std::io;

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, OutputModes, SpecialCodeIndex, Termios, tcgetattr,
    tcsetattr,
};

/// Puts a terminal back when it is dropped.
#[derive(Debug)]
pub(super) struct Raw<'a> {
    terminal: &'a File,
    before: Termios,
}

impl<'a> Raw<'a> {
    /// Hands keys over as they are typed, and shows none by itself. What was typed before is thrown away.
    pub(super) fn enter(terminal: &'a File) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut raw = before.clone();
        raw.local_modes -=
            LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
        raw.input_modes -=
            InputModes::IXON | InputModes::ICRNL | InputModes::INLCR | InputModes::IGNCR;
        // A line ends where we say so, however the terminal was left.
        raw.output_modes |= OutputModes::OPOST | OutputModes::ONLCR;
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        // Built before it is changed, so that a change that half succeeds is undone.
        let guard = Self { terminal, before };
        tcsetattr(terminal, OptionalActions::Flush, &raw)?;
        Ok(guard)
    }
}

impl Drop for Raw<'_> {
    fn drop(&mut self) {
        // What was typed after the answer was meant for nobody. A terminal that is gone needs nothing.
        let _ = tcsetattr(self.terminal, OptionalActions::Flush, &self.before);
    }
}
