//! Where nobody sets a sandbox up while the caller goes on, it is set up at once.

use super::ConfinedSession;
use crate::host::Host;
use crate::launch::Placed;
use crate::outcome::SetupFailure;

/// A session that was set up.
#[derive(Debug)]
pub(crate) struct Opening(ConfinedSession);

impl ConfinedSession {
    /// Sets a session up.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(crate) fn begin(host: &Host, placed: &Placed) -> Result<Opening, SetupFailure> {
        Self::open(host, placed).map(Opening)
    }

    /// Nothing: all of it ends with the session.
    #[expect(clippy::unused_self, reason = "elsewhere it takes a while")]
    pub(crate) const fn begin_end(&self) {}
}

impl Opening {
    /// The session.
    ///
    /// # Errors
    /// Never: it is set up.
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
    pub(crate) fn finish(self) -> Result<ConfinedSession, SetupFailure> {
        Ok(self.0)
    }
}
