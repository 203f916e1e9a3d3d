//! TLS that a proxy opens, where none can: whoever asks for it is refused, so there is never any.

use std::convert::Infallible;
use std::io;

use palisade_egress_proxy::Settings;
use palisade_policy::NetworkAllowlistEntry;

use super::InjectProblem;

/// The hosts whose TLS is opened: there are none.
#[derive(Clone, Copy, Debug)]
pub(super) struct TlsToOpen(Infallible);

impl TlsToOpen {
    pub(super) fn new(
        _: Vec<NetworkAllowlistEntry>,
        _: Option<&[u8]>,
    ) -> Result<Self, InjectProblem> {
        Err(InjectProblem::CannotOpen)
    }

    pub(super) const fn begin(&self) -> io::Result<SessionTls> {
        match self.0 {}
    }
}

/// What one session opens TLS with: nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionTls(Infallible);

impl SessionTls {
    /// What commands have to trust.
    #[cfg(all(target_os = "linux", feature = "linux-landlock"))]
    pub(crate) const fn trust(&self) -> io::Result<palisade_linux_landlock::host::TrustFiles> {
        match self.0 {}
    }

    pub(super) fn put_into(&self, _: Settings) -> Settings {
        match self.0 {}
    }
}
