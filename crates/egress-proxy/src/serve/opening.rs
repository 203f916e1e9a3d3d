//! What a client says first in a tunnel: held back until it is clear that it is about the tunnel's own host.

use palisade_policy::HostName;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::time::{Instant, timeout_at};

use super::client::fill;
use super::relay::{self, Broken, Cut, Way};
use crate::limits::Limits;
use crate::record::Meter;
use crate::refusal::Refusal;
use crate::wire::{
    self, AfterHello, Authority, BodyScanner, ClientHello, HeadLimits, HeadProblem, HelloProblem,
    Opening, Side, Target,
};

/// The way from a client to a server.
pub(super) struct Upstream<'a, 'c, 's> {
    pub(super) client: &'a mut ReadHalf<'c>,
    pub(super) server: &'a mut WriteHalf<'s>,
    pub(super) pending: &'a mut Vec<u8>,
    pub(super) meter: &'a Meter,
}

impl Upstream<'_, '_, '_> {
    /// Passes on what names a host, if it names this one. Afterwards everything may pass.
    pub(super) async fn pass(
        &mut self,
        limits: &Limits,
        authority: &Authority,
    ) -> Result<(), Broken> {
        let found = self.read(limits, |bytes| match wire::classify(bytes) {
            Opening::Wait => Ok(None),
            opening => Ok(Some(opening)),
        });
        match found.await? {
            Some(Opening::Tls) => self.tls(limits, &authority.host).await,
            Some(Opening::Http) => self.http(limits, authority).await,
            Some(Opening::Http2) => Err(Broken::Refused(Refusal::Http2)),
            Some(Opening::Ssl2) => Err(hello(HelloProblem::Ssl2)),
            // Not enough to name a host, and there is no more.
            Some(Opening::Opaque | Opening::Wait) | None => self.send(self.pending.len()).await,
        }
    }

    async fn tls(&mut self, limits: &Limits, host: &HostName) -> Result<(), Broken> {
        self.client_hello(limits, host).await?;
        // The server may want other parameters: then a second one comes, and names a host again.
        let next = self.read_slowly(|bytes| wire::after_client_hello(bytes).map_err(hello));
        if let Some(AfterHello::Again(at)) = next.await? {
            self.send(at).await?;
            self.client_hello(limits, host).await?;
        }
        self.send(self.pending.len()).await
    }

    async fn client_hello(&mut self, limits: &Limits, host: &HostName) -> Result<(), Broken> {
        let read = self.read(limits, |bytes| {
            wire::read_client_hello(bytes, limits.hello_bytes).map_err(hello)
        });
        let found = read.await?.ok_or(hello(HelloProblem::Cut))?;
        check_name(&found, host).map_err(Broken::Refused)?;
        self.send(found.length).await
    }

    /// One request after another. Answers pass by without being looked at.
    async fn http(&mut self, limits: &Limits, authority: &Authority) -> Result<(), Broken> {
        let head_limits = HeadLimits {
            bytes: limits.head_bytes,
            headers: limits.headers,
        };
        loop {
            let read = self.read(limits, |bytes| {
                wire::read_request(bytes, head_limits).map_err(head)
            });
            let Some(request) = read.await? else {
                // Unfinished: no server takes it for a request, and none is told.
                return Ok(());
            };
            if !matches!(request.target(), Target::Path(_)) {
                return Err(head(HeadProblem::TunnelForm));
            }
            request
                .check_host(authority)
                .map_err(|name| Broken::Refused(Refusal::HostHeader { name }))?;
            self.send(request.length()).await?;
            let scanner = BodyScanner::new(request.framing(), Side::Client);
            let body = relay::body(
                self.client,
                self.server,
                self.pending,
                scanner,
                Way::Up,
                self.meter,
            );
            body.await.map_err(|cut| match cut {
                Cut::Problem(problem) => Broken::Refused(Refusal::Body { problem }),
                Cut::Source => Broken::Client,
                Cut::Sink => Broken::Server,
            })?;
        }
    }

    /// Reads until something is found; nothing if the client ends first. Once it has begun, it must be over in time.
    async fn read<T>(
        &mut self,
        limits: &Limits,
        mut parse: impl FnMut(&[u8]) -> Result<Option<T>, Broken>,
    ) -> Result<Option<T>, Broken> {
        if self.pending.is_empty() && self.more().await? == 0 {
            return Ok(None);
        }
        let end = Instant::now() + limits.head_time;
        timeout_at(end, self.read_slowly(&mut parse))
            .await
            .unwrap_or(Err(Broken::Refused(Refusal::TooSlow)))
    }

    async fn read_slowly<T>(
        &mut self,
        mut parse: impl FnMut(&[u8]) -> Result<Option<T>, Broken>,
    ) -> Result<Option<T>, Broken> {
        loop {
            if let Some(found) = parse(self.pending)? {
                return Ok(Some(found));
            }
            if self.more().await? == 0 {
                return Ok(None);
            }
        }
    }

    async fn more(&mut self) -> Result<usize, Broken> {
        fill(self.client, self.pending)
            .await
            .map_err(|_| Broken::Client)
    }

    /// Passes on so many of the bytes that were held back.
    async fn send(&mut self, count: usize) -> Result<(), Broken> {
        let bytes = self.pending.get(..count).unwrap_or(self.pending);
        relay::put(self.server, bytes, Way::Up, self.meter).await?;
        self.pending.drain(..count.min(self.pending.len()));
        self.pending.shrink_to_fit();
        Ok(())
    }
}

/// Whether TLS means the host that the tunnel is for.
pub(super) fn check_name(found: &ClientHello, host: &HostName) -> Result<(), Refusal> {
    if found.is_encrypted {
        return Err(Refusal::EncryptedHello);
    }
    match &found.server_name {
        Some(name) if HostName::parse(name).is_ok_and(|name| name == *host) => Ok(()),
        Some(name) => Err(Refusal::ServerName {
            name: name.escape_default().take(256).collect(),
        }),
        // An address has no name to send.
        None if host.address().is_some() => Ok(()),
        None => Err(Refusal::NoServerName),
    }
}

const fn hello(problem: HelloProblem) -> Broken {
    Broken::Refused(Refusal::Hello { problem })
}

const fn head(problem: HeadProblem) -> Broken {
    Broken::Refused(Refusal::Head { problem })
}
