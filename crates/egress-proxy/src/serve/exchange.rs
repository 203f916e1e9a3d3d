//! One request and its answer, over a connection of their own to the server: plain, or inside TLS that was opened.

use std::ops::ControlFlow;
use std::pin::pin;

use tokio::io::{AsyncRead, AsyncWrite, split};

use super::client::{Client, Stream, fill};
use super::relay::{self, Broken, Cut, Way};
use super::{Shared, http};
use crate::lease::over;
use crate::record::{Account, Ending, Meter};
use crate::refusal::Refusal;
use crate::wire::{self, BodyScanner, Framing, HeadLimits, RequestHead, ResponseHead, Side};

/// Answers such as `100 Continue` before the real one.
const MOST_INTERIM: usize = 8;

/// Sends a request that may be sent, and passes its answer on. The client comes back if it can send another one.
pub(super) async fn run<C: Stream>(
    shared: &Shared,
    mut account: Account,
    mut client: Client<C>,
    mut server: impl Stream,
    head: &RequestHead,
    request: &[u8],
) -> ControlFlow<(), Client<C>> {
    let meter = account.meter.clone();
    let exchanged = {
        let (mut from_client, mut to_client) = split(&mut client.stream);
        let (mut from_server, mut to_server) = split(&mut server);
        let pending = &mut client.pending;
        let upload = async {
            if relay::put(&mut to_server, request, Way::Up, &meter)
                .await
                .is_err()
            {
                return Ok(false);
            }
            let scanner = BodyScanner::new(head.framing(), Side::Client);
            let source = &mut from_client;
            match relay::body(source, &mut to_server, pending, scanner, Way::Up, &meter).await {
                Ok(()) => Ok(true),
                // It may have answered before it closed.
                Err(Cut::Sink) => Ok(false),
                Err(Cut::Source) => Err(Broken::Client),
                Err(Cut::Problem(problem)) => Err(Broken::Refused(Refusal::Body { problem })),
            }
        };
        let download = answer(
            &mut from_server,
            &mut to_client,
            head,
            http::head_limits(shared),
            &meter,
        );
        let both = async {
            let (mut upload, mut download) = (pin!(upload), pin!(download));
            let mut uploaded = None;
            loop {
                tokio::select! {
                    biased;
                    keeps = &mut download => {
                        return keeps.map(|keeps| keeps && uploaded == Some(true));
                    }
                    sent = &mut upload, if uploaded.is_none() => uploaded = Some(sent?),
                }
            }
        };
        tokio::select! {
            biased;
            () = over(account.lease.as_ref()) => Err(Broken::ApprovalOver),
            exchanged = both => exchanged,
            () = relay::idle(&meter, shared.limits.idle_time) => Err(Broken::Idle),
        }
    };
    drop(server);
    let is_unanswered = account.answered() == 0;
    match exchanged {
        Ok(keeps) => {
            account.ended(Ending::Complete);
            drop(account);
            if keeps {
                return ControlFlow::Continue(client);
            }
            client.farewell(b"").await;
        }
        Err(broken) => {
            relay::note(&mut account, &broken);
            drop(account);
            if is_unanswered {
                client.farewell(&apology(&broken)).await;
            }
        }
    }
    ControlFlow::Break(())
}

/// Passes an answer on, and says whether the client's connection can be used again.
async fn answer(
    server: &mut (impl AsyncRead + Unpin),
    client: &mut (impl AsyncWrite + Unpin),
    request: &RequestHead,
    limits: HeadLimits,
    meter: &Meter,
) -> Result<bool, Broken> {
    let mut pending = Vec::new();
    for _ in 0..MOST_INTERIM {
        let head = read_head(server, &mut pending, request, limits).await?;
        pending.drain(..head.length());
        if head.framing() == Framing::Chunked && request.minor_version() == 0 {
            return Err(Broken::Answer);
        }
        let keeps = request.keeps_alive() && head.framing() != Framing::UntilClose;
        relay::put(client, &head.forwarded(keeps), Way::Down, meter).await?;
        if head.is_interim() {
            continue;
        }
        let scanner = BodyScanner::new(head.framing(), Side::Server);
        let body = relay::body(server, client, &mut pending, scanner, Way::Down, meter);
        body.await.map_err(|cut| match cut {
            Cut::Problem(_) => Broken::Answer,
            Cut::Source => Broken::Server,
            Cut::Sink => Broken::Client,
        })?;
        return Ok(keeps);
    }
    Err(Broken::Answer)
}

async fn read_head(
    server: &mut (impl AsyncRead + Unpin),
    pending: &mut Vec<u8>,
    request: &RequestHead,
    limits: HeadLimits,
) -> Result<ResponseHead, Broken> {
    loop {
        match wire::read_response(pending, limits, request.method()) {
            Ok(Some(head)) => return Ok(head),
            Ok(None) => {}
            Err(_) => return Err(Broken::Answer),
        }
        match fill(server, pending).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return Err(Broken::Server),
        }
    }
}

/// What a client is told that got no answer.
fn apology(broken: &Broken) -> Vec<u8> {
    match broken {
        Broken::Refused(why) => http::refusal(why),
        Broken::Answer => http::answer(
            "502 Bad Gateway",
            "the server's answer is malformed, or switches to another protocol",
        ),
        Broken::Idle => http::answer("504 Gateway Timeout", "the server does not answer"),
        Broken::Server => http::answer("502 Bad Gateway", "the server closed without an answer"),
        Broken::ApprovalOver => http::answer("403 Forbidden", "the approval for this host is over"),
        Broken::Client => Vec::new(),
    }
}
