//! No sandbox is built in.

use std::convert::Infallible;
use std::sync::{Mutex, Weak};

use palisade_policy::{Enforcement, ResolvedPolicy};

use crate::config::Own;
use crate::egress::{Outlet, RefusedHost};
use crate::host::Host;
use crate::launch::Placed;
use crate::os::order::Order;
use crate::os::process::Process;
use crate::os::stdio::Stdio;
use crate::outcome::SetupFailure;
use crate::workspace::Claim;

/// There is none.
#[derive(Debug)]
pub(crate) struct ConfinedSession(Infallible);

impl ConfinedSession {
    /// There is nobody who could tell.
    pub(crate) const TELLS_DENIALS: bool = false;

    /// Always fails.
    pub(crate) fn open(_host: &Host, _placed: &Placed) -> Result<Self, SetupFailure> {
        Err(SetupFailure::new(
            "finding a sandbox",
            None,
            "no sandbox is built in for this system; build with the feature of its own (`linux-landlock`, `seatbelt`, \
             `windows-token`)",
        ))
    }

    pub(crate) fn spawn(&self, _order: &Order, _stdio: Stdio) -> Result<Process, SetupFailure> {
        match self.0 {}
    }

    pub(crate) fn refused_hosts(&self, _since: std::time::Instant) -> Vec<RefusedHost> {
        match self.0 {}
    }

    pub(crate) fn outlet(&self) -> Option<(Outlet, bool)> {
        match self.0 {}
    }

    pub(crate) fn policy(&self) -> &ResolvedPolicy {
        match self.0 {}
    }

    pub(crate) fn own(&self) -> &Own {
        match self.0 {}
    }

    pub(crate) fn enforcement(&self) -> &Enforcement {
        match self.0 {}
    }

    pub(crate) fn claim(&self) -> &Mutex<Weak<Claim>> {
        match self.0 {}
    }

    pub(crate) fn is_alive(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn has_history(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn import_git(&self) -> Vec<String> {
        match self.0 {}
    }

    pub(crate) fn denials(&self, _ran_for: std::time::Duration) -> Vec<String> {
        match self.0 {}
    }

    pub(crate) fn watch_aftermath(&self, _host: &Host) {
        match self.0 {}
    }

    pub(crate) fn aftermath(&self) -> Vec<String> {
        match self.0 {}
    }

    pub(crate) fn end(self) {
        match self.0 {}
    }
}
