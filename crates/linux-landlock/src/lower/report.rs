//! What a plan enforces: a line for each guarantee, with the mechanism, and why and what would help where it is lost.

use palisade_policy::{
    AbsolutePath, Enforcement, GitAccess, Guarantee, LoopbackAccess, Measure, NetworkScope,
    ResolvedPolicy,
};

use super::areas::{Areas, State, works_on_a_layer};
use super::landlock_tier::Reads;
use super::mounts::{Built, Region};
use crate::host::{Entry, LandlockSupport, LinuxHost, NamespaceSupport};

const NO_PROXY: &str =
    "nobody serves a proxy that would let just the listed hosts through, so there is no network";

/// The report of the full tier.
pub(super) fn full(
    policy: &ResolvedPolicy,
    host: &LinuxHost,
    areas: &Areas,
    built: &Built,
) -> Enforcement {
    let full_network = policy.canonical().has_full_network();
    let abi = host.landlock.abi();
    let walls = if abi == 0 {
        "read-only mounts"
    } else {
        "read-only mounts, Landlock"
    };
    let mut report = Enforcement::new()
        .with(Guarantee::WritesOutside, Measure::enforced(walls))
        .with(Guarantee::ProtectedPaths, protected(areas, built))
        .with(Guarantee::DeniedReads, denied_reads(areas, "masks"))
        .with(
            Guarantee::MetadataOutside,
            Measure::enforced("read-only mounts"),
        )
        .with(
            Guarantee::Network,
            if full_network {
                Measure::missing("the policy opens the network")
            } else {
                Measure::enforced("network namespace")
            },
        )
        .with(Guarantee::NetworkHosts, network_hosts(policy, host))
        .with(
            Guarantee::UnixSockets,
            unix_sockets(full_network, abi, built),
        )
        .with(
            Guarantee::ProcessIsolation,
            Measure::enforced("pid and ipc namespaces"),
        )
        .with(Guarantee::TreeKill, Measure::enforced("pid namespace"))
        .with(Guarantee::GitImport, git_import(policy, host, built))
        .with(Guarantee::SystemCalls, system_calls(policy));
    if let LandlockSupport::Missing { why } = &host.landlock {
        report = report.with_note(format!(
            "no second wall: Landlock is missing ({why}), so named pipes outside can be written"
        ));
    }
    report = common_notes(policy, host, areas, report);
    report = missing_secrets(report, areas, |path| built.region(path) == Region::ReadOnly);
    report = report.with_note(
        "a socket outside /run and /tmp that the host binds while the session runs, or has moved to another directory since it bound it, can be connected to",
    );
    if policy
        .canonical()
        .rules()
        .is_some_and(|(_, local)| local.loopback == LoopbackAccess::Host)
        && !full_network
    {
        report = report.with_note(
            "the host's loopback cannot be opened without its whole network: the session has a loopback of its own",
        );
    }
    let listed = matches!(policy.canonical().network(), NetworkScope::Only(_));
    let rules = policy.canonical().rules();
    if listed && host.proxy && rules.is_some_and(|(_, local)| local.loopback == LoopbackAccess::Off)
    {
        report =
            report.with_note("the session's own loopback is up all the same: its proxy is there");
    }
    if listed && host.proxy {
        report = report.with_note(
            "listed hosts are reached through a proxy on the session's loopback: programs that use none reach nothing",
        );
    }
    for note in &built.notes {
        report = report.with_note(note.clone());
    }
    report
}

fn protected(areas: &Areas, built: &Built) -> Measure {
    let measure = "read-only and pinned mounts";
    if let Some(link) = built.dangling.first() {
        return Measure::detected(measure)
            .because(format!(
                "{link} is a link that leads nowhere, and what it leads to could be made"
            ))
            .cured_by(format!("remove {link}, or make what it leads to"));
    }
    // A truncated list may have left out a path that is only read.
    match areas.truncated.first() {
        Some(glob) => truncated(measure, glob),
        None => Measure::enforced(measure),
    }
}

fn denied_reads(areas: &Areas, mechanism: &str) -> Measure {
    match areas.truncated.first() {
        Some(glob) => truncated(mechanism, glob),
        None => Measure::enforced(mechanism),
    }
}

fn truncated(mechanism: &str, glob: &str) -> Measure {
    Measure::detected(mechanism)
        .because(format!(
            "{glob} covers more files than are looked at, so some matches may be open"
        ))
        .cured_by("name the directories that hold them, or a narrower pattern")
}

