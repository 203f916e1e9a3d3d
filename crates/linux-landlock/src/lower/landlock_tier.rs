//! The landlock tier: no namespaces, so reading is an allow-list around what is denied, and some guarantees are lost.

use std::collections::BTreeSet;

use palisade_policy::{AbsolutePath, Enforcement, PolicyError, ResolvedPolicy};

use super::areas::{Areas, State};
use super::full::{canaries, device_rules};
use super::{caches, limits, report};
use crate::host::{Entry, LinuxHost};
use crate::plan::{
    Device, EnvValue, FsRights, NetRights, NetworkNamespace, PathRule, Plan, Ruleset, Scopes, Tier,
};
use crate::seccomp::{self, Namespaces, Sockets};

/// What the allow-list of readable paths could not keep.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// Denied paths inside writable ones.
    pub(super) open: Vec<AbsolutePath>,
}

pub(super) fn lower(
    policy: &ResolvedPolicy,
    host: &LinuxHost,
    areas: &Areas,
) -> Result<(Plan, Enforcement), PolicyError> {
    let full_network = policy.canonical().has_full_network();
    let sockets = if full_network {
        Sockets::HostNetwork
    } else {
        Sockets::PairsOnly
    };
    let profile = policy.canonical().seccomp_profile();
    let filter = seccomp::compile_for(&profile, sockets, Namespaces::Host, host.arch)?;
    let abi = host.landlock.abi();
    let handled = FsRights::handled(abi);
    let (mut paths, reads) = readable(host, areas, FsRights::READ & handled);
    let write = (FsRights::READ | FsRights::WRITE) & handled;
    let writable: Vec<&AbsolutePath> = areas
        .places
        .iter()
        .filter(|(_, area)| area.state == State::Writable && area.entry != Entry::Missing)
        .map(|(path, _)| path)
        .collect();
    paths.extend(
        writable
            .iter()
            .map(|path| PathRule::new((*path).clone(), write)),
    );
    paths.extend(device_rules(&Device::ALL, handled));
    let ruleset = Ruleset {
        handled_fs: handled,
        handled_net: if abi >= 4 && !full_network {
            NetRights::BIND_TCP | NetRights::CONNECT_TCP
        } else {
            NetRights::default()
        },
        scopes: if abi >= 6 {
            Scopes::SIGNAL | Scopes::ABSTRACT_UNIX_SOCKET
        } else {
            Scopes::default()
        },
        paths,
        ports: Vec::new(),
    };
    let enforcement = report::landlock(policy, host, areas, &reads);
    let (limits, enforcement) = limits::lower(policy, host, Tier::Landlock, enforcement);
    let outside = |path: &AbsolutePath| {
        !writable
            .iter()
            .any(|root| path.as_path().starts_with(root.as_path()))
    };
    let variables = caches::ALL.iter().map(|cache| {
        let below = EnvValue::InTmp(cache.below.to_owned());
        (cache.variable.to_owned(), below)
    });
    let tmpdir = ("TMPDIR".to_owned(), EnvValue::InTmp(String::new()));
    let plan = Plan {
        tier: Tier::Landlock,
        network: NetworkNamespace::Host,
        placeholders: Vec::new(),
        mounts: Vec::new(),
        canaries: canaries(policy, host, outside),
        landlock: Some(ruleset),
        filter,
        limits,
        cgroups: limits::groups(host, &limits),
        environment: std::iter::once(tmpdir).chain(variables).collect(),
        private_tmpdir: true,
        git: Vec::new(),
    };
    Ok((plan, enforcement))
}

/// What may be read: whatever does not lead to a denied path or a device, entry by entry.
fn readable(host: &LinuxHost, areas: &Areas, rights: FsRights) -> (Vec<PathRule>, Reads) {
    let mut reads = Reads::default();
    // Devices are granted one by one: to the superuser, a disk in `/dev` would hold every file.
    let devices = AbsolutePath::new("/dev").ok();
    let mut denied: Vec<&AbsolutePath> = devices.iter().collect();
    for (path, area) in &areas.places {
        if area.state != State::Masked || area.entry == Entry::Missing {
            continue;
        }
        let above = || path.as_path().ancestors().skip(1);
        // A rule opens everything below its path, whatever the oracle says about a part of it.
        let in_writable = above()
            .filter_map(|above| AbsolutePath::new(above).ok())
            .any(|above| {
                let area = areas.places.get(&above);
                area.is_some_and(|area| area.state == State::Writable)
            });
        if in_writable {
            reads.open.push(path.clone());
        } else if nearest(areas, above()) != Some(State::Masked) {
            denied.push(path);
        }
    }
    let mut rules = BTreeSet::new();
    let above: BTreeSet<AbsolutePath> = denied
        .iter()
        .flat_map(|path| path.as_path().ancestors().skip(1))
        .filter_map(|above| AbsolutePath::new(above).ok())
        .collect();
    for directory in &above {
        // Below a denied directory only what is reopened there is granted, not what lies next to it.
        if nearest(areas, directory.as_path().ancestors()) == Some(State::Masked) {
            continue;
        }
        // What was not listed is not granted.
        for child in host.places.listings.get(directory).into_iter().flatten() {
            if !above.contains(child) && !denied.contains(&child) {
                rules.insert(child.clone());
            }
        }
    }
    // What a grant or an exception reopens below a denied path, and the directory that the policy is for.
    for (path, area) in &areas.places {
        let reopened = matches!(area.state, State::ReadOnly)
            && area.entry != Entry::Missing
            && denied
                .iter()
                .any(|denied| path.as_path().starts_with(denied.as_path()));
        if reopened && !above.contains(path) {
            rules.insert(path.clone());
        }
    }
    let rules = rules
        .into_iter()
        .map(|path| PathRule::new(path, rights))
        .collect();
    (rules, reads)
}

/// What holds at the first of these paths about which anything is said.
fn nearest<'a>(
    areas: &Areas,
    mut paths: impl Iterator<Item = &'a std::path::Path>,
) -> Option<State> {
    paths.find_map(|path| {
        let path = AbsolutePath::new(path).ok()?;
        areas.places.get(&path).map(|area| area.state)
    })
}
