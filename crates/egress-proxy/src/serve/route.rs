//! From a host and a port to a connection: the list, the question, the addresses, and one of them.

use std::time::Duration;

use palisade_policy::HostName;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use super::Shared;
use super::prompt::make_prompt;
use crate::gate::Listing;
use crate::record::{Account, Decision, Ending};
use crate::refusal::Refusal;
use crate::wire::Authority;

/// For one address of several, so that one that is silent does not take all the time.
const ONE_ADDRESS: Duration = Duration::from_secs(5);
/// More addresses than this are not tried.
const MOST_TRIED: usize = 6;

/// Why there is no connection.
pub(crate) enum NoRoute {
    /// It may not be.
    Refused(Refusal),
    /// It may be, but the name has no address.
    Unresolved,
    /// It may be, but nobody answers there; whether somebody said no is the second half.
    Unreachable { is_refused: bool },
}

/// Connects to a host that may be reached, and notes what was decided.
pub(crate) async fn connect(
    shared: &Shared,
    account: &mut Account,
    authority: &Authority,
) -> Result<TcpStream, NoRoute> {
    account.target(&authority.host.to_string(), authority.port);
    let connected = attempt(shared, account, authority).await;
    match &connected {
        Ok(_) => {}
        Err(NoRoute::Refused(why)) => account.refused(why.clone()),
        Err(NoRoute::Unresolved) => account.ended(Ending::Unresolved),
        Err(NoRoute::Unreachable { .. }) => account.ended(Ending::Unreachable),
    }
    connected
}

/// A host as it was written, for those who name it outside of a head.
pub(crate) fn parse_host(
    account: &mut Account,
    host: &str,
    port: u16,
) -> Result<Authority, Refusal> {
    account.target(host, port);
    let host = HostName::parse(host).map_err(|error| Refusal::NotAHost {
        problem: error.problem(),
    })?;
    if port == 0 {
        return Err(Refusal::NotAHost {
            problem: palisade_policy::HostProblem::PortZero,
        });
    }
    Ok(Authority { host, port })
}

async fn attempt(
    shared: &Shared,
    account: &mut Account,
    authority: &Authority,
) -> Result<TcpStream, NoRoute> {
    let Authority { host, port } = authority;
    account.record.decision = match shared.gate.judge(host, *port) {
        Listing::Refused(why) => return Err(NoRoute::Refused(why)),
        Listing::Listed(entry) => Decision::Listed {
            entry: entry.to_string(),
        },
        Listing::Askable => {
            let asked = shared.approvals.ask(authority).await;
            let (approval, lease) = asked.map_err(NoRoute::Refused)?;
            account.lease = lease;
            Decision::Approved { approval }
        }
    };
    let addresses = match host.address() {
        Some(address) => vec![address],
        None => {
            let asked = timeout(shared.limits.resolve_time, shared.resolver.resolve(host));
            match asked.await {
                Ok(Ok(addresses)) => addresses,
                Ok(Err(_)) | Err(_) => return Err(NoRoute::Unresolved),
            }
        }
    };
    let pinned = shared
        .gate
        .pin(host, *port, &addresses)
        .map_err(NoRoute::Refused)?;
    if pinned.is_empty() {
        return Err(NoRoute::Unresolved);
    }
    let end = Instant::now() + shared.limits.connect_time;
    let mut is_refused = false;
    for address in pinned.into_iter().take(MOST_TRIED) {
        let one = (Instant::now() + ONE_ADDRESS).min(end);
        let stream = match timeout_at(one, shared.connector.connect(address)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                is_refused |= error.kind() == std::io::ErrorKind::ConnectionRefused;
                continue;
            }
            Err(_) => continue,
        };
        // Whoever talks to an address of this machine gets that address as its own.
        let is_own = stream
            .local_addr()
            .is_ok_and(|own| own.ip() == address.ip());
        if is_own && !shared.gate.lists_address(address.ip(), *port) {
            let address = address.ip();
            return Err(NoRoute::Refused(Refusal::OwnAddress { address }));
        }
        let ready = stream
            .set_nonblocking(true)
            .and_then(|()| TcpStream::from_std(stream));
        let Ok(stream) = ready else { continue };
        make_prompt(&stream);
        account.record.address = Some(address);
        return Ok(stream);
    }
    Err(NoRoute::Unreachable { is_refused })
}
