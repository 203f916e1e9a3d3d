//! The sandboxes of a session: the one that its commands share, and those that were widened since.

use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use palisade_policy::{CanonicalSandboxPolicy, SandboxType};

use crate::host::Host;
use crate::launch::{Ground, Placed};
use crate::os::ConfinedSession;
use crate::outcome::SetupFailure;

/// Sandboxes that are set up, each with the policy that it enforces. None is ever widened: where a grant holds for the
/// session, its next commands get a sandbox with that grant, and what runs in the others goes on there.
#[derive(Debug)]
pub(super) struct Grounds {
    /// What the probe started.
    first: Mutex<Option<ConfinedSession>>,
    shared: Mutex<Vec<(CanonicalSandboxPolicy, Arc<ConfinedSession>)>>,
    watch_aftermath: bool,
}

impl Grounds {
    pub(super) const fn new(first: Option<ConfinedSession>, watch_aftermath: bool) -> Self {
        Self {
            first: Mutex::new(first),
            shared: Mutex::new(Vec::new()),
            watch_aftermath,
        }
    }

    /// What the commands of all shared sandboxes left.
    pub(super) fn aftermath(&self) -> Vec<String> {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<String> = Vec::new();
        for line in shared.iter().flat_map(|(_, session)| session.aftermath()) {
            if !found.contains(&line) {
                found.push(line);
            }
        }
        found
    }

    /// Begins to end all shared sandboxes; whoever drops the session waits for that. What runs in them ends, and a command
    /// that comes after all gets a sandbox of its own.
    pub(super) fn begin_end(&self) {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, session) in shared.iter() {
            session.begin_end();
        }
    }

    /// Where a command runs, if that can be said without waiting: nothing has to be set up, and nobody is setting
    /// anything up.
    pub(super) fn at_once(
        &self,
        placed: &Placed,
        session_policy: &CanonicalSandboxPolicy,
    ) -> Option<Ground> {
        if placed.sandbox == SandboxType::None {
            return Some(Ground::Bare);
        }
        if placed.policy != *session_policy {
            return None;
        }
        let shared = match self.shared.try_lock() {
            Ok(shared) => shared,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let mut alive = shared.iter().filter(|(_, session)| session.is_alive());
        let mine = alive.find(|(policy, _)| *policy == placed.policy);
        mine.map(|(_, session)| Ground::Shared(Arc::clone(session)))
    }

    /// Where a command runs: in a sandbox that the session shares if the policy is the session's own, otherwise in one
    /// of its own. Blocks while one is set up.
    pub(super) fn ground(
        &self,
        host: &Host,
        placed: &Placed,
        session_policy: &CanonicalSandboxPolicy,
        base: &CanonicalSandboxPolicy,
    ) -> Result<Ground, SetupFailure> {
        if placed.sandbox == SandboxType::None {
            return Ok(Ground::Bare);
        }
        if placed.policy != *session_policy {
            return Ok(Ground::Own(Box::new(ConfinedSession::open(host, placed)?)));
        }
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        // What they left is still to be told of those that are gone, where somebody looks.
        shared.retain(|(_, session)| self.watch_aftermath || session.is_alive());
        let mut alive = shared.iter().filter(|(_, session)| session.is_alive());
        if let Some((_, session)) = alive.find(|(policy, _)| *policy == placed.policy) {
            return Ok(Ground::Shared(Arc::clone(session)));
        }
        let first = match placed.policy == *base {
            true => self
                .first
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take()
                .filter(ConfinedSession::is_alive),
            false => None,
        };
        let session = Arc::new(match first {
            Some(first) => first,
            None => ConfinedSession::open(host, placed)?,
        });
        if self.watch_aftermath {
            session.watch_aftermath(host);
        }
        shared.push((placed.policy.clone(), Arc::clone(&session)));
        Ok(Ground::Shared(session))
    }
}
