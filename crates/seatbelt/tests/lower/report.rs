//! What the report says where something is lost.

use palisade_policy::{
    AcceptedLosses, CanonicalSandboxPolicy, GitAccess, Guarantee, HostPattern, Level, LimitKind,
    LimitLevel, NetworkAllowlistEntry, PathRules, Protocol, ResourceLimits, SeccompProfile,
    SyscallName,
};

use crate::support::{lower, mac, root};

fn workspace(calls: SeccompProfile) -> CanonicalSandboxPolicy {
    let limits = ResourceLimits::conservative();
    let roots = [root("/Users/dev/app")];
    CanonicalSandboxPolicy::workspace_write_full(roots, [], Some(vec![]), limits, calls)
}

fn strict() -> CanonicalSandboxPolicy {
    workspace(SeccompProfile::strict())
}

#[test]
fn only_the_end_of_a_run_is_lost_by_default() {
    let lowered = lower(&CanonicalSandboxPolicy::read_only(), mac()).unwrap();
    let refusal = lowered.clone().admit(&AcceptedLosses::none()).unwrap_err();
    let lost: Vec<Guarantee> = refusal.losses.iter().map(|loss| loss.guarantee).collect();
    assert_eq!(lost, [Guarantee::TreeKill]);
    assert!(refusal.to_string().contains("--accept-loss tree-kill"));
    let accepted = AcceptedLosses::none().with(Guarantee::TreeKill);
    assert!(lowered.admit(&accepted).is_ok());
}

#[test]
fn git_cannot_commit_in_a_layer() {
    let rules = PathRules::default().with_git(GitAccess::Commit);
    let lowered = lower(&strict().with_paths(rules), mac()).unwrap();
    let report = lowered.enforcement();
    assert_eq!(report.level(Guarantee::GitImport), Level::NotEnforced);
    // What cannot be kept is not opened either.
    assert!(
        lowered
            .preview()
            .contains("PROTECTED_0 = /Users/dev/app/.git")
    );
}

#[test]
fn listed_hosts_need_a_proxy() {
    let host = HostPattern::parse("example.com").unwrap();
    let hosts = [NetworkAllowlistEntry::new(host, 443, Protocol::Tcp).unwrap()];
    let policy = CanonicalSandboxPolicy::read_only_with_network(hosts);
    let without = lower(&policy, mac()).unwrap();
    let level = |lowered: &palisade_policy::Lowered<_>| {
        lowered.enforcement().level(Guarantee::NetworkHosts)
    };
    assert_eq!(level(&without), Level::NotEnforced);
    assert!(!without.preview().contains("(remote tcp"));
    let with = lower(&policy, mac().with_proxy_ports([3128])).unwrap();
    assert_eq!(level(&with), Level::Enforced);
    assert!(with.preview().contains("(remote tcp \"localhost:3128\")"));
    assert_eq!(
        with.enforcement().level(Guarantee::Network),
        Level::Enforced
    );
}

#[test]
fn calls_that_nothing_stands_in_the_way_of_are_named() {
    let report = |calls| {
        let lowered = lower(&workspace(calls), mac()).unwrap();
        let measure = lowered
            .enforcement()
            .measure(Guarantee::SystemCalls)
            .cloned();
        measure.unwrap()
    };
    assert_eq!(report(SeccompProfile::strict()).level, Level::Enforced);
    assert_eq!(report(SeccompProfile::logging()).level, Level::NotEnforced);
    let unknown = SyscallName::new("openat").unwrap();
    let lost = report(SeccompProfile::strict().with_blocked([unknown]));
    assert_eq!(lost.level, Level::NotEnforced);
    assert!(lost.why.unwrap().contains("`openat`"));
}

#[test]
fn limits_are_not_promised() {
    let lowered = lower(&strict(), mac()).unwrap();
    let report = lowered.enforcement();
    for limit in [
        LimitKind::Memory,
        LimitKind::Pids,
        LimitKind::Disk,
        LimitKind::Cpu,
    ] {
        assert_eq!(report.limit(limit), LimitLevel::NotEnforced, "{limit:?}");
    }
    assert_eq!(report.limit(LimitKind::Wall), LimitLevel::PerProcess);
    let required = CanonicalSandboxPolicy::workspace_write_with_limits(
        [root("/Users/dev/app")],
        ResourceLimits::conservative().required(),
    );
    let refusal = lower(&required, mac())
        .unwrap()
        .admit(&AcceptedLosses::none().with(Guarantee::TreeKill))
        .unwrap_err();
    assert_eq!(refusal.limits.len(), 5);
}
