//! Bytes in both directions: what a tunnel carries, with back-pressure, half-closes, and an end when nothing moves.

use std::io::ErrorKind;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};

use super::client::Client;
#[cfg(all(feature = "intercept", target_os = "linux"))]
use super::opened;
use super::{Shared, bulk, http, opening};
use crate::lease::over;
use crate::record::{Account, Ending, Meter};
use crate::refusal::Refusal;
use crate::wire::{Authority, BodyProblem, BodyScanner};

/// How much one direction holds while the other side is not ready to take it. An idle one holds nothing.
pub(super) const BUFFER: usize = 128 * 1024;

/// A direction that has carried so much is likely to carry more, and is worth descriptors of its own.
const MUCH: usize = 1 << 20;

/// Why a relay ended before both sides had said all.
#[derive(Debug)]
pub(super) enum Broken {
    Refused(Refusal),
    Client,
    Server,
    Answer,
    Idle,
    ApprovalOver,
}

/// Which way bytes go.
#[derive(Clone, Copy)]
pub(super) enum Way {
    Up,
    Down,
}

impl Way {
    pub(super) fn count(self, meter: &Meter, bytes: usize) {
        match self {
            Self::Up => meter.sent(bytes),
            Self::Down => meter.received(bytes),
        }
    }

    pub(super) fn source_gone(self) -> Broken {
        match self {
            Self::Up => Broken::Client,
            Self::Down => Broken::Server,
        }
    }

    pub(super) fn sink_gone(self) -> Broken {
        match self {
            Self::Up => Broken::Server,
            Self::Down => Broken::Client,
        }
    }
}

/// Relays a tunnel to its end, or opens it if that is wanted for this host. What the client says first must be about the host that the tunnel is for.
pub(super) async fn tunnel(
    shared: &Shared,
    mut account: Account,
    mut client: Client,
    mut server: TcpStream,
    authority: &Authority,
) {
    #[cfg(all(feature = "intercept", target_os = "linux"))]
    if let Some(opener) = shared.opener(authority) {
        return opened::serve(shared, opener, account, client, server, authority).await;
    }
    let meter = account.meter.clone();
    let relayed = {
        let (mut from_client, mut to_client) = client.stream.split();
        let (mut from_server, mut to_server) = server.split();
        let pending = &mut client.pending;
        let up = async {
            let mut way = opening::Upstream {
                client: &mut from_client,
                server: &mut to_server,
                pending,
                meter: &meter,
            };
            way.pass(&shared.limits, authority).await?;
            copy(&mut from_client, &mut to_server, Way::Up, &meter).await
        };
        let down = copy(&mut from_server, &mut to_client, Way::Down, &meter);
        tokio::select! {
            biased;
            () = over(account.lease.as_ref()) => Err(Broken::ApprovalOver),
            relayed = async { tokio::try_join!(up, down) } => relayed.map(|_| ()),
            () = idle(&meter, shared.limits.idle_time) => Err(Broken::Idle),
        }
    };
    drop(server);
    let Err(broken) = relayed else {
        return account.ended(Ending::Complete);
    };
    let is_unanswered = account.answered() == 0;
    note(&mut account, &broken);
    drop(account);
    if let Broken::Refused(why) = &broken
        && is_unanswered
    {
        client.farewell(&goodbye(why)).await;
    }
}

/// Notes how a connection ended.
pub(super) fn note(account: &mut Account, broken: &Broken) {
    match broken {
        Broken::Refused(why) => account.refused(why.clone()),
        Broken::Client => account.ended(Ending::ClientGone),
        Broken::Server => account.ended(Ending::ServerGone),
        Broken::Answer => account.ended(Ending::BadAnswer),
        Broken::Idle => account.ended(Ending::Idle),
        Broken::ApprovalOver => account.ended(Ending::ApprovalOver),
    }
}

