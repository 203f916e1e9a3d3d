//! TLS that the proxy opens, for the hosts that it has a secret for: who is trusted on the other side, and who vouches for
//! the proxy on this one.

mod authority;
mod roots;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use palisade_policy::{HostName, NetworkAllowlistEntry, Protocol};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use self::authority::SessionAuthority;
use self::roots::Trusted;
use crate::refusal::Refusal;

/// All that is spoken inside: HTTP/2 could not be read by the same strict reader.
const SPOKEN: &[u8] = b"http/1.1";
/// Of what somebody else says about a failure.
const MOST_WORDS: usize = 256;

/// The hosts whose TLS is opened, so that a secret can be added inside, and who is trusted to vouch for their servers.
///
/// TLS is opened only if there is a [`Credential`](crate::Credential) for the host and port too. All other tunnels stay
/// closed to the proxy.
#[derive(Clone)]
pub struct Interception {
    hosts: Vec<NetworkAllowlistEntry>,
    trusted: Arc<Trusted>,
}

/// Why TLS cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InterceptionError {
    /// There is nothing to open.
    #[error("no host is named whose TLS is to be opened")]
    NoHosts,
    /// Nobody is trusted to vouch for servers.
    #[error(
        "the certificates that this system trusts are in none of the usual files; install them (the package is often \
         called ca-certificates), or hand some in"
    )]
    NoSystemRoots,
    /// What was handed in is not a list of certificates.
    #[error("these are no certificates to trust: {problem}")]
    Roots {
        /// What is wrong with them.
        problem: String,
    },
    /// The certificates of a session cannot be made.
    #[error("the certificate authority of a session cannot be made: {problem}")]
    Authority {
        /// What is wrong.
        problem: String,
    },
}

impl Interception {
    /// Opens TLS to these hosts and ports, whose servers must have a certificate that this system trusts.
    ///
    /// # Errors
    /// There are no hosts, or the system trusts nobody.
    pub fn new(
        hosts: impl IntoIterator<Item = NetworkAllowlistEntry>,
    ) -> Result<Self, InterceptionError> {
        Self::trusting(hosts, roots::of_system()?)
    }

    /// Opens TLS to these hosts and ports, whose servers must have a certificate that one of these vouches for, and no
    /// other.
    ///
    /// # Errors
    /// There are no hosts, or there is no certificate in the text, which is in the format PEM.
    pub fn with_roots(
        hosts: impl IntoIterator<Item = NetworkAllowlistEntry>,
        pem: &[u8],
    ) -> Result<Self, InterceptionError> {
        Self::trusting(hosts, roots::of_pem(pem)?)
    }

    fn trusting(
        hosts: impl IntoIterator<Item = NetworkAllowlistEntry>,
        trusted: Trusted,
    ) -> Result<Self, InterceptionError> {
        let hosts: Vec<_> = hosts.into_iter().collect();
        if hosts.is_empty() {
            return Err(InterceptionError::NoHosts);
        }
        Ok(Self {
            hosts,
            trusted: Arc::new(trusted),
        })
    }
}

impl fmt::Debug for Interception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts = self.hosts.iter().map(ToString::to_string);
        f.debug_struct("Interception")
            .field("hosts", &hosts.collect::<Vec<_>>())
            .field("roots", &self.trusted.roots.len())
            .finish()
    }
}

/// Opens TLS in one session, whose certificate authority it is. Its key stays in here.
pub struct Opener {
    interception: Interception,
    authority: SessionAuthority,
    to_servers: TlsConnector,
}

impl Opener {
    /// Makes a certificate authority for one session.
    ///
    /// # Errors
    /// There is no chance to draw keys from, or no certificate can name the hosts.
    pub fn new(interception: &Interception) -> Result<Self, InterceptionError> {
        Self::make(interception.clone()).map_err(|problem| InterceptionError::Authority {
            problem: words(&problem),
        })
    }

    fn make(interception: Interception) -> Result<Self, Problem> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut to_servers = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(Arc::clone(&interception.trusted.roots))
            .with_no_client_auth();
        to_servers.alpn_protocols = vec![SPOKEN.to_vec()];
        Ok(Self {
            authority: SessionAuthority::new(&interception.hosts)?,
            interception,
            to_servers: Arc::new(to_servers).into(),
        })
    }

    /// The certificate, in the format PEM, that clients inside have to trust besides those that they trust anyway.
    #[must_use]
    pub fn certificate(&self) -> &str {
        self.authority.certificate()
    }

    /// All that clients inside have to trust, in the format PEM: those who vouch for servers outside, whose TLS stays
    /// closed, and the session's own authority. For clients that trust one file and nothing else.
    #[must_use]
    pub fn bundle(&self) -> Vec<u8> {
        let mut bundle = self.interception.trusted.pem.clone();
        if !bundle.ends_with(b"\n") {
            bundle.push(b'\n');
        }
        bundle.extend_from_slice(self.certificate().as_bytes());
        bundle
    }

    pub(crate) fn is_for(&self, host: &HostName, port: u16) -> bool {
        let mut hosts = self.interception.hosts.iter();
        hosts.any(|entry| entry.matches(host, port, Protocol::Tcp))
    }

    /// Speaks TLS to clients that want to reach this host.
    pub(crate) fn acceptor(&self, host: &HostName) -> Result<TlsAcceptor, Problem> {
        self.authority.acceptor(host)
    }

    /// Speaks TLS to a server, which must be the one that is meant.
    pub(crate) async fn connect(
        &self,
        server: TcpStream,
        host: &HostName,
        time: Duration,
    ) -> Result<TlsStream<TcpStream>, Refusal> {
        let failed = |problem: &dyn fmt::Display| Refusal::ServerTls {
            problem: words(problem),
        };
        let name =
            server_name(host).ok_or_else(|| failed(&"a certificate cannot name the host"))?;
        match timeout(time, self.to_servers.connect(name, server)).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) => Err(failed(&error)),
            Err(_) => Err(failed(&"it takes too long")),
        }
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opener")
            .field("interception", &self.interception)
            .finish_non_exhaustive()
    }
}

/// What a library says, which may quote whoever is at the other end.
pub(crate) fn words(problem: &dyn fmt::Display) -> String {
    let text = problem.to_string();
    let plain = |letter: char| if letter.is_control() { '?' } else { letter };
    text.chars().take(MOST_WORDS).map(plain).collect()
}

/// What goes wrong in making keys, certificates and configurations: nothing that a client or a server could cause.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error(transparent)]
    Certificate(#[from] rcgen::Error),
    #[error(transparent)]
    Tls(#[from] rustls::Error),
}

fn server_name(host: &HostName) -> Option<ServerName<'static>> {
    match host.address() {
        Some(address) => Some(ServerName::from(address)),
        None => ServerName::try_from(host.to_string()).ok(),
    }
}
