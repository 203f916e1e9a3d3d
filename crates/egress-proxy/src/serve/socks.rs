//! SOCKS5: a greeting, a request, a tunnel.

use tokio::io::AsyncWriteExt as _;

use super::Shared;
use super::client::{Client, Unread};
use super::relay;
use super::route::{self, NoRoute};
use crate::record::{Account, Ending, Spoken};
use crate::refusal::Refusal;
use crate::wire::{self, SocksProblem, SocksReply};

pub(super) async fn serve(shared: &Shared, mut client: Client) {
    let mut account = shared.account(Spoken::Socks5);
    let time = shared.limits.head_time;

    let greeting = match client.read_with(time, wire::read_greeting).await {
        Ok(greeting) => greeting,
        Err(unread) => return unserved(account, client, unread, &[5, 0xff]).await,
    };
    client.consume(greeting.length);
    if !greeting.without_authentication {
        let problem = SocksProblem::Authentication;
        account.refused(Refusal::Socks { problem });
        drop(account);
        return client.farewell(&[5, 0xff]).await;
    }
    if client.stream.write_all(&[5, 0]).await.is_err() {
        return account.ended(Ending::ClientGone);
    }

    let request = match client.read_with(time, wire::read_socks_request).await {
        Ok(request) => request,
        Err(Unread::Problem(problem)) => {
            let reply = problem.reply().bytes();
            return unserved(account, client, Unread::Problem(problem), &reply).await;
        }
        Err(unread) => {
            return unserved(account, client, unread, &SocksReply::Failure.bytes()).await;
        }
    };
    client.consume(request.length);
    let connected = match route::parse_host(&mut account, &request.host, request.port) {
        Ok(authority) => route::connect(shared, &mut account, &authority)
            .await
            .map(|server| (authority, server)),
        Err(why) => {
            account.refused(why.clone());
            Err(NoRoute::Refused(why))
        }
    };
    let (authority, server) = match connected {
        Ok(connected) => connected,
        Err(no_route) => {
            drop(account);
            return client.farewell(&reply(&no_route).bytes()).await;
        }
    };
    let connected = SocksReply::Connected.bytes();
    if client.stream.write_all(&connected).await.is_err() {
        return account.ended(Ending::ClientGone);
    }
    relay::tunnel(shared, account, client, server, &authority).await;
}

fn reply(no_route: &NoRoute) -> SocksReply {
    match no_route {
        NoRoute::Refused(_) => SocksReply::NotAllowed,
        NoRoute::Unresolved | NoRoute::Unreachable { is_refused: false } => SocksReply::Unreachable,
        NoRoute::Unreachable { is_refused: true } => SocksReply::ConnectionRefused,
    }
}

async fn unserved(
    mut account: Account,
    client: Client,
    unread: Unread<SocksProblem>,
    answer: &[u8],
) {
    match unread {
        Unread::Gone => return account.ended(Ending::ClientGone),
        Unread::TooSlow => account.refused(Refusal::TooSlow),
        Unread::Problem(problem) => account.refused(Refusal::Socks { problem }),
    }
    drop(account);
    client.farewell(answer).await;
}