/// What a client in a tunnel is told, in the protocol that it speaks there.
pub(super) fn goodbye(why: &Refusal) -> Vec<u8> {
    match why {
        // Fatal: a name that is not known here.
        Refusal::ServerName { .. } | Refusal::NoServerName | Refusal::EncryptedHello => {
            vec![21, 3, 3, 0, 2, 2, 112]
        }
        // Fatal: a handshake that fails.
        Refusal::Hello { .. } => vec![21, 3, 3, 0, 2, 2, 40],
        _ => http::refusal(why),
    }
}

/// Ends when nothing has moved for this long.
pub(super) async fn idle(meter: &Meter, time: Duration) {
    let (mut seen, mut still) = (meter.moved(), 0);
    while still < 4 {
        tokio::time::sleep(time / 4).await;
        let moved = meter.moved();
        still = if moved == seen { still + 1 } else { 0 };
        seen = moved;
    }
}

/// Copies until the source ends, and then tells the sink.
async fn copy(
    source: &mut ReadHalf<'_>,
    sink: &mut WriteHalf<'_>,
    way: Way,
    meter: &Meter,
) -> Result<(), Broken> {
    let mut carried = 0_usize;
    loop {
        if carried >= MUCH {
            carried = 0;
            if let Some(done) = bulk::copy(source.as_ref(), sink.as_ref(), way, meter).await {
                done?;
                drop(sink.shutdown().await);
                return Ok(());
            }
        }
        source.readable().await.map_err(|_| way.source_gone())?;
        // Taken when there is something to hold, and given back before waiting: a thousand idle tunnels hold nothing.
        let mut buffer = Vec::with_capacity(BUFFER);
        loop {
            buffer.clear();
            match source.try_read_buf(&mut buffer) {
                Ok(0) => {
                    // A sink that is gone needs no telling.
                    drop(sink.shutdown().await);
                    return Ok(());
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return Err(way.source_gone()),
            }
            put(sink, &buffer, way, meter).await?;
            carried = carried.saturating_add(buffer.len());
            if carried >= MUCH {
                break;
            }
        }
    }
}

/// Writes everything, and counts it piece by piece: a slow sink is not an idle one.
pub(super) async fn put(
    sink: &mut (impl AsyncWrite + Unpin),
    mut bytes: &[u8],
    way: Way,
    meter: &Meter,
) -> Result<(), Broken> {
    while !bytes.is_empty() {
        let written = sink.write(bytes).await.map_err(|_| way.sink_gone())?;
        if written == 0 {
            return Err(way.sink_gone());
        }
        way.count(meter, written);
        bytes = bytes.get(written..).unwrap_or_default();
    }
    // TLS may have taken more than it has sent.
    sink.flush().await.map_err(|_| way.sink_gone())
}

/// Why a body did not arrive whole.
pub(super) enum Cut {
    Problem(BodyProblem),
    Source,
    Sink,
}

/// Passes a body on, from what is pending and then from the source, to its end and no further.
pub(super) async fn body(
    source: &mut (impl AsyncRead + Unpin),
    sink: &mut (impl AsyncWrite + Unpin),
    pending: &mut Vec<u8>,
    mut scanner: BodyScanner,
    way: Way,
    meter: &Meter,
) -> Result<(), Cut> {
    loop {
        let count = scanner.scan(pending).map_err(Cut::Problem)?;
        let ours = pending.get(..count).unwrap_or_default();
        put(sink, ours, way, meter).await.map_err(|_| Cut::Sink)?;
        pending.drain(..count);
        if scanner.is_done() {
            pending.shrink_to_fit();
            return Ok(());
        }
        pending.reserve(BUFFER);
        match source.read_buf(pending).await {
            Ok(1..) => {}
            Ok(0) if scanner.may_end() => return Ok(()),
            Ok(0) => return Err(Cut::Problem(BodyProblem::Cut)),
            Err(_) => return Err(Cut::Source),
        }
    }
}
