//! The claim of a running command on its workspace.

use std::sync::{Arc, PoisonError};

use super::{Driver, Ground};
use crate::host::Host;
use crate::outcome::SetupFailure;
use crate::supervise::Cancellation;
use crate::workspace::{Claim, Claims, Wait};

/// What the step is called.
pub(super) const STEP: &str = "claiming the workspace";

/// Claims the workspace for a command. Commands that run in one sandbox at the same time share a claim: none of them guards
/// more than another.
///
/// A command without a sandbox guards nothing and claims nothing: a person or a rule let it run so.
///
/// # Errors
/// A command that guards more is running on the workspace, and was not over in time.
pub(crate) async fn claim(
    host: &Host,
    ground: &Ground,
    wait: Wait,
    cancel: &Cancellation,
    driver: Driver,
) -> Result<Option<Arc<Claim>>, SetupFailure> {
    let Some(session) = ground.confined() else {
        return Ok(None);
    };
    let shared = || {
        let held = session.claim().lock();
        held.unwrap_or_else(PoisonError::into_inner).upgrade()
    };
    if let Some(claim) = shared() {
        return Ok(Some(claim));
    }
    let directory = host.runtime_dir.as_ref().map(|below| below.join("claims"));
    let claims = Claims::new(directory);
    let policy = session.policy();
    let claim = match driver {
        Driver::Blocking => claims.claim(policy, wait, cancel),
        Driver::Tokio => claims.claim_async(policy, wait, cancel).await,
    };
    let claim = claim.map_err(|conflict| SetupFailure::new(STEP, None, conflict.to_string()))?;
    let claim = Arc::new(claim);
    let mut held = session
        .claim()
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    *held = Arc::downgrade(&claim);
    Ok(Some(claim))
}
