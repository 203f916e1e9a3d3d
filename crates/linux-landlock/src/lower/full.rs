//! The full tier: namespaces, with Landlock as the second wall where the kernel has it.

use palisade_policy::{
    AbsolutePath, Enforcement, LoopbackAccess, NetworkScope, PolicyError, ProxyVariable,
    ResolvedPolicy, proxy_variables, trust_variables,
};

use super::areas::Areas;
use super::mounts::{self, Built, Region};
use super::{caches, limits, report};
use crate::host::{Entry, LinuxHost};
use crate::plan::{
    Device, EnvValue, FsRights, Mount, NetRights, NetworkNamespace, PROXY, PathRule, Plan, Ruleset,
    Scopes, Tier,
};
use crate::seccomp::{self, Sockets};

pub(super) fn lower(
    policy: &ResolvedPolicy,
    host: &LinuxHost,
    areas: &Areas,
) -> Result<(Plan, Enforcement), PolicyError> {
    let mut built = mounts::build(policy, host, areas)?;
    let network = network(policy, host);
    let sockets = match network {
        NetworkNamespace::Host => Sockets::HostNetwork,
        NetworkNamespace::OwnLoopback | NetworkNamespace::Nothing | NetworkNamespace::Proxied => {
            Sockets::OwnNetwork
        }
    };
    let filter = seccomp::compile(&policy.canonical().seccomp_profile(), sockets, host.arch)?;
    let enforcement = report::full(policy, host, areas, &built);
    let (limits, enforcement) = limits::lower(policy, host, Tier::Full, enforcement);
    let own_tmp = built.mounts.iter().any(|mount| {
        matches!(mount, Mount::Tmpfs { at, mode: 0o1777 } if at.as_path() == std::path::Path::new("/tmp"))
    });
    let tmpdir = ("TMPDIR".to_owned(), EnvValue::Literal("/tmp".to_owned()));
    let mut environment = Vec::new();
    if own_tmp {
        environment.push(tmpdir);
        environment.extend(caches::without_a_place(policy, &host.places, &built));
    }
    if network == NetworkNamespace::Proxied {
        environment.extend(proxy_variables(PROXY).into_iter().map(told));
        if let Some(trust) = &host.trust {
            let [bundle, extra] = [&trust.bundle, &trust.extra].map(ToString::to_string);
            environment.extend(trust_variables(&bundle, &extra).into_iter().map(told));
            // Last, so that nothing lies over it.
            built.mounts.push(Mount::Keep {
                path: trust.directory.clone(),
                writable: false,
            });
        }
    }
    let plan = Plan {
        tier: Tier::Full,
        network,
        canaries: canaries(policy, host, |path| built.region(path) == Region::ReadOnly),
        landlock: ruleset(host, &built, network),
        placeholders: built.placeholders,
        mounts: built.mounts,
        filter,
        limits,
        cgroups: limits::groups(host, &limits),
        environment,
        private_tmpdir: false,
        git: built.git,
    };
    Ok((plan, enforcement))
}

fn told(variable: ProxyVariable) -> (String, EnvValue) {
    let value = match variable.yields {
        true => EnvValue::Unset(variable.value),
        false => EnvValue::Literal(variable.value),
    };
    (variable.name.to_owned(), value)
}

/// The host's network only where the policy opens all of it; a list of hosts is no network unless a proxy keeps it.
fn network(policy: &ResolvedPolicy, host: &LinuxHost) -> NetworkNamespace {
    let loopback = policy
        .canonical()
        .rules()
        .map_or(LoopbackAccess::Off, |(_, local)| local.loopback);
    match (policy.canonical().network(), loopback) {
        (NetworkScope::Full, _) => NetworkNamespace::Host,
        // Also where the policy wants no loopback: the way out is on it.
        (NetworkScope::Only(_), _) if host.proxy => NetworkNamespace::Proxied,
        (NetworkScope::Off | NetworkScope::Only(_), LoopbackAccess::Off) => {
            NetworkNamespace::Nothing
        }
        (
            NetworkScope::Off | NetworkScope::Only(_),
            LoopbackAccess::Private | LoopbackAccess::Host,
        ) => NetworkNamespace::OwnLoopback,
    }
}

/// Reading everywhere, because the mounts hide what must not be read; writing where the mounts allow it.
fn ruleset(host: &LinuxHost, built: &Built, network: NetworkNamespace) -> Option<Ruleset> {
    let abi = host.landlock.abi();
    if abi == 0 {
        return None;
    }
    let handled = FsRights::handled(abi);
    let mut paths: Vec<PathRule> = AbsolutePath::new("/")
        .into_iter()
        .map(|root| PathRule::new(root, FsRights::READ & handled))
        .collect();
    let write = (FsRights::READ | FsRights::WRITE) & handled;
    for mount in &built.mounts {
        match mount {
            Mount::Tmpfs { at, mode } if mode & 0o002 != 0 => {
                paths.push(PathRule::new(at.clone(), write));
            }
            Mount::Keep {
                path,
                writable: true,
            }
            | Mount::Overlay { path, .. } => paths.push(PathRule::new(path.clone(), write)),
            Mount::Devices { devices } => paths.extend(device_rules(devices, handled)),
            _ => {}
        }
    }
    let scopes = match network {
        NetworkNamespace::Host if abi >= 6 => Scopes::ABSTRACT_UNIX_SOCKET,
        _ => Scopes::default(),
    };
    Some(Ruleset {
        handled_fs: handled,
        handled_net: NetRights::default(),
        scopes,
        paths,
        ports: Vec::new(),
    })
}

/// Rights on devices, each by itself: never on the directory, and never to make one.
pub(super) fn device_rules(
    devices: &[Device],
    handled: FsRights,
) -> impl Iterator<Item = PathRule> {
    let rights =
        FsRights::READ_FILE | FsRights::WRITE_FILE | FsRights::TRUNCATE | FsRights::IOCTL_DEV;
    devices.iter().filter_map(move |device| {
        let path = AbsolutePath::new(format!("/dev/{}", device.name())).ok()?;
        Some(PathRule::new(path, rights & handled))
    })
}

/// Directories outside every writable place, where making a file must fail: the root, home, and what holds each root.
pub(super) fn canaries(
    policy: &ResolvedPolicy,
    host: &LinuxHost,
    outside: impl Fn(&AbsolutePath) -> bool,
) -> Vec<AbsolutePath> {
    let home = policy.context().facts.home.as_ref();
    let home = home
        .and_then(|home| host.places.entries.get(home))
        .filter(|located| located.entry == Entry::Directory)
        .map(|located| located.real.clone());
    let above = policy.roots().iter().filter_map(|root| root.root.parent());
    let mut canaries = Vec::new();
    for path in AbsolutePath::new("/")
        .ok()
        .into_iter()
        .chain(home)
        .chain(above)
    {
        if outside(&path) && !canaries.contains(&path) {
            canaries.push(path);
        }
    }
    canaries
}
