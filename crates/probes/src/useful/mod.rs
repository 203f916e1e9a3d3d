//! What must work in a sandbox.

pub(crate) mod files;
pub(crate) mod network;
pub(crate) mod processes;

use std::fmt::Display;
use std::io;

use crate::report::Report;

/// Runs the act, and says what came of it.
fn act<T: Display>(act: impl FnOnce() -> io::Result<T>) -> Report {
    match act() {
        Ok(detail) => Report::Works(detail.to_string()),
        Err(error) => Report::Broken(error.to_string()),
    }
}

/// What was expected, or what came instead.
fn expect(holds: bool, otherwise: &str) -> io::Result<()> {
    if holds {
        Ok(())
    } else {
        Err(io::Error::other(otherwise.to_owned()))
    }
}
