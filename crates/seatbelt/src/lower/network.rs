//! The rules about the network and about local sockets.

use palisade_policy::{AbsolutePath, LoopbackAccess, NetworkScope};

use super::files::{Rules, all, carved_out, denied_by, inside};
use super::globs;
use super::places::{Places, Verdict};
use super::spot::{Filters, Reach, Spot};
use crate::host::MacHost;
use crate::profile::{Endpoint, EndpointHost, Filter, Operation, PathValue, UnspeakablePath};

/// Where the system resolves names of hosts.
const RESOLVER: &str = "/private/var/run/mDNSResponder";

const LISTENING: [Operation; 2] = [Operation::NETWORK_BIND, Operation::NETWORK_INBOUND];

pub(super) fn lower(
    places: &Places<'_>,
    host: &MacHost,
    filters: &mut Filters,
    rules: &mut Rules,
) -> Result<(), UnspeakablePath> {
    let canonical = places.policy().canonical();
    let loopback = canonical
        .rules()
        .map_or(LoopbackAccess::Off, |(_, local)| local.loopback);
    match (canonical.network(), loopback) {
        (NetworkScope::Full, loopback) => full(places, loopback, rules),
        (NetworkScope::Off, LoopbackAccess::Host) => local(rules),
        (NetworkScope::Off, _) => {}
        (NetworkScope::Only(_), LoopbackAccess::Host) => local(rules),
        (NetworkScope::Only(_), _) => proxies(host, rules),
    }
    sockets(places, host, filters, rules)
}

/// Everything, but not this machine if its loopback is off.
fn full(places: &Places<'_>, loopback: LoopbackAccess, rules: &mut Rules) {
    let anywhere = Filter::Remote(ip(EndpointHost::Any));
    let here = Filter::Remote(ip(EndpointHost::Localhost));
    let remote = match loopback {
        LoopbackAccess::Off => all(vec![anywhere, super::files::not(here.clone())]),
        LoopbackAccess::Private | LoopbackAccess::Host => anywhere,
    };
    rules.allow([Operation::NETWORK_OUTBOUND], vec![remote]);
    rules.allow(LISTENING, vec![Filter::Local(ip(EndpointHost::Any))]);
    if AbsolutePath::new(RESOLVER).is_ok_and(|path| places.may_read(&path)) {
        let resolver = Filter::Literal(PathValue::Fixed(RESOLVER.to_owned()));
        rules.allow([Operation::NETWORK_OUTBOUND], vec![resolver]);
    }
    if loopback == LoopbackAccess::Off {
        rules.deny(
            [Operation::NETWORK_OUTBOUND],
            vec![here],
            "palisade:loopback",
        );
    }
}

/// The loopback of this machine, with every server that listens there.
fn local(rules: &mut Rules) {
    internet_sockets(rules);
    let here = ip(EndpointHost::Localhost);
    rules.allow(
        [Operation::NETWORK_OUTBOUND],
        vec![Filter::Remote(here.clone())],
    );
    rules.allow(LISTENING, vec![Filter::Local(here)]);
}

/// Nothing but the proxies, which let the listed hosts through.
fn proxies(host: &MacHost, rules: &mut Rules) {
    if host.proxy_ports.is_empty() {
        return;
    }
    internet_sockets(rules);
    let ports = host.proxy_ports.iter().map(|port| {
        Filter::Remote(Endpoint::Tcp {
            host: EndpointHost::Localhost,
            port: Some(*port),
        })
    });
    rules.allow([Operation::NETWORK_OUTBOUND], ports.collect());
}

/// Making a socket reaches nothing by itself.
fn internet_sockets(rules: &mut Rules) {
    let domains = ["AF_INET", "AF_INET6"].map(|domain| Filter::SocketDomain(domain.to_owned()));
    rules.allow([Operation::SYSTEM_SOCKET], domains.to_vec());
}

const fn ip(host: EndpointHost) -> Endpoint {
    Endpoint::Ip { host, port: None }
}

/// Sockets by their path: those that the policy names, and those of the session in its own directory.
fn sockets(
    places: &Places<'_>,
    host: &MacHost,
    filters: &mut Filters,
    rules: &mut Rules,
) -> Result<(), UnspeakablePath> {
    let verdict = Verdict::Connect;
    let instances = globs::instances(places, verdict);
    for place in places.opened(verdict) {
        let carved = carved_out(places, filters, &instances, place, verdict)?;
        if let Some(inside) = inside(filters, place)? {
            let region = all([sockets_inside(inside), carved].concat());
            rules.allow([Operation::NETWORK_OUTBOUND], vec![region]);
        }
    }
    if let Some(tmp) = &host.session_tmp {
        let spot = Spot::existing(tmp.clone());
        let own = filters.subtree("SESSION", &spot, Reach::AtMost)?;
        let own = own.into_iter().next_back();
        let own = own.map(|filter| Filter::Local(Endpoint::UnixSocket(vec![filter])));
        rules.allow(LISTENING, own.into_iter().collect());
    }
    for place in places.closed(verdict) {
        let mut region = filters.subtree(place.origin.parameter(), &place.spot, Reach::AtLeast)?;
        let mut open = Vec::new();
        for inner in places.exceptions(place, verdict) {
            let subtree = filters.subtree(inner.origin.parameter(), &inner.spot, Reach::AtMost)?;
            open.extend(subtree.into_iter().map(super::files::not));
        }
        if !open.is_empty() {
            region = vec![all([vec![super::files::any(region)], open].concat())];
        }
        rules.deny([Operation::NETWORK_OUTBOUND], region, place.origin.tag());
    }
    let opened: Vec<AbsolutePath> = places
        .opened(verdict)
        .map(|place| place.spot.path.clone())
        .collect();
    for instance in &instances {
        let there = &instance.anchor.path;
        let concerns = |path: &AbsolutePath| {
            path.covers(there, places.case()) || there.covers(path, places.case())
        };
        if opened.iter().any(concerns) {
            let region = vec![denied_by(filters, instance)?];
            rules.deny([Operation::NETWORK_OUTBOUND], region, instance.tag);
        }
    }
    Ok(())
}

/// Sockets at a place and below it, in the form that is published to work; paths that only a pattern can name are asked
/// for beside it.
fn sockets_inside(inside: Filter) -> Vec<Filter> {
    match inside {
        Filter::Literal(_) | Filter::Subpath(_) => {
            vec![Filter::Remote(Endpoint::UnixSocket(vec![inside]))]
        }
        pattern => vec![Filter::Remote(Endpoint::UnixSocket(Vec::new())), pattern],
    }
}
