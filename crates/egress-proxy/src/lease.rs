//! For how long an approval holds. Connections that live on one end with it.

use std::fmt;
use std::time::Instant;

use tokio::sync::watch;

/// Kept by whoever agreed to something for a time. Once it is dropped, every connection that lives on one of its leases
/// ends.
pub struct Hold(watch::Sender<()>);

impl Hold {
    /// Holds what is leased from it.
    #[must_use]
    pub fn new() -> Self {
        Self(watch::Sender::new(()))
    }

    /// A lease until this is dropped.
    #[must_use]
    pub fn lease(&self) -> Lease {
        Lease {
            held: self.0.subscribe(),
            until: None,
        }
    }

    /// A lease until this is dropped, or until then if that comes first.
    #[must_use]
    pub fn lease_until(&self, end: Instant) -> Lease {
        Lease {
            until: Some(end),
            ..self.lease()
        }
    }
}

impl Default for Hold {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold")
            .field("leases", &self.0.receiver_count())
            .finish()
    }
}

/// Says when an approval is over.
#[derive(Clone)]
pub struct Lease {
    held: watch::Receiver<()>,
    until: Option<Instant>,
}

impl Lease {
    async fn over(&self) {
        let mut held = self.held.clone();
        // Nothing is ever sent: an end is all there is to hear.
        let let_go = async { while held.changed().await.is_ok() {} };
        match self.until {
            None => let_go.await,
            Some(end) => tokio::select! {
                () = let_go => {}
                () = tokio::time::sleep_until(end.into()) => {}
            },
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}

/// Ends when a lease does; never, where there is none.
pub(crate) async fn over(lease: Option<&Lease>) {
    match lease {
        Some(lease) => lease.over().await,
        None => std::future::pending().await,
    }
}
