//! One connection, from its first byte to its record.

mod bulk;
mod client;
mod exchange;
mod http;
#[cfg(all(feature = "intercept", target_os = "linux"))]
mod opened;
mod opening;
mod prompt;
mod relay;
mod route;
mod socks;

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;

use self::client::Client;
use crate::approvals::Approvals;
use crate::credential::Credential;
use crate::gate::Gate;
use crate::hooks::{Connector, Observer, Resolver};
#[cfg(all(feature = "intercept", target_os = "linux"))]
use crate::intercept::Opener;
use crate::limits::Limits;
use crate::proxy::Settings;
use crate::record::{Account, Ending, Spoken};
use crate::refusal::Refusal;
use crate::wire::{Authority, SocksProblem};

/// How long one that is turned away has to say which protocol it speaks.
const FIRST_BYTE: Duration = Duration::from_secs(1);

/// Where TLS is spoken: what is bound to this port of a host is never sent there without it.
const HTTPS: u16 = 443;

/// What all connections of a proxy share.
pub(crate) struct Shared {
    gate: Gate,
    limits: Limits,
    credentials: Vec<Credential>,
    approvals: Arc<Approvals>,
    resolver: Arc<dyn Resolver>,
    connector: Arc<dyn Connector>,
    observer: Arc<dyn Observer>,
    #[cfg(all(feature = "intercept", target_os = "linux"))]
    opener: Option<Arc<Opener>>,
}

impl Shared {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            approvals: Approvals::new(settings.approver, settings.limits),
            gate: settings.gate,
            limits: settings.limits,
            credentials: settings.credentials,
            resolver: settings.resolver,
            connector: settings.connector,
            observer: settings.observer,
            #[cfg(all(feature = "intercept", target_os = "linux"))]
            opener: settings.opener,
        }
    }

    /// Who opens the TLS of a tunnel to this host; nobody, if there is no secret to add.
    #[cfg(all(feature = "intercept", target_os = "linux"))]
    fn opener(&self, authority: &Authority) -> Option<&Opener> {
        let opener = self.opener.as_deref()?;
        let is_wanted =
            opener.is_for(&authority.host, authority.port) && !self.secrets(authority).is_empty();
        is_wanted.then_some(opener)
    }

    /// What is added to a request that everybody on the way can read: nothing that is meant for TLS.
    fn plain_secrets(&self, authority: &Authority) -> Vec<(&str, &[u8])> {
        #[cfg(all(feature = "intercept", target_os = "linux"))]
        if self.opener(authority).is_some() {
            return Vec::new();
        }
        if authority.port == HTTPS {
            return Vec::new();
        }
        self.secrets(authority)
    }

    /// The secrets for a host, the first one for each header.
    fn secrets(&self, authority: &Authority) -> Vec<(&str, &[u8])> {
        let mut added: Vec<(&str, &[u8])> = Vec::new();
        for credential in &self.credentials {
            let (name, value) = credential.field();
            let is_new = added.iter().all(|(other, _)| *other != name);
            if is_new && credential.is_for(&authority.host, authority.port) {
                added.push((name, value));
            }
        }
        added
    }

    pub(crate) const fn most_connections(&self) -> usize {
        self.limits.connections
    }

    fn account(&self, spoken: Spoken) -> Account {
        Account::open(&self.observer, spoken)
    }
}

/// Serves a connection, whichever protocol it speaks.
pub(crate) async fn connection(shared: &Shared, stream: TcpStream) {
    let mut client = Client::new(stream);
    let first = match client.first_byte(shared.limits.head_time).await {
        Ok(first) => first,
        Err(ending) => {
            let mut account = shared.account(Spoken::Unknown);
            match ending {
                Ending::Refused => account.refused(Refusal::TooSlow),
                ending => account.ended(ending),
            }
            return;
        }
    };
    match first {
        5 => socks::serve(shared, client).await,
        b'A'..=b'Z' | b'a'..=b'z' => http::serve(shared, client).await,
        _ => {
            let why = match first {
                4 => Refusal::Socks {
                    problem: SocksProblem::Version4,
                },
                22 => Refusal::TlsToProxy,
                _ => Refusal::UnknownProtocol,
            };
            shared.account(Spoken::Unknown).refused(why.clone());
            client.farewell(&answer(first, &why)).await;
        }
    }
}

/// Tells a connection that there are too many, if there is time for that.
pub(crate) async fn turn_away(shared: &Shared, stream: TcpStream, politely: bool) {
    shared
        .account(Spoken::Unknown)
        .refused(Refusal::TooManyConnections);
    if !politely {
        return;
    }
    let mut client = Client::new(stream);
    if let Ok(first) = client.first_byte(FIRST_BYTE).await {
        client
            .farewell(&answer(first, &Refusal::TooManyConnections))
            .await;
    }
}

/// What a client is told that is not served, by the first byte that it sent.
fn answer(first: u8, why: &Refusal) -> Vec<u8> {
    match first {
        // "Rejected or failed", in the format of version 4.
        4 => vec![0, 0x5b, 0, 0, 0, 0, 0, 0],
        // No method is acceptable.
        5 => vec![5, 0xff],
        // A fatal alert of TLS: a protocol that is not wanted here.
        22 => vec![21, 3, 1, 0, 2, 2, 70],
        _ => http::refusal(why),
    }
}
