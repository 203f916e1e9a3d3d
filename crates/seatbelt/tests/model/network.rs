//! The network and local sockets: what a profile says about addresses, against the oracle.

use palisade_policy::{
    AbsolutePath, Access, HostName, LoopbackAccess, NetworkScope, PathCase, Peer, Protocol,
    UnixAddress,
};
use palisade_seatbelt::model::{Address, SystemCall, Transport};
use proptest::prelude::*;

use crate::disk::abs;
use crate::policies::{
    Flavour, SESSION_TMP, any_context, any_entries, any_path, any_policy, has_globs, populated,
};
use crate::subject::{PROXY_PORT, Subject, config};

/// Hosts that are loopback, that are not, and the address that is neither.
const HOSTS: [&str; 7] = [
    "a.test",
    "b.a.test",
    "192.0.2.1",
    "localhost",
    "127.0.0.1",
    "::1",
    "0.0.0.0",
];

const PORTS: [u16; 4] = [80, 443, 8080, PROXY_PORT];

fn is_everywhere(host: &HostName) -> bool {
    host.address().is_some_and(|ip| ip.is_unspecified())
}

fn internet(host: &HostName, port: u16, protocol: Protocol) -> Address {
    Address::Internet {
        transport: match protocol {
            Protocol::Udp => Transport::Udp,
            _ => Transport::Tcp,
        },
        loopback: host.is_loopback() && !is_everywhere(host),
        port,
    }
}

fn compare_connect(
    subject: &Subject,
    host: &HostName,
    port: u16,
    protocol: Protocol,
) -> Result<(), TestCaseError> {
    let call = SystemCall::Connect(internet(host, port, protocol));
    let verdict = subject.verdict(&Access::Connect {
        host: host.clone(),
        port,
        protocol,
    });
    let model = subject.allows(&call)?;
    let canonical = subject.policy.canonical();
    let (_, local) = canonical.rules().unwrap();
    let network = canonical.network();
    let listed = matches!(network, NetworkScope::Only(_));
    // The proxy is ours, and lets nothing through but the listed hosts.
    let proxy = listed && host.is_loopback() && port == PROXY_PORT && protocol == Protocol::Tcp;
    // Whether a Mac calls the address that is everywhere localhost is not known; a profile can say no more about it.
    let unknown = is_everywhere(host)
        && network == NetworkScope::Full
        && local.loopback == LoopbackAccess::Off;
    if model && !verdict.is_allowed() && !proxy && !unknown {
        return Err(subject.explain(&format!(
            "{call:?} ({host}) is allowed, the oracle says {verdict}"
        )));
    }
    // Hosts by name are for the proxy, and so are addresses that are listed.
    let elsewhere = listed || is_everywhere(host);
    if !model && verdict.is_allowed() && !elsewhere {
        return Err(subject.explain(&format!(
            "{call:?} ({host}) is denied, the oracle says {verdict}"
        )));
    }
    Ok(())
}

fn compare_listen(subject: &Subject, host: &HostName, port: u16) -> Result<(), TestCaseError> {
    let address = internet(host, port, Protocol::Tcp);
    let bind = subject.allows(&SystemCall::Bind(address.clone()))?;
    let listen = subject.allows(&SystemCall::Listen(address))?;
    prop_assert_eq!(bind, listen, "{}", subject.profile);
    let verdict = subject.verdict(&Access::Bind {
        host: host.clone(),
        port,
    });
    if host.is_loopback() && bind != verdict.is_allowed() {
        return Err(subject.explain(&format!(
            "listening on {host}: {bind}, the oracle says {verdict}"
        )));
    }
    prop_assert!(
        !bind || verdict.is_allowed(),
        "{host}: {verdict}\n{}",
        subject.profile
    );
    Ok(())
}

fn compare_socket(subject: &Subject, path: &AbsolutePath) -> Result<(), TestCaseError> {
    let Some(path) = subject.disk.kernel_path(path) else {
        return Ok(());
    };
    let address = Address::Unix(path.clone());
    let own = abs(SESSION_TMP).covers(&path, PathCase::Sensitive);
    if subject.disk.exists(&path) {
        let verdict = subject.verdict(&Access::Unix {
            address: UnixAddress::Path(path.clone()),
            peer: match own {
                true => Peer::Session,
                false => Peer::Host,
            },
        });
        let connect = subject.allows(&SystemCall::Connect(address.clone()))?;
        // A disk can have one entry for two names that the oracle tells apart: what is listed is where the name leads.
        let (_, local) = subject.policy.canonical().rules().unwrap();
        let listed = local.unix_paths.iter().any(|listed| {
            let located = subject.disk.locate(listed);
            located.missing.is_empty() && located.existing.covers(&path, PathCase::Sensitive)
        });
        if connect && !verdict.is_allowed() && !listed {
            return Err(subject.explain(&format!(
                "connecting to {path} is allowed, the oracle says {verdict}"
            )));
        }
        let exact = path.to_string().is_ascii() && !has_globs(&subject.policy) && !own;
        if exact && !connect && verdict.is_allowed() {
            return Err(subject.explain(&format!(
                "connecting to {path} is denied, the oracle says {verdict}"
            )));
        }
    } else {
        let bind = subject.allows(&SystemCall::Bind(address.clone()))?;
        let create = subject.verdict(&Access::Create(path.clone()));
        prop_assert!(!bind || create.is_allowed(), "binding {path}: {create}");
        // Nobody outside connects to what a command listens on elsewhere than in the session's own directory.
        prop_assert!(!bind || own, "{path} can be bound\n{}", subject.profile);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(120))]

    #[test]
    fn addresses_are_reached_as_the_oracle_says(
        policy in any_policy(Flavour::NAMES),
        context in any_context(),
    ) {
        let disk = populated(context.facts.case, &[]);
        let Some(subject) = Subject::new(&policy, &context, disk) else { return Ok(()) };
        for host in HOSTS {
            let host = HostName::parse(host).unwrap();
            for port in PORTS {
                for protocol in [Protocol::Tcp, Protocol::Udp] {
                    compare_connect(&subject, &host, port, protocol)?;
                }
                compare_listen(&subject, &host, port)?;
            }
        }
    }

    #[test]
    fn sockets_are_reached_as_the_oracle_says(
        policy in any_policy(Flavour::ALL),
        context in any_context(),
        entries in any_entries(),
        asked in prop::collection::vec(any_path(), 1..12),
    ) {
        let mut disk = populated(context.facts.case, &entries);
        disk.make_socket(&abs("/private/var/folders/x/session/s.sock"));
        disk.make_socket(&abs("/private/var/run/docker.sock"));
        let Some(subject) = Subject::new(&policy, &context, disk) else { return Ok(()) };
        let there = subject.disk.paths().into_iter().map(|(path, _)| path);
        for path in there.chain(asked).chain([abs(SESSION_TMP).join(&palisade_policy::RelativePath::new("new").unwrap())]) {
            compare_socket(&subject, &path)?;
        }
    }
}