fn unix_sockets(full_network: bool, abi: u32, built: &Built) -> Measure {
    let mechanism = match (full_network, abi) {
        (false, _) => "masked directories and sockets, network namespace",
        (true, 6..) => "masked directories and sockets, Landlock scope",
        (true, _) => {
            return Measure::detected("masked directories and sockets")
                .because("with the host's network, abstract sockets need Landlock ABI 6")
                .cured_by("Linux 6.12 or later");
        }
    };
    if built.open_sockets > 0 {
        return Measure::detected(mechanism).because(format!(
            "{} sockets more than the {} that are masked one by one",
            built.open_sockets,
            super::mounts::MAX_SOCKET_MASKS
        ));
    }
    Measure::enforced(mechanism)
}

fn network_hosts(policy: &ResolvedPolicy, host: &LinuxHost) -> Measure {
    match policy.canonical().network() {
        NetworkScope::Only(_) if host.proxy => {
            Measure::enforced("network namespace, through a proxy alone")
        }
        NetworkScope::Only(_) => Measure::missing(NO_PROXY),
        NetworkScope::Off => Measure::enforced("no network"),
        NetworkScope::Full => Measure::missing("the policy opens the whole network"),
    }
}

fn git_import(policy: &ResolvedPolicy, host: &LinuxHost, built: &Built) -> Measure {
    let asked = policy
        .canonical()
        .rules()
        .is_some_and(|(rules, _)| rules.git == GitAccess::Commit);
    if !asked {
        return Measure::enforced("nothing comes back");
    }
    if !host.overlays {
        return Measure::missing("no overlay can be mounted here: git directories are read-only");
    }
    let unsound = host.places.git.iter().find(|(root, git)| {
        !works_on_a_layer(policy, &host.places, root, git)
            && policy.roots().iter().any(|known| known.root == **root)
    });
    match (&built.no_git, unsound) {
        (Some(why), _) => Measure::missing(why.clone()),
        (None, Some((root, _))) => Measure::missing(format!(
            "the git directory of {root} is guarded or not one that belongs to it: it is read-only"
        )),
        (None, None) => Measure::enforced("private overlay, import by allow-list"),
    }
}

fn system_calls(policy: &ResolvedPolicy) -> Measure {
    if policy.canonical().seccomp_profile().log_only {
        Measure::missing("the policy only logs denied system calls")
    } else {
        Measure::enforced("seccomp")
    }
}

