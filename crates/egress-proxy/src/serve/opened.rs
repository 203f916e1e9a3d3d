//! A tunnel whose TLS is opened: one request after another, judged as plain ones are, with a secret that nobody inside sees.

use std::io;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;

use super::client::{Client, Unread};
use super::{HTTPS, Shared};
use super::{exchange, http, opening, relay, route};
use crate::intercept::{Opener, words};
use crate::lease::over;
use crate::record::{Account, Ending, Spoken};
use crate::refusal::Refusal;
use crate::wire::{self, Authority, HeadProblem, Opening, RequestHead, Target};

type Inside = Client<TlsStream<Replayed>>;

/// Serves a tunnel to its end. The connection that was made for it is for the first request; each other one is judged
/// anew and gets its own.
pub(super) async fn serve(
    shared: &Shared,
    opener: &Opener,
    mut account: Account,
    client: Client,
    server: TcpStream,
    authority: &Authority,
) {
    account.record.spoken = Spoken::OpenedTls;
    let Some((account, mut client)) = open(shared, opener, account, client, authority).await else {
        return;
    };
    let mut first = Some((account, server));
    loop {
        let lease = first
            .as_ref()
            .and_then(|(account, _)| account.lease.clone());
        let first_byte = tokio::select! {
            biased;
            () = over(lease.as_ref()) => Err(Ending::ApprovalOver),
            read = client.first_byte(shared.limits.idle_time) => read,
        };
        if let Err(ending) = first_byte {
            if let Some((mut account, _)) = first {
                account.ended(match ending {
                    Ending::Refused => Ending::Idle,
                    ending => ending,
                });
            }
            return;
        }
        let (account, server) = match first.take() {
            Some((account, server)) => (account, Some(server)),
            None => {
                let mut account = shared.account(Spoken::OpenedTls);
                account.target(&authority.host.to_string(), authority.port);
                (account, None)
            }
        };
        let head = match http::read_head(shared, &mut client).await {
            Ok(head) => head,
            Err(unread) => return http::unreadable(account, client, unread).await,
        };
        client.consume(head.length());
        let request = Request {
            opener,
            authority,
            head: &head,
        };
        match request.send(shared, account, client, server).await {
            ControlFlow::Continue(same) => client = same,
            ControlFlow::Break(()) => return,
        }
    }
}

/// Speaks TLS to a client that means the tunnel's own host.
async fn open(
    shared: &Shared,
    opener: &Opener,
    mut account: Account,
    mut client: Client,
    authority: &Authority,
) -> Option<(Account, Inside)> {
    if let Err(unread) = hello(shared, &mut client, authority).await {
        let why = match unread {
            Unread::Gone => {
                account.ended(Ending::ClientGone);
                return None;
            }
            Unread::TooSlow => Refusal::TooSlow,
            Unread::Problem(why) => why,
        };
        account.refused(why.clone());
        drop(account);
        client.farewell(&relay::goodbye(&why)).await;
        return None;
    }
    let acceptor = match opener.acceptor(&authority.host) {
        Ok(acceptor) => acceptor,
        Err(problem) => {
            let problem = words(&problem);
            account.refused(Refusal::ClientTls { problem });
            return None;
        }
    };
    let stream = Replayed {
        read: client.pending,
        stream: client.stream,
    };
    match timeout(shared.limits.head_time, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => Some((account, Client::over(stream))),
        Ok(Err(error)) => {
            let problem = words(&error);
            account.refused(Refusal::ClientTls { problem });
            None
        }
        Err(_) => {
            account.refused(Refusal::TooSlow);
            None
        }
    }
}

/// Waits for a ClientHello that names the tunnel's own host, and leaves it there.
async fn hello(
    shared: &Shared,
    client: &mut Client,
    authority: &Authority,
) -> Result<(), Unread<Refusal>> {
    let first = client.first_byte(shared.limits.idle_time).await;
    first.map_err(|ending| match ending {
        Ending::Refused => Unread::TooSlow,
        _ => Unread::Gone,
    })?;
    let read = client.read_with(shared.limits.head_time, |bytes| {
        match wire::classify(bytes) {
            Opening::Wait => Ok(None),
            Opening::Tls => {
                let found = wire::read_client_hello(bytes, shared.limits.hello_bytes);
                found.map_err(|problem| Refusal::Hello { problem })
            }
            _ => Err(Refusal::NotTls),
        }
    });
    let found = read.await?;
    opening::check_name(&found, &authority.host).map_err(Unread::Problem)
}

/// One request inside TLS.
struct Request<'a> {
    opener: &'a Opener,
    authority: &'a Authority,
    head: &'a RequestHead,
}

impl Request<'_> {
    /// Sends it and passes the answer on. The client comes back if it can send another one.
    async fn send(
        self,
        shared: &Shared,
        mut account: Account,
        client: Inside,
        server: Option<TcpStream>,
    ) -> ControlFlow<(), Inside> {
        let authority = self.authority;
        let path = match self.path() {
            Ok(path) => path,
            Err(why) => return http::refuse(account, client, why).await,
        };
        let server = match server {
            Some(server) => server,
            None => match route::connect(shared, &mut account, authority).await {
                Ok(server) => server,
                Err(no_route) => {
                    drop(account);
                    client.farewell(&http::failure(authority, &no_route)).await;
                    return ControlFlow::Break(());
                }
            },
        };
        let time = shared.limits.connect_time;
        let server = match self.opener.connect(server, &authority.host, time).await {
            Ok(server) => server,
            Err(why) => return http::refuse(account, client, why).await,
        };
        let added = shared.secrets(authority);
        account.record.credential = !added.is_empty();
        let request = self.head.forwarded(authority, HTTPS, path, &added);
        exchange::run(shared, account, client, server, self.head, &request).await
    }

    fn path(&self) -> Result<&str, Refusal> {
        let Target::Path(path) = self.head.target() else {
            let problem = HeadProblem::TunnelForm;
            return Err(Refusal::Head { problem });
        };
        let checked = self.head.check_host(self.authority);
        checked.map_err(|name| Refusal::HostHeader { name })?;
        Ok(path)
    }
}

/// A stream whose first bytes were read already, and are read again.
struct Replayed {
    read: Vec<u8>,
    stream: TcpStream,
}

impl AsyncRead for Replayed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let count = self.read.len().min(buffer.remaining());
        buffer.put_slice(self.read.get(..count).unwrap_or_default());
        self.read.drain(..count);
        self.read.shrink_to_fit();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Replayed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
