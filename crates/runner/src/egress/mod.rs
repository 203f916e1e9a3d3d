//! The network by host: what the proxy of a sandbox is started with, and whom it asks and tells.
//!
//! A policy that lists hosts gives a session no network but a proxy (`palisade-egress-proxy`) on its own loopback. Its
//! listener comes from inside the sandbox; everything else of it runs here.

mod ledger;
#[cfg_attr(
    not(all(target_os = "linux", feature = "linux-landlock", feature = "intercept")),
    path = "opened_elsewhere.rs"
)]
mod opened;

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Instant;

use palisade_egress_proxy::{
    Answer, Approver, ConnectionRecord, Decision, Later, Observer, Proxy, Refusal, Settings,
};
use palisade_exec_policy::language::model::Injection;
use palisade_policy::{Environment, HostName, NetworkAllowlistEntry};

pub(crate) use ledger::{CallLedger, Whose, keep};
pub(crate) use opened::SessionTls;
use opened::TlsToOpen;
pub use palisade_egress_proxy::{
    Connector, Credential, CredentialError, Limits, Resolver, SystemConnector, SystemResolver,
};

/// So many refusals are remembered for telling why a command failed.
const REFUSALS: usize = 64;

/// What the proxies of a host's sandboxes are started with, besides the hosts that a policy lists.
#[derive(Clone, Default)]
pub struct Egress {
    credentials: Vec<Credential>,
    limits: Option<Limits>,
    resolver: Option<Arc<dyn Resolver>>,
    connector: Option<Arc<dyn Connector>>,
    /// None, unless somebody asks for it.
    to_open: Option<TlsToOpen>,
    /// Empty until there is a session that can be asked.
    keeper: Option<Arc<Keeper>>,
}

/// Whoever is asked about hosts, if anybody, and told about connections, once there is somebody.
type Keeper = OnceLock<(Option<Weak<dyn Gatekeeper>>, Arc<dyn Ledger>)>;

