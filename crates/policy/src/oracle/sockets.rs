//! What the oracle says about the network and about local sockets.

use super::{Judgement, Kind};
use crate::access::{Clause, Peer, Place, UnixAddress};
use crate::canonical::NetworkScope;
use crate::network::{HostName, Protocol};
use crate::resolve::{ResolvedPolicy, Stance};
use crate::rules::{LocalAccess, LoopbackAccess};

impl ResolvedPolicy {
    pub(super) fn judge_connect(
        &self,
        host: &HostName,
        port: u16,
        protocol: Protocol,
        local: &LocalAccess,
    ) -> Judgement {
        let network = self.canonical.network();
        if let NetworkScope::Only(hosts) = network
            && let Some(entry) = hosts
                .iter()
                .find(|entry| entry.matches(host, port, protocol))
        {
            return Ok((Place::Host, Clause::Listed(entry.clone())));
        }
        if host.is_loopback() {
            return self.judge_loopback(local);
        }
        match network {
            NetworkScope::Full => Ok((Place::Host, Clause::FullNetwork)),
            NetworkScope::Off => Err(Clause::NoNetwork),
            NetworkScope::Only(_) => Err(Clause::NotListed),
        }
    }

    pub(super) fn judge_bind(&self, host: &HostName, local: &LocalAccess) -> Judgement {
        let everywhere = host
            .address()
            .is_some_and(|address| address.is_unspecified());
        match self.canonical.network() {
            NetworkScope::Full => Ok((Place::Host, Clause::FullNetwork)),
            // Everywhere is more than loopback, unless loopback is all there is.
            _ if everywhere && !self.owns_loopback(local) => Err(Clause::NoNetwork),
            _ if host.is_loopback() => self.judge_loopback(local),
            NetworkScope::Off | NetworkScope::Only(_) => Err(Clause::NoNetwork),
        }
    }

    fn owns_loopback(&self, local: &LocalAccess) -> bool {
        self.context.private.loopback
            && local.loopback == LoopbackAccess::Private
            && !self.canonical.has_full_network()
    }

    fn judge_loopback(&self, local: &LocalAccess) -> Judgement {
        match local.loopback {
            LoopbackAccess::Off => Err(Clause::NoLoopback),
            LoopbackAccess::Host => Ok((Place::Host, Clause::HostLoopback)),
            LoopbackAccess::Private if self.canonical.has_full_network() => {
                Ok((Place::Host, Clause::FullNetwork))
            }
            LoopbackAccess::Private if self.owns_loopback(local) => {
                Ok((Place::Private, Clause::OwnLoopback))
            }
            LoopbackAccess::Private => Err(Clause::NoHostLoopback),
        }
    }

    pub(super) fn judge_unix(
        &self,
        address: &UnixAddress,
        peer: Peer,
        local: &LocalAccess,
    ) -> Judgement {
        match (address, peer) {
            (UnixAddress::Unnamed, _) | (_, Peer::Session) => {
                Ok((Place::Private, Clause::SessionSocket))
            }
            (UnixAddress::Abstract(_), Peer::Host) => Err(Clause::UnlistedSocket),
            (UnixAddress::Path(path), Peer::Host) => {
                let listed = local
                    .unix_paths
                    .iter()
                    .filter(|listed| listed.covers(path, self.case()))
                    .max_by_key(|listed| listed.depth())
                    .ok_or(Clause::UnlistedSocket)?;
                match self.strongest_guard(path, Kind::Read) {
                    // Naming a directory of sockets does not name the secrets below it.
                    Some((specificity, Stance::Denies, guard)) if specificity > listed.depth() => {
                        Err(guard.clause(Stance::Denies))
                    }
                    _ => Ok((Place::Host, Clause::ListedSocket(listed.clone()))),
                }
            }
        }
    }
}
