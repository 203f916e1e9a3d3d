//! What a profile enforces: a line for each guarantee, with the mechanism, and why and what would help where it is lost.

use palisade_policy::{
    AbsolutePath, Enforcement, GitAccess, Guarantee, LimitKind, LimitLevel, LoopbackAccess,
    Measure, NetworkScope, ResolvedPolicy, Stance,
};

use super::places::{Origin, Places};
use super::system_calls;
use crate::host::MacHost;

const SEATBELT: &str = "Seatbelt";

pub(super) fn report(places: &Places<'_>, host: &MacHost) -> Enforcement {
    let policy = places.policy();
    let report = Enforcement::new()
        .with(Guarantee::WritesOutside, Measure::enforced(SEATBELT))
        .with(
            Guarantee::ProtectedPaths,
            guarded(places, "Seatbelt, with what holds them kept in place"),
        )
        .with(Guarantee::DeniedReads, guarded(places, SEATBELT))
        .with(Guarantee::MetadataOutside, Measure::enforced(SEATBELT))
        .with(
            Guarantee::Network,
            match policy.canonical().has_full_network() {
                true => Measure::missing("the policy opens the network"),
                false => Measure::enforced(SEATBELT),
            },
        )
        .with(Guarantee::NetworkHosts, network_hosts(policy, host))
        .with(
            Guarantee::UnixSockets,
            Measure::enforced("Seatbelt, by path"),
        )
        .with(
            Guarantee::ProcessIsolation,
            Measure::enforced("Seatbelt: only processes of the same sandbox"),
        )
        .with(
            Guarantee::TreeKill,
            Measure::detected("process group, scan of processes").because(
                "macOS has nothing that holds a process with all it starts: one that leaves its group between two scans is missed",
            ),
        )
        .with(Guarantee::GitImport, git_import(policy))
        .with(Guarantee::SystemCalls, system_calls(policy));
    notes(places, host, limits(policy, report))
}

/// A link that leads nowhere is guarded, but nobody can say what it will lead to.
fn guarded(places: &Places<'_>, mechanism: &str) -> Measure {
    match places.dead_links.first() {
        Some(link) => Measure::detected(mechanism)
            .because(format!(
                "{link} is a link that leads nowhere, and what it leads to could be made"
            ))
            .cured_by(format!("remove {link}, or make what it leads to")),
        None => Measure::enforced(mechanism),
    }
}

fn network_hosts(policy: &ResolvedPolicy, host: &MacHost) -> Measure {
    match policy.canonical().network() {
        NetworkScope::Only(_) if host.proxy_ports.is_empty() => Measure::missing(
            "Seatbelt cannot tell hosts apart, and there is no proxy that would let just the listed hosts through, so \
             there is no network",
        ),
        NetworkScope::Only(_) => Measure::enforced("Seatbelt, through a proxy alone"),
        NetworkScope::Off => Measure::enforced("no network"),
        NetworkScope::Full => Measure::missing("the policy opens the whole network"),
    }
}

fn git_import(policy: &ResolvedPolicy) -> Measure {
    let asked = policy
        .canonical()
        .rules()
        .is_some_and(|(rules, _)| rules.git == GitAccess::Commit);
    match asked {
        true => Measure::missing(
            "macOS cannot lay a private layer over a directory: git directories are read-only",
        ),
        false => Measure::enforced("nothing comes back"),
    }
}

fn system_calls(policy: &ResolvedPolicy) -> Measure {
    let profile = policy.canonical().seccomp_profile();
    if profile.log_only {
        return Measure::missing("the policy only logs denied system calls");
    }
    let unknown = profile
        .blocked_syscalls
        .iter()
        .find(|name| system_calls::counterpart(name.as_str()).is_none());
    match unknown {
        Some(name) => Measure::missing(format!(
            "macOS filters no calls by name, and nothing else here stands in the way of `{name}`"
        ))
        .cured_by(format!("leave {name} out of blocked_syscalls on macOS")),
        None => Measure::enforced("Seatbelt, by what the calls would do; macOS lacks the others"),
    }
}

