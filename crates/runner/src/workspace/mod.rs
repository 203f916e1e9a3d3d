//! Who else runs on this workspace, and whether the two can be told apart.
//!
//! A sandbox keeps its own command from what it guards, not the commands of others. Two that run on one workspace can
//! work for each other: what one may not write, the other may, and does for it. So each announces which clauses guard the
//! workspace. Whoever guards less than one that runs waits for its end, or is refused; more network, reading or writing is
//! nobody else's business.
//!
//! An announcement is a file that is locked as long as its owner lives. The kernel takes the lock away, also from the
//! killed, so no claim outlives its run.

#[cfg(unix)]
mod files;
mod guards;
mod here;
#[cfg(test)]
#[cfg(unix)]
mod tests;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use palisade_policy::ResolvedPolicy;

use crate::supervise::Cancellation;
use guards::Guards;

/// Where claims are announced.
#[derive(Clone, Debug)]
pub struct Claims {
    #[cfg_attr(not(unix), expect(dead_code, reason = "no files are kept here yet"))]
    directory: Option<PathBuf>,
}

/// A workspace that a run works on, announced until this is dropped.
#[derive(Debug)]
#[must_use = "the claim ends when it is dropped"]
pub struct Claim {
    _here: here::Announced,
    #[cfg(unix)]
    _file: Option<files::Announced>,
}

/// What to do if another run guards more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "one waits or does not")]
pub enum Wait {
    /// Give up at once.
    Refuse,
    /// Wait for its end, this long.
    For(Duration),
}

/// Why a workspace was not claimed. Nothing ran.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Conflict {
    /// A run that guards more is running.
    #[error(
        "process {pid} runs on {} with {clause}, which this run would not keep; wait for its end, or run under the same \
         policy",
        root.display()
    )]
    Weaker {
        /// The writable root of the other run.
        root: PathBuf,
        /// What it guards and this run would not.
        clause: String,
        /// Its process; our own, if it is in this program.
        pid: u32,
    },
    /// Somebody cancelled the wait.
    #[error("cancelled while waiting for another run on the workspace")]
    Cancelled,
    /// Claims cannot be announced or read, so nobody knows who else runs.
    #[error("claims on workspaces cannot be kept at {}: {why}", path.display())]
    Unusable {
        /// Where.
        path: PathBuf,
        /// Why, and what would help.
        why: String,
    },
}

/// How long to wait before asking again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

impl Claims {
    /// Claims in this directory, which belongs to the user alone and is made if it does not exist; without one, and on
    /// Windows so far, only runs of this program know of each other.
    #[must_use]
    pub const fn new(directory: Option<PathBuf>) -> Self {
        Self { directory }
    }

    /// Claims the writable roots of a policy. A policy that confines nothing, or lets nothing be written, claims nothing.
    ///
    /// # Errors
    /// Another run guards more; or nobody can know, because claims cannot be kept.
    pub fn claim(
        &self,
        policy: &ResolvedPolicy,
        wait: Wait,
        cancel: &Cancellation,
    ) -> Result<Claim, Conflict> {
        let mut attempts = Attempts::new(policy, wait, cancel);
        loop {
            match attempts.next(self)? {
                Ok(claim) => return Ok(claim),
                Err(pause) => std::thread::sleep(pause),
            }
        }
    }

    /// The same in a tokio runtime, which is not blocked meanwhile.
    ///
    /// # Errors
    /// As [`Claims::claim`].
    pub async fn claim_async(
        &self,
        policy: &ResolvedPolicy,
        wait: Wait,
        cancel: &Cancellation,
    ) -> Result<Claim, Conflict> {
        let mut attempts = Attempts::new(policy, wait, cancel);
        loop {
            match attempts.next(self)? {
                Ok(claim) => return Ok(claim),
                Err(pause) => tokio::time::sleep(pause).await,
            }
        }
    }

    fn attempt(&self, guards: &Guards) -> Result<Claim, Denied> {
        let here = here::announce(guards)?;
        #[cfg(unix)]
        let file = match &self.directory {
            Some(directory) if !guards.is_empty() => Some(files::announce(directory, guards)?),
            _ => None,
        };
        Ok(Claim {
            _here: here,
            #[cfg(unix)]
            _file: file,
        })
    }
}

/// Why an attempt failed, and whether another may not.
#[cfg_attr(not(unix), expect(dead_code, reason = "no files are kept here yet"))]
enum Denied {
    /// Somebody guards more, for now.
    Weaker(Conflict),
    /// Somebody else is looking at the claims.
    Busy(PathBuf),
    /// It cannot be done.
    Unusable(Conflict),
}

/// Attempts at one claim, and the time for them.
struct Attempts<'a> {
    guards: Guards,
    until: Option<Instant>,
    cancel: &'a Cancellation,
    pause: Duration,
}

impl<'a> Attempts<'a> {
    fn new(policy: &ResolvedPolicy, wait: Wait, cancel: &'a Cancellation) -> Self {
        let time = match wait {
            Wait::Refuse => Duration::ZERO,
            Wait::For(time) => time,
        };
        Self {
            guards: Guards::of(policy),
            // A time that the clock cannot reach is for ever.
            until: Instant::now().checked_add(time),
            cancel,
            pause: PAUSES.0,
        }
    }

    /// A claim, or how long to wait before the next attempt.
    fn next(&mut self, claims: &Claims) -> Result<Result<Claim, Duration>, Conflict> {
        if self.cancel.is_cancelled() {
            return Err(Conflict::Cancelled);
        }
        let left = || {
            self.until.map_or(PAUSES.1, |until| {
                until.saturating_duration_since(Instant::now())
            })
        };
        let (last_word, patience) = match claims.attempt(&self.guards) {
            Ok(claim) => return Ok(Ok(claim)),
            Err(Denied::Unusable(conflict)) => return Err(conflict),
            Err(Denied::Weaker(conflict)) => (conflict, left()),
            Err(Denied::Busy(path)) => {
                // Others look for an instant only: that is waited for in any case, but not for ever.
                let why = "another program keeps the lock for seconds; end it".to_owned();
                let busy_until = self.until.and_then(|until| until.checked_add(BUSY));
                let left = busy_until.map_or(PAUSES.1, |until| {
                    until.saturating_duration_since(Instant::now())
                });
                (Conflict::Unusable { path, why }, left)
            }
        };
        if patience.is_zero() {
            return Err(last_word);
        }
        let pause = self.pause.min(patience);
        self.pause = (self.pause * 2).min(PAUSES.1);
        Ok(Err(pause))
    }
}

/// How long others may look at the claims.
const BUSY: Duration = Duration::from_secs(5);