impl Egress {
    /// The system's names and connections, and no secrets.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            credentials: Vec::new(),
            limits: None,
            resolver: None,
            connector: None,
            to_open: None,
            keeper: None,
        }
    }

    /// With one more secret that is added to requests for a host, so that no command has to know it.
    #[must_use]
    pub fn with_credential(mut self, credential: Credential) -> Self {
        self.credentials.push(credential);
        self
    }

    /// With the secrets that a configuration binds to hosts, from this environment. Where one goes into TLS, servers have
    /// to be vouched for by the certificates in its `SSL_CERT_FILE`, or else by those that the system trusts.
    ///
    /// # Errors
    /// One is not there, or cannot be sent.
    pub fn with_injections<'a>(
        mut self,
        injections: impl IntoIterator<Item = &'a Injection>,
        environment: &Environment,
    ) -> Result<Self, InjectError> {
        let mut opened: Option<(String, Vec<NetworkAllowlistEntry>)> = None;
        for one in injections {
            let failed = |problem| InjectError {
                injection: one.to_string(),
                problem,
            };
            let value = environment.get(OsStr::new(&one.from_env));
            let value = value.ok_or_else(|| failed(InjectProblem::NotSet))?;
            let mut secret = one.prefix.clone().into_bytes();
            secret.extend_from_slice(value.as_encoded_bytes());
            let credential = Credential::new(one.host.clone(), &one.header, secret);
            let credential =
                credential.map_err(|error| failed(InjectProblem::Unsendable(error)))?;
            self = self.with_credential(credential);
            if one.intercept {
                let (_, hosts) = opened.get_or_insert_with(|| (one.to_string(), Vec::new()));
                hosts.push(one.host.clone());
            }
        }
        let Some((injection, hosts)) = opened else {
            return Ok(self);
        };
        let roots = environment.get(OsStr::new("SSL_CERT_FILE"));
        let roots = roots.filter(|file| !file.is_empty()).map(std::fs::read);
        let failed = |problem| InjectError { injection, problem };
        match roots.transpose() {
            Ok(roots) => self.open(hosts, roots.as_deref()).map_err(failed),
            Err(error) => Err(failed(InjectProblem::Roots(error.kind()))),
        }
    }

    /// With TLS that is opened on the way to these hosts and ports, so that the secrets which are bound to them are added
    /// inside. Servers have to be vouched for by these certificates, in the format PEM, or else by those that the system
    /// trusts. Each session has a certificate authority of its own, which its commands are told to trust.
    ///
    /// # Errors
    /// This build cannot do that (it takes Linux, its sandbox and the feature `intercept`), or nobody is trusted.
    pub fn with_opened_tls(
        self,
        hosts: impl IntoIterator<Item = NetworkAllowlistEntry>,
        roots: Option<&[u8]>,
    ) -> Result<Self, InjectProblem> {
        self.open(hosts.into_iter().collect(), roots)
    }

    fn open(
        mut self,
        hosts: Vec<NetworkAllowlistEntry>,
        roots: Option<&[u8]>,
    ) -> Result<Self, InjectProblem> {
        self.to_open = Some(TlsToOpen::new(hosts, roots)?);
        Ok(self)
    }

    /// What one session opens TLS with, where somebody asked for that.
    ///
    /// # Errors
    /// Nothing that commands could trust can be made or kept.
    #[cfg_attr(
        not(all(target_os = "linux", feature = "linux-landlock")),
        expect(dead_code, reason = "where no sandbox opens TLS, nobody prepares it")
    )]
    pub(crate) fn session_tls(&self) -> io::Result<Option<SessionTls>> {
        self.to_open.as_ref().map(TlsToOpen::begin).transpose()
    }

    /// With other limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// With another resolver than the system's.
    #[must_use]
    pub fn with_resolver(mut self, resolver: Arc<dyn Resolver>) -> Self {
        self.resolver = Some(resolver);
        self
    }

    /// With other connections than the system's.
    #[must_use]
    pub fn with_connector(mut self, connector: Arc<dyn Connector>) -> Self {
        self.connector = Some(connector);
        self
    }

    /// The same without secrets, for a proxy that others than the sandbox can reach.
    #[cfg(all(target_os = "macos", feature = "seatbelt"))]
    pub(crate) fn without_credentials(&self) -> Self {
        Self {
            credentials: Vec::new(),
            to_open: None,
            ..self.clone()
        }
    }

    /// The same for one sandbox, whose session nobody knows yet.
    pub(crate) fn for_sandbox(&self) -> Self {
        Self {
            keeper: Some(Arc::default()),
            ..self.clone()
        }
    }

    /// From now on these are asked and told. Who is asked is not kept alive here: it holds the proxies. Who is told is,
    /// because connections end with the session.
    pub(crate) fn attend(&self, keeper: Weak<dyn Gatekeeper>, ledger: Arc<dyn Ledger>) {
        if let Some(cell) = &self.keeper {
            // A sandbox becomes one session.
            let _ = cell.set((Some(keeper), ledger));
        }
    }

    /// The same for one call, of which nobody is asked anything while it runs.
    pub(crate) fn told_to(&self, ledger: Arc<dyn Ledger>) -> Self {
        let cell = Keeper::from((None, ledger));
        Self {
            keeper: Some(Arc::new(cell)),
            ..self.clone()
        }
    }

    /// Serves whoever connects to this listener, until it is dropped.
    ///
    /// # Errors
    /// The system refuses a thread, or what it needs.
    #[cfg_attr(
        not(any(
            all(target_os = "linux", feature = "linux-landlock"),
            all(target_os = "macos", feature = "seatbelt")
        )),
        expect(dead_code, reason = "where no sandbox has a proxy, nobody serves one")
    )]
    pub(crate) fn serve(
        &self,
        listener: TcpListener,
        entries: Vec<NetworkAllowlistEntry>,
        tls: Option<&SessionTls>,
    ) -> io::Result<Served> {
        let refused = Arc::<Refused>::default();
        let outlet = Outlet::new();
        let desk = Arc::new(Desk {
            outlet,
            keeper: self.keeper.clone(),
            refused: Arc::clone(&refused),
        });
        let asked: Arc<dyn Approver> = Arc::clone(&desk) as _;
        let mut settings = Settings::new(entries)
            .with_approver(asked)
            .with_observer(desk);
        for credential in &self.credentials {
            settings = settings.with_credential(credential.clone());
        }
        if let Some(tls) = tls {
            settings = tls.put_into(settings);
        }
        settings = settings.with_limits(self.limits.unwrap_or_else(limits));
        if let Some(resolver) = &self.resolver {
            settings = settings.with_resolver(Arc::clone(resolver));
        }
        if let Some(connector) = &self.connector {
            settings = settings.with_connector(Arc::clone(connector));
        }
        Ok(Served {
            _proxy: Proxy::start(listener, settings)?,
            outlet,
            refused,
        })
    }
}

