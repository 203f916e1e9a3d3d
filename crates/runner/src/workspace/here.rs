//! Claims of this program, whoever in it made them.

use std::sync::{Arc, Mutex, PoisonError};

use super::guards::Guards;
use super::{Conflict, Denied};

static CLAIMS: Mutex<Vec<Arc<Guards>>> = Mutex::new(Vec::new());

/// A claim that the rest of this program knows of.
#[derive(Debug)]
pub(super) struct Announced(Arc<Guards>);

pub(super) fn announce(guards: &Guards) -> Result<Announced, Denied> {
    let mut claims = CLAIMS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(missing) = claims.iter().find_map(|other| guards.missing(other)) {
        return Err(Denied::Weaker(Conflict::Weaker {
            root: missing.root,
            clause: missing.clause,
            pid: std::process::id(),
        }));
    }
    let own = Arc::new(guards.clone());
    claims.push(Arc::clone(&own));
    Ok(Announced(own))
}

impl Drop for Announced {
    fn drop(&mut self) {
        let mut claims = CLAIMS.lock().unwrap_or_else(PoisonError::into_inner);
        claims.retain(|known| !Arc::ptr_eq(known, &self.0));
    }
}
