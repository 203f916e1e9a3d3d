//! What is said about a run: before it begins, and after it ended.

use std::process::ExitCode;

use palisade::{Error, Finished, Session};

use super::code;
use super::start::Run;
use crate::complaint::Complaint;

/// Who tells about a run: people on standard error, programs by events.
#[derive(Debug)]
pub(super) struct Told;

impl Told {
    /// Before anything is looked at.
    ///
    /// # Errors
    /// Whoever is to be told cannot be reached.
    pub(super) fn new(_run: &Run<'_>) -> Result<Self, Complaint> {
        Ok(Self)
    }

    /// The sandbox or the session could not be set up: nothing was judged and nothing ran.
    pub(super) fn unusable(self, _run: &Run<'_>, error: &Error) -> Complaint {
        Complaint::new(code::of_error(error), error)
    }

    /// The sandbox holds; the command is judged next.
    pub(super) fn begins(&mut self, _run: &Run<'_>, _session: &Session) {}

    /// The run is over, or did not begin.
    ///
    /// # Errors
    /// It did not begin.
    pub(super) fn ended(
        self,
        _run: &Run<'_>,
        _session: &Session,
        result: Result<Finished, Error>,
    ) -> Result<ExitCode, Complaint> {
        match result {
            Ok(finished) => Ok(code::of_outcome(&finished.outcome)),
            Err(error) => Err(Complaint::new(code::of_error(&error), error)),
        }
    }
}
