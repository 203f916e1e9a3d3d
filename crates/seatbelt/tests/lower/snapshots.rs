//! The profile of every preset, as policy authors read it.

use palisade_policy::{
    CanonicalSandboxPolicy, GitAccess, Grant, HostPattern, LocalAccess, LoopbackAccess,
    NetworkAllowlistEntry, PathRules, Protocol, Reopened, ResourceLimits, SeccompProfile,
    SensitivePath,
};
use palisade_seatbelt::MacHost;

use crate::support::{abs, lower, mac, root, spec};

use palisade_policy::WorkspaceRoot;

fn app() -> [WorkspaceRoot; 1] {
    [root("/Users/dev/app")]
}

fn full_network() -> CanonicalSandboxPolicy {
    let limits = ResourceLimits::default();
    let calls = SeccompProfile::strict().with_network();
    CanonicalSandboxPolicy::workspace_write_full(app(), [], Some(vec![]), limits, calls)
}

/// The rules, the parameters and the report.
fn shown(policy: &CanonicalSandboxPolicy, host: MacHost) -> String {
    let lowered = lower(policy, host).unwrap();
    format!("{}\n{}", lowered.preview(), lowered.enforcement())
}

#[test]
fn presets() {
    let hosts = || {
        [NetworkAllowlistEntry::new(
            HostPattern::parse("example.com").unwrap(),
            443,
            Protocol::Tcp,
        )
        .unwrap()]
    };
    let workspace = || CanonicalSandboxPolicy::workspace_write(app());
    let bare = || CanonicalSandboxPolicy::workspace_write_no_sensitive_blocking(app());
    let secrets = [
        SensitivePath::new("~/.ssh").unwrap(),
        SensitivePath::new("~/.netrc").unwrap(),
    ];
    let with = |rules: PathRules| bare().with_paths(rules);
    let local = |access: LocalAccess| bare().with_local(access);
    let presets = [
        ("read_only", CanonicalSandboxPolicy::read_only()),
        (
            "read_only_with_network",
            CanonicalSandboxPolicy::read_only_with_network(hosts()),
        ),
        (
            "read_only_full_network",
            CanonicalSandboxPolicy::read_only_with_full_network(),
        ),
        ("workspace_write", workspace()),
        (
            "workspace_write_listed_hosts",
            CanonicalSandboxPolicy::workspace_write_with_network(app(), hosts()),
        ),
        ("workspace_write_full_network", full_network()),
        (
            "workspace_write_with_sensitive_paths",
            CanonicalSandboxPolicy::workspace_write_with_sensitive_paths(app(), secrets),
        ),
        ("workspace_write_no_sensitive_blocking", bare()),
        (
            "workspace_write_with_limits",
            CanonicalSandboxPolicy::workspace_write_with_limits(
                app(),
                ResourceLimits::conservative(),
            ),
        ),
        ("host_tmp", bare().with_host_tmp(true, true)),
        (
            "git_commit",
            with(PathRules::default().with_git(GitAccess::Commit)),
        ),
        (
            "git_full",
            with(PathRules::default().with_git(GitAccess::Full)),
        ),
        (
            "denied_and_read_only",
            with(
                PathRules::default()
                    .with_deny_read([spec("/etc/passwd"), spec("secret")])
                    .with_read_only([spec("vendor")]),
            ),
        ),
        (
            "patterns",
            with(
                PathRules::default()
                    .with_deny_read([spec("**/.env*"), spec("/etc/shadow*")])
                    .with_read_only([spec("conf/*/prod")]),
            ),
        ),
        (
            "unix_sockets",
            local(LocalAccess::default().with_unix_paths([abs("/private/var/run/docker.sock")])),
        ),
        (
            "loopback_host",
            local(LocalAccess::default().with_loopback(LoopbackAccess::Host)),
        ),
        (
            "grants",
            workspace()
                .with_grant(&Grant::Read(abs("/Users/dev/.ssh/known_hosts")))
                .unwrap()
                .with_grant(&Grant::Read(abs("/Users/dev/.aws/config")))
                .unwrap()
                .with_grant(&Grant::Write(abs("/Users/dev/notes")))
                .unwrap(),
        ),
        (
            "grant_in_a_protected_path",
            with(PathRules::default().with_reopened([Reopened::write(abs("/Users/dev/app/.git"))])),
        ),
    ];
    for (name, policy) in presets {
        insta::assert_snapshot!(format!("preset__{name}"), shown(&policy, mac()));
    }
    let proxied = CanonicalSandboxPolicy::workspace_write_with_network(app(), hosts());
    insta::assert_snapshot!(
        "preset__proxy_ports",
        shown(&proxied, mac().with_proxy_ports([3128, 1080]))
    );
}

/// The whole text once, as `sandbox-exec` compiles it.
#[test]
fn text() {
    let policy = full_network();
    let plan = crate::support::plan(&policy, mac());
    insta::assert_snapshot!("text", plan.profile.text());
}
