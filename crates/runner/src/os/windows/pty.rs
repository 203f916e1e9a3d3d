//! Terminals of a command's own: there is none on Windows yet, and asking for one fails.

use std::convert::Infallible;
use std::io;

use super::stdio::Stdio;
use crate::launch::{Descriptor, WindowSize};
use crate::outcome::SetupFailure;

/// Our side of a terminal. There is none.
#[derive(Debug)]
pub(crate) struct Pty(Infallible);

impl Pty {
    /// Always fails: nothing runs on pipes that was asked to run on a terminal.
    pub(crate) fn open(_: WindowSize) -> Result<(Self, Stdio), SetupFailure> {
        Err(SetupFailure::new(
            "opening a terminal",
            None,
            "commands have no terminal of their own on Windows yet; run it with captured output",
        ))
    }

    pub(crate) fn copy(&self) -> io::Result<Descriptor> {
        match self.0 {}
    }

    pub(crate) fn resize(&self, _: WindowSize) -> Result<(), SetupFailure> {
        match self.0 {}
    }
}
