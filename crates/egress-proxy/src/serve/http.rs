//! HTTP to the proxy: one request after another, each judged anew, or a tunnel.

use std::ops::ControlFlow;

use tokio::io::AsyncWriteExt as _;

use super::Shared;
use super::client::{Client, Stream, Unread};
use super::route::NoRoute;
use super::{exchange, relay, route};
use crate::record::{Account, Ending, Spoken};
use crate::refusal::Refusal;
use crate::wire::{self, Authority, HeadLimits, HeadProblem, RequestHead, Target};

/// The port that an address and a Host header leave out.
const HTTP: u16 = 80;

/// The first words of HTTP/2.
const PREFACE: &[u8] = b"PRI * HTTP/2";

pub(super) async fn serve(shared: &Shared, mut client: Client) {
    let mut is_first = true;
    loop {
        // Between requests a connection may be idle; the time for a head begins with its first byte.
        if !is_first && client.first_byte(shared.limits.idle_time).await.is_err() {
            return;
        }
        is_first = false;
        let head = match read_head(shared, &mut client).await {
            Ok(head) => head,
            Err(unread) => {
                return unreadable(shared.account(Spoken::Http), client, unread).await;
            }
        };
        client.consume(head.length());
        match head.target().clone() {
            Target::Tunnel(authority) => return tunnel(shared, client, &head, &authority).await,
            Target::Resource { authority, path } => {
                match resource(shared, client, &head, &authority, &path).await {
                    ControlFlow::Continue(same) => client = same,
                    ControlFlow::Break(()) => return,
                }
            }
            Target::Path(_) => {
                let problem = HeadProblem::TargetForm;
                let account = shared.account(Spoken::Http);
                let _ = refuse(account, client, Refusal::Head { problem }).await;
                return;
            }
        }
    }
}

pub(super) fn head_limits(shared: &Shared) -> HeadLimits {
    HeadLimits {
        bytes: shared.limits.head_bytes,
        headers: shared.limits.headers,
    }
}

pub(super) async fn read_head<S: Stream>(
    shared: &Shared,
    client: &mut Client<S>,
) -> Result<RequestHead, Unread<Refusal>> {
    let limits = head_limits(shared);
    let mut looked_at = 0;
    let read = client.read_with(shared.limits.head_time, |bytes| {
        if bytes.starts_with(PREFACE) {
            return Err(Refusal::Http2);
        }
        // Only the end of a line, or too much of it, can change what was found before.
        let news = bytes.get(looked_at..).unwrap_or_default();
        if !news.contains(&b'\n') && bytes.len() <= limits.bytes {
            looked_at = bytes.len();
            return Ok(None);
        }
        looked_at = bytes.len();
        wire::read_request(bytes, limits).map_err(|problem| match problem {
            HeadProblem::TargetHost(problem) => Refusal::NotAHost { problem },
            problem => Refusal::Head { problem },
        })
    });
    read.await
}

pub(super) async fn unreadable<S: Stream>(
    mut account: Account,
    client: Client<S>,
    unread: Unread<Refusal>,
) {
    let why = match unread {
        Unread::Gone => return account.ended(Ending::ClientGone),
        Unread::TooSlow => Refusal::TooSlow,
        Unread::Problem(why) => why,
    };
    account.refused(why.clone());
    drop(account);
    client.farewell(&refusal(&why)).await;
}

async fn tunnel(shared: &Shared, mut client: Client, head: &RequestHead, authority: &Authority) {
    let mut account = shared.account(Spoken::Connect);
    account.target(&authority.host.to_string(), authority.port);
    if let Err(name) = head.check_host(authority) {
        let _ = refuse(account, client, Refusal::HostHeader { name }).await;
        return;
    }
    let server = match route::connect(shared, &mut account, authority).await {
        Ok(server) => server,
        Err(no_route) => {
            drop(account);
            return client.farewell(&failure(authority, &no_route)).await;
        }
    };
    let ready = client
        .stream
        .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n");
    if ready.await.is_err() {
        return account.ended(Ending::ClientGone);
    }
    relay::tunnel(shared, account, client, server, authority).await;
}