/// No limit of a process would hold all of them together, and `sandbox-exec` sets none; the clock is the caller's, and as
/// good as ending everything is.
fn limits(policy: &ResolvedPolicy, mut report: Enforcement) -> Enforcement {
    let asked = policy.canonical().resource_limits();
    for (limit, value) in [
        (LimitKind::Memory, asked.max_memory_mb),
        (LimitKind::Pids, u64::from(asked.max_pids)),
        (LimitKind::Disk, asked.max_disk_mb),
        (LimitKind::Cpu, asked.cpu_time_secs),
    ] {
        if value > 0 {
            report = report.with_limit(limit, LimitLevel::NotEnforced);
        }
    }
    if asked.timeout_secs > 0 {
        report = report.with_limit(LimitKind::Wall, LimitLevel::PerProcess);
    }
    report
}

fn notes(places: &Places<'_>, host: &MacHost, mut report: Enforcement) -> Enforcement {
    let policy = places.policy();
    let mut note = |text: &str| {
        let before = std::mem::take(&mut report);
        report = before.with_note(text);
    };
    let asked = policy.canonical().resource_limits();
    if asked.max_memory_mb > 0
        || asked.max_pids > 0
        || asked.max_disk_mb > 0
        || asked.cpu_time_secs > 0
    {
        note(
            "macOS has no limits for a command with all that it starts: those of the policy are not kept",
        );
    }
    note(
        "a guarded file that has a second name (a hard link) is guarded under its guarded name only; new ones cannot be made",
    );
    note(
        "terminals of other programs cannot be opened, also where the policy lets all files be read",
    );
    note("sockets of the session work in its own directory for temporary files only");
    if places.globs.iter().any(|glob| glob.has_a_way()) {
        note(
            "what lies on the way to a match of a pattern cannot be made, moved or removed, which is stricter than the policy",
        );
    }
    if places.globs.iter().any(|glob| glob.reaches_further(places)) {
        note(
            "names that a pattern guards are guarded in every writable place, because directories can be moved there",
        );
    }
    let lifted_by_glob = policy.guards().iter().any(|guard| {
        guard.matcher.is_glob() && [guard.read, guard.write].contains(&Some(Stance::Lifts))
    });
    if lifted_by_glob {
        note(
            "a pattern that does not block is not considered below what a path or another pattern blocks",
        );
    }
    let write_only = policy
        .guards()
        .iter()
        .any(|guard| guard.read == Some(Stance::Denies) && guard.write == Some(Stance::Lifts));
    if write_only {
        note("what must not be read cannot be written either");
    }
    let unspoken = places
        .list
        .iter()
        .any(|place| place.origin == Origin::Grant && !place.spot.is_certain(places.case()));
    if unspoken {
        note(
            "a granted path that does not exist and cannot be written as a pattern stays closed until it exists",
        );
    }
    let canonical = policy.canonical();
    if canonical.has_full_network() {
        note(
            "with the network, the system's resolver of names can be asked, which is a socket of the host",
        );
    }
    if let (NetworkScope::Only(_), false) = (canonical.network(), host.proxy_ports.is_empty()) {
        note("listed hosts are reached through the proxy only, also those on this machine");
    }
    let loopback = canonical
        .rules()
        .map_or(LoopbackAccess::Off, |(_, local)| local.loopback);
    if loopback == LoopbackAccess::Private && !canonical.has_full_network() {
        note("a session has no loopback of its own on macOS: there is none");
    }
    let denied = |path: &AbsolutePath| !places.may_read(path);
    if host.developer_dir.as_ref().is_some_and(denied) {
        note(
            "the policy denies the active developer directory: git, clang and python3 in /usr/bin will not start",
        );
    }
    report
}