/// The report of the landlock tier.
pub(super) fn landlock(
    policy: &ResolvedPolicy,
    host: &LinuxHost,
    areas: &Areas,
    reads: &Reads,
) -> Enforcement {
    let abi = host.landlock.abi();
    let full_network = policy.canonical().has_full_network();
    let (refused, cure) = match &host.namespaces {
        NamespaceSupport::Works => ("namespaces are not used".to_owned(), None),
        NamespaceSupport::Refused { why, cure } => {
            (format!("no user namespaces: {why}"), cure.clone())
        }
    };
    let lost = |what: &str| {
        let measure = Measure::missing(format!("{what}, and there are {refused}"));
        match &cure {
            Some(cure) => measure.cured_by(cure.clone()),
            None => measure,
        }
    };
    let filtered = !policy.canonical().seccomp_profile().log_only;
    let network = match (full_network, filtered, abi) {
        (true, ..) => Measure::missing("the policy opens the network"),
        (false, false, _) => lost("the policy only logs denied system calls"),
        (false, true, 4..) => Measure::enforced("seccomp, Landlock for TCP"),
        (false, true, _) => Measure::enforced("seccomp"),
    };
    // Without a network namespace, whoever could reach the proxy could reach everybody.
    let landlock_hosts = match policy.canonical().network() {
        NetworkScope::Only(_) => {
            lost("hosts need a proxy as the only way out, so there is no network")
        }
        NetworkScope::Off => Measure::enforced("no network"),
        NetworkScope::Full => Measure::missing("the policy opens the whole network"),
    };
    let sockets = match (full_network, filtered, abi) {
        (_, false, _) => lost("the policy only logs denied system calls"),
        (false, true, _) => Measure::enforced("seccomp: pairs of sockets only"),
        (true, true, _) => lost("Landlock below ABI 9 does not judge sockets with a path"),
    };
    let denied = match reads.open.first() {
        Some(path) => lost(&format!(
            "Landlock cannot deny {path} inside a writable root"
        )),
        None => denied_reads(areas, "Landlock, by granting everything else"),
    };
    let isolation = if abi >= 6 {
        lost(
            "Landlock keeps signals and memory apart, but the command lines and limits of others stay open",
        )
    } else {
        lost("Landlock below ABI 6 does not keep signals apart")
    };
    let tree_kill = if abi >= 6 {
        Measure::enforced("subreaper, with signals kept inside by Landlock")
    } else {
        let measure = Measure::detected("subreaper").because(
            "a command could end the helper that sweeps, because Landlock below ABI 6 does not keep signals apart",
        );
        measure.cured_by(
            cure.clone()
                .unwrap_or_else(|| "Linux 6.12 or later".to_owned()),
        )
    };
    let commits = policy
        .canonical()
        .rules()
        .is_some_and(|(rules, _)| rules.git == GitAccess::Commit);
    // Also in a root that is closed as a whole: Landlock does not keep its modes.
    let in_a_root = |path: &AbsolutePath| {
        let writable = areas.places.iter();
        let writable = writable.filter(|(_, area)| area.state == State::Writable);
        let roots = policy.roots().iter().map(|root| &root.root);
        writable
            .map(|(root, _)| root)
            .chain(roots)
            .any(|root| path.as_path().starts_with(root.as_path()))
    };
    let guarded = areas
        .places
        .iter()
        .any(|(path, area)| area.state.denies() && in_a_root(path))
        || !areas.links.is_empty()
        || !areas.in_the_way.is_empty();
    let report = Enforcement::new()
        .with(Guarantee::WritesOutside, Measure::enforced("Landlock"))
        .with(
            Guarantee::ProtectedPaths,
            if guarded {
                lost("Landlock cannot take a part of a writable root out")
            } else {
                Measure::enforced("Landlock")
            },
        )
        .with(Guarantee::DeniedReads, denied)
        .with(
            Guarantee::MetadataOutside,
            lost("Landlock does not judge modes, owners, times and attributes"),
        )
        .with(Guarantee::Network, network)
        .with(Guarantee::NetworkHosts, landlock_hosts)
        .with(Guarantee::UnixSockets, sockets)
        .with(Guarantee::ProcessIsolation, isolation)
        .with(Guarantee::TreeKill, tree_kill)
        .with(
            Guarantee::GitImport,
            if commits {
                lost("a git directory cannot be overlaid")
            } else {
                Measure::enforced("nothing comes back")
            },
        )
        .with(Guarantee::SystemCalls, system_calls(policy));
    let report = common_notes(policy, host, areas, report);
    let report = missing_secrets(report, areas, |_| true);
    report.with_note(
        "the directories above denied paths cannot be listed, and what is made there later cannot be read",
    )
}

/// Secrets that do not exist, and that nothing keeps from being read once they do.
fn missing_secrets(
    report: Enforcement,
    areas: &Areas,
    open: impl Fn(&AbsolutePath) -> bool,
) -> Enforcement {
    let count = areas
        .places
        .iter()
        .filter(|(_, area)| area.state == State::Masked && area.entry == Entry::Missing)
        .filter(|(path, _)| open(path))
        .count();
    if count == 0 {
        return report;
    }
    report.with_note(format!(
        "{count} secret places do not exist: one that the host makes while the session runs can be read"
    ))
}

fn common_notes(
    policy: &ResolvedPolicy,
    host: &LinuxHost,
    areas: &Areas,
    mut report: Enforcement,
) -> Enforcement {
    for note in &host.notes {
        report = report.with_note(note.clone());
    }
    if areas.globs {
        report = report.with_note(
            "patterns guard what matches when the session starts; what matches later is reported, not prevented",
        );
    }
    let links = &host.places.hard_links;
    if links.count > 0 {
        let example = links
            .examples
            .first()
            .map(|path| format!(", such as {path}"))
            .unwrap_or_default();
        report = report.with_note(format!(
            "{} files in writable roots have a second name{example}: writing one changes what the other name shows",
            links.count
        ));
    }
    let write_only = policy.guards().iter().any(|guard| {
        guard.read == Some(palisade_policy::Stance::Denies)
            && guard.write == Some(palisade_policy::Stance::Lifts)
    });
    if write_only {
        report =
            report.with_note("what must not be read is hidden, so it cannot be written either");
    }
    report
}