/// One plain request. The client comes back if it can send another one.
async fn resource(
    shared: &Shared,
    client: Client,
    head: &RequestHead,
    authority: &Authority,
    path: &str,
) -> ControlFlow<(), Client> {
    let mut account = shared.account(Spoken::Http);
    account.target(&authority.host.to_string(), authority.port);
    if let Err(name) = head.check_host(authority) {
        return refuse(account, client, Refusal::HostHeader { name }).await;
    }
    let server = match route::connect(shared, &mut account, authority).await {
        Ok(server) => server,
        Err(no_route) => {
            drop(account);
            client.farewell(&failure(authority, &no_route)).await;
            return ControlFlow::Break(());
        }
    };
    let added = shared.plain_secrets(authority);
    account.record.credential = !added.is_empty();
    let request = head.forwarded(authority, HTTP, path, &added);
    exchange::run(shared, account, client, server, head, &request).await
}

/// Refuses a request. Nothing follows it, because nobody knows where it ends.
pub(super) async fn refuse<S: Stream>(
    mut account: Account,
    client: Client<S>,
    why: Refusal,
) -> ControlFlow<(), Client<S>> {
    account.refused(why.clone());
    drop(account);
    client.farewell(&refusal(&why)).await;
    ControlFlow::Break(())
}

/// What a client of HTTP is told when something is refused.
pub(super) fn refusal(why: &Refusal) -> Vec<u8> {
    let status = match why {
        Refusal::Http2 => return go_away(why),
        Refusal::Head {
            problem: HeadProblem::TooLong | HeadProblem::TooManyHeaders,
        } => "431 Request Header Fields Too Large",
        Refusal::Head {
            problem: HeadProblem::Upgrade | HeadProblem::Trace,
        } => "501 Not Implemented",
        Refusal::Head { .. }
        | Refusal::Body { .. }
        | Refusal::NotAHost { .. }
        | Refusal::HostHeader { .. }
        | Refusal::UnknownProtocol => "400 Bad Request",
        Refusal::TooSlow => "408 Request Timeout",
        Refusal::TooManyConnections => "503 Service Unavailable",
        Refusal::ServerTls { .. } => "502 Bad Gateway",
        _ => "403 Forbidden",
    };
    answer(status, &format!("refused: {why}"))
}

pub(super) fn failure(authority: &Authority, no_route: &NoRoute) -> Vec<u8> {
    let (status, text) = match no_route {
        NoRoute::Refused(why) => {
            return answer("403 Forbidden", &format!("refused: {authority}: {why}"));
        }
        NoRoute::Unresolved => ("502 Bad Gateway", "the name has no address"),
        NoRoute::Unreachable { is_refused: true } => ("502 Bad Gateway", "nobody listens there"),
        NoRoute::Unreachable { is_refused: false } => {
            ("504 Gateway Timeout", "nobody answers there")
        }
    };
    answer(status, &format!("{authority}: {text}"))
}

pub(super) fn answer(status: &str, text: &str) -> Vec<u8> {
    let body = format!("palisade: {text}\n");
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Settings, and the end of a connection of HTTP/2: "use HTTP/1.1".
fn go_away(why: &Refusal) -> Vec<u8> {
    let text = why.to_string();
    let length = u8::try_from(text.len() + 8).unwrap_or(8);
    let mut out = vec![0, 0, 0, 4, 0, 0, 0, 0, 0];
    out.extend([0, 0, length, 7, 0, 0, 0, 0, 0]);
    out.extend([0, 0, 0, 0, 0, 0, 0, 0xd]);
    out.extend(text.bytes().take(usize::from(length) - 8));
    out
}