/// Why a secret that a policy binds to a host cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("network.inject: {injection}: {problem}")]
#[non_exhaustive]
pub struct InjectError {
    /// The setting. It does not hold the secret.
    pub injection: String,
    /// What is wrong.
    pub problem: InjectProblem,
}

/// What is wrong with a secret that a policy binds to a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InjectProblem {
    /// The environment has no such variable.
    #[error("the variable is not set")]
    NotSet,
    /// No header can carry it.
    #[error("{0}")]
    Unsendable(CredentialError),
    /// This build opens no TLS.
    #[error("this build opens no TLS: that takes Linux, its sandbox and the feature `intercept`")]
    CannotOpen,
    /// The file that says whom to trust cannot be read.
    #[error("SSL_CERT_FILE cannot be read: {0}")]
    Roots(io::ErrorKind),
    /// TLS cannot be opened.
    #[error("{0}")]
    Tls(String),
}

/// The usual limits, and no more connections than leave this process descriptors for everything else: each can take six.
fn limits() -> Limits {
    #[cfg_attr(
        not(unix),
        expect(unused_mut, reason = "descriptors are not counted there")
    )]
    let mut limits = Limits::default();
    #[cfg(unix)]
    if let Some(most) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        let most = usize::try_from(most / 16).unwrap_or(usize::MAX);
        limits.connections = limits.connections.min(most.max(8));
    }
    limits
}

impl fmt::Debug for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Egress")
            .field("credentials", &self.credentials)
            .field("limits", &self.limits)
            .field("to_open", &self.to_open)
            .finish_non_exhaustive()
    }
}

/// Which of the sandboxes that share an [`Egress`]: each has a proxy of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outlet(u64);

impl Outlet {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Whether a command is the only one that uses its outlet, as far as that is known, from its start to its end: then what is asked
/// for there, it asks for.
#[derive(Clone, Debug)]
pub(crate) struct Alone(Arc<AtomicBool>);

impl Alone {
    /// It is, until somebody knows better.
    pub(crate) fn yes() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    pub(crate) fn no_longer(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    pub(crate) fn is(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Whoever is asked about hosts that a policy does not list.
pub(crate) trait Gatekeeper: Send + Sync {
    /// What is known about a host that was asked for through an outlet, or the question that has to be put. Called on a thread that
    /// nobody else waits for.
    fn about(self: Arc<Self>, outlet: Outlet, host: &HostName, port: u16) -> About;
}

/// Whoever is told about connections.
pub(crate) trait Ledger: Send + Sync {
    /// One has ended that was made through this outlet.
    fn ended(&self, outlet: Outlet, connection: &ConnectionRecord);
}

/// What is known about a host.
pub(crate) enum About {
    /// This.
    Known(Answer),
    /// Nothing yet: this asks somebody, and waits. It keeps no session alive meanwhile.
    Ask(Box<dyn FnOnce() -> Answer + Send>),
}

/// The proxy of one sandbox.
#[derive(Debug)]
pub(crate) struct Served {
    /// Closed with everything that goes through it.
    _proxy: Proxy,
    outlet: Outlet,
    refused: Arc<Refused>,
}

impl Served {
    /// Which proxy it is.
    #[cfg_attr(
        not(any(
            all(target_os = "linux", feature = "linux-landlock"),
            all(target_os = "macos", feature = "seatbelt")
        )),
        expect(dead_code, reason = "where no sandbox has a proxy, nobody asks which")
    )]
    pub(crate) const fn outlet(&self) -> Outlet {
        self.outlet
    }

    /// What was refused since, each thing once.
    #[cfg_attr(
        not(any(
            all(target_os = "linux", feature = "linux-landlock"),
            all(target_os = "macos", feature = "seatbelt")
        )),
        expect(dead_code, reason = "where no sandbox has a proxy, nobody asks it")
    )]
    pub(crate) fn refused_since(&self, when: Instant) -> Vec<RefusedHost> {
        let refused = self.refused.0.lock();
        let refused = refused.unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<RefusedHost> = Vec::new();
        for (_, one) in refused.iter().filter(|(at, _)| *at >= when) {
            if !found.contains(one) {
                found.push(one.clone());
            }
        }
        found
    }
}

