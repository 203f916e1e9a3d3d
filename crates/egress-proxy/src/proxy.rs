//! The proxy of one session: its settings, its thread, its listener.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use palisade_policy::NetworkAllowlistEntry;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::credential::Credential;
use crate::gate::Gate;
use crate::hooks::{Approver, Connector, Observer, Resolver};
#[cfg(all(feature = "intercept", target_os = "linux"))]
use crate::intercept::Opener;
use crate::limits::Limits;
use crate::record::ConnectionRecord;
use crate::serve::{self, Shared};
use crate::system::{SystemConnector, SystemResolver};

/// Beyond the limit of connections, so many at a time are told so in their own protocol; more are closed at once.
const TURNED_AWAY: usize = 16;
/// How long to wait when no more connections can be accepted, for lack of descriptors.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// What a proxy is started with.
#[derive(Clone)]
pub struct Settings {
    pub(crate) gate: Gate,
    pub(crate) limits: Limits,
    pub(crate) credentials: Vec<Credential>,
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) connector: Arc<dyn Connector>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) observer: Arc<dyn Observer>,
    #[cfg(all(feature = "intercept", target_os = "linux"))]
    pub(crate) opener: Option<Arc<Opener>>,
}

impl Settings {
    /// Opens what these entries name and asks nobody. No entries open nothing.
    #[must_use]
    pub fn new(entries: impl IntoIterator<Item = NetworkAllowlistEntry>) -> Self {
        Self {
            gate: Gate::new(entries.into_iter().collect()),
            limits: Limits::default(),
            credentials: Vec::new(),
            resolver: Arc::new(SystemResolver),
            connector: Arc::new(SystemConnector),
            approver: None,
            observer: Arc::new(|_: &ConnectionRecord| {}),
            #[cfg(all(feature = "intercept", target_os = "linux"))]
            opener: None,
        }
    }

    /// With other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// With one more secret. If several are for the same host and header, the first one is added.
    #[must_use]
    pub fn with_credential(mut self, credential: Credential) -> Self {
        self.credentials.push(credential);
        self
    }

    /// With another resolver than the system's.
    #[must_use]
    pub fn with_resolver(mut self, resolver: Arc<dyn Resolver>) -> Self {
        self.resolver = resolver;
        self
    }

    /// With other connections than the system's.
    #[must_use]
    pub fn with_connector(mut self, connector: Arc<dyn Connector>) -> Self {
        self.connector = connector;
        self
    }

    /// With somebody who is asked about hosts that are not listed.
    #[must_use]
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// With somebody who is told about each connection.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// With TLS that is opened, so that secrets can be added inside, in the one session that this opener is for.
    #[cfg(all(feature = "intercept", target_os = "linux"))]
    #[must_use]
    pub fn with_opener(mut self, opener: Arc<Opener>) -> Self {
        self.opener = Some(opener);
        self
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("gate", &self.gate)
            .field("limits", &self.limits)
            .field("credentials", &self.credentials)
            .field("asks", &self.approver.is_some())
            .finish_non_exhaustive()
    }
}

/// A running proxy. Dropping it closes every connection at once; each is still recorded.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    open: Arc<AtomicUsize>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Serves whoever connects to this listener, on a thread of its own.
    ///
    /// # Errors
    /// The system refuses a thread, or what a runtime needs.
    pub fn start(listener: TcpListener, settings: Settings) -> io::Result<Self> {
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = mpsc::channel();
        let open = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&open);
        // Everything of the runtime happens on its own thread: the caller's may belong to another one.
        let thread = thread::Builder::new()
            .name("egress-proxy".to_owned())
            .spawn(move || {
                let started = runtime(listener);
                let started = started.map_err(|error| tell.send(Err(error)));
                let Ok((runtime, listener)) = started else {
                    return;
                };
                // Whoever started it waits for this.
                let _ = tell.send(Ok(()));
                let shared = Arc::new(Shared::new(settings));
                runtime.block_on(async {
                    tokio::select! {
                        _ = stopped => {}
                        () = accept(listener, &shared, &counter) => {}
                    }
                });
                // Not a plain drop, which would wait for questions to name servers.
                runtime.shutdown_background();
            })?;
        told.recv()
            .unwrap_or_else(|_| Err(io::Error::other("the proxy's thread has ended")))?;
        Ok(Self {
            address,
            open,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections it is serving.
    #[must_use]
    pub fn open_connections(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        let own = |thread: &JoinHandle<()>| thread.thread().id() == thread::current().id();
        // Whoever is told about connections may be the last to hold it; nobody waits for itself.
        if let Some(thread) = self.thread.take().filter(|thread| !own(thread)) {
            // A panic there has ended the thread, and with it every connection.
            drop(thread.join());
        }
    }
}

/// One of the connections that are served.
struct Seat(Arc<AtomicUsize>);

impl Seat {
    fn take(open: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        if open.load(Ordering::Relaxed) >= most {
            return None;
        }
        open.fetch_add(1, Ordering::Relaxed);
        Some(Self(Arc::clone(open)))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn runtime(listener: TcpListener) -> io::Result<(Runtime, tokio::net::TcpListener)> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    let inside = runtime.enter();
    let listener = tokio::net::TcpListener::from_std(listener)?;
    drop(inside);
    Ok((runtime, listener))
}

async fn accept(listener: tokio::net::TcpListener, shared: &Arc<Shared>, open: &Arc<AtomicUsize>) {
    let turned_away = Arc::new(AtomicUsize::new(0));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_AGAIN).await;
            continue;
        };
        let shared = Arc::clone(shared);
        if let Some(seat) = Seat::take(open, shared.most_connections()) {
            connections.spawn(async move {
                serve::connection(&shared, stream).await;
                drop(seat);
            });
        } else {
            let seat = Seat::take(&turned_away, TURNED_AWAY);
            connections.spawn(async move {
                serve::turn_away(&shared, stream, seat.is_some()).await;
                drop(seat);
            });
        }
    }
}