/// A host that was asked for and not reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefusedHost {
    /// As the client said it; what does not print is escaped.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) why: Refusal,
}

impl RefusedHost {
    /// The host, if a policy that lists it would have let it be reached.
    pub(crate) fn could_be_listed(&self) -> Option<(HostName, u16)> {
        match self.why {
            Refusal::NotListed | Refusal::Denied | Refusal::Unanswered => {
                let host = HostName::parse(&self.host).ok()?;
                Some((host, self.port))
            }
            _ => None,
        }
    }
}

impl fmt::Display for RefusedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is no host is the command's own word, and could be any.
        match HostName::parse(&self.host) {
            Ok(host) => write!(f, "network: {host}:{} was refused: {}", self.port, self.why),
            Err(_) => write!(f, "network: something that is no host was refused"),
        }
    }
}

/// What was refused lately, in order.
#[derive(Debug, Default)]
struct Refused(Mutex<VecDeque<(Instant, RefusedHost)>>);

impl Refused {
    fn note(&self, record: &ConnectionRecord) {
        let Decision::Refused { why } = &record.decision else {
            return;
        };
        let (Some(host), Some(port)) = (&record.host, record.port) else {
            return;
        };
        let one = RefusedHost {
            host: host.clone(),
            port,
            why: why.clone(),
        };
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() >= REFUSALS {
            refused.pop_front();
        }
        refused.push_back((Instant::now(), one));
    }
}

/// Between the proxy's thread and whoever decides.
struct Desk {
    outlet: Outlet,
    keeper: Option<Arc<Keeper>>,
    refused: Arc<Refused>,
}

impl Approver for Desk {
    fn ask<'a>(&'a self, host: &'a HostName, port: u16) -> Later<'a, Answer> {
        let (outlet, keeper, host) = (self.outlet, self.keeper.clone(), host.clone());
        Box::pin(async move {
            // A person takes longer than other connections can wait; and where the session ends meanwhile, its proxy must
            // not end on a thread of its own.
            let asking = move || {
                let keeper = keeper.as_ref().and_then(|cell| cell.get());
                let keeper = keeper.and_then(|(keeper, _)| keeper.as_ref()?.upgrade());
                match keeper.map(|keeper| keeper.about(outlet, &host, port)) {
                    Some(About::Known(answer)) => answer,
                    Some(About::Ask(ask)) => ask(),
                    None => Answer::NotAsked,
                }
            };
            let answer = tokio::task::spawn_blocking(asking).await;
            answer.unwrap_or(Answer::Denied)
        })
    }
}

impl Observer for Desk {
    fn ended(&self, record: &ConnectionRecord) {
        self.refused.note(record);
        if let Some((_, ledger)) = self.keeper.as_ref().and_then(|keeper| keeper.get()) {
            ledger.ended(self.outlet, record);
        }
    }
}
