//! Particular plans: links, files in odd places, sockets, stores.

use palisade_linux_landlock::host::TrustFiles;
use palisade_linux_landlock::plan::model::{View, is_mount_point, view};
use palisade_linux_landlock::plan::{EnvValue, MaskKind, Mount, NetworkNamespace, OverlayStore};
use palisade_linux_landlock::{LinuxLandlock, Plan, Tier};
use palisade_policy::{
    Backend as _, CanonicalSandboxPolicy, Enforcement, GitAccess, Guarantee, Level, LimitKind,
    LimitLevel, LocalAccess, LoopbackAccess, NetworkAllowlistEntry, PathRules, RelativePath,
    ResourceLimits, SeccompProfile, SensitivePath,
};

use crate::files::{Files, Node, abs};
use crate::policies::{context, lower, plan, prepare, root, spec, with_rules, workspace};

fn lowered(policy: &CanonicalSandboxPolicy, files: &Files) -> (Plan, Enforcement) {
    plan(lower(policy, files).unwrap())
}

fn protect(path: &str) -> Mount {
    Mount::Protect { path: abs(path) }
}

fn pin_link(path: &str) -> Mount {
    Mount::PinLink { path: abs(path) }
}

#[test]
fn a_protected_link_is_pinned_and_what_it_leads_to_is_protected() {
    let mut files = Files::sample();
    files.remove("/srv/app/.vscode");
    files.add("/srv/app/settings", Node::Directory);
    files.add("/srv/app/.vscode", Node::Link("/srv/app/settings".into()));
    let (plan, report) = lowered(&workspace(), &files);
    assert!(
        plan.mounts.contains(&pin_link("/srv/app/.vscode")),
        "{plan}"
    );
    assert!(
        plan.mounts.contains(&protect("/srv/app/settings")),
        "{plan}"
    );
    assert_eq!(report.level(Guarantee::ProtectedPaths), Level::Enforced);
}

#[test]
fn what_a_dangling_link_leads_to_cannot_be_made() {
    let mut files = Files::sample();
    files.remove("/srv/app/.vscode");
    files.add("/srv/app/.vscode", Node::Link("/srv/app/to/come".into()));
    let (plan, report) = lowered(&workspace(), &files);
    assert!(
        plan.mounts.contains(&pin_link("/srv/app/.vscode")),
        "{plan}"
    );
    for made in ["/srv/app/to", "/srv/app/to/come"] {
        assert!(plan.placeholders.contains(&abs(made)), "{plan}");
    }
    assert!(is_mount_point(&plan, &abs("/srv/app/to")), "{plan}");
    assert_eq!(view(&plan, &abs("/srv/app/to/come/x")), View::HostReadOnly);
    assert_eq!(report.level(Guarantee::ProtectedPaths), Level::Enforced);
}

#[test]
fn a_link_above_a_protected_path_is_pinned_too() {
    let mut files = Files::sample();
    files.add("/srv/app/real/b", Node::Directory);
    files.add("/srv/app/a", Node::Link("/srv/app/real".into()));
    let rules = PathRules::default().with_protected([RelativePath::new("a/b").unwrap()]);
    let (plan, _) = lowered(&with_rules(rules), &files);
    assert!(plan.mounts.contains(&pin_link("/srv/app/a")), "{plan}");
    assert!(plan.mounts.contains(&protect("/srv/app/real/b")), "{plan}");
    assert!(is_mount_point(&plan, &abs("/srv/app/real")), "{plan}");
}

#[test]
fn a_secret_behind_a_link_is_masked_where_it_is() {
    let mut files = Files::sample();
    files.remove("/home/dev/.ssh");
    files.add("/data/keys", Node::Directory);
    files.add("/home/dev/.ssh", Node::Link("/data/keys".into()));
    let (plan, _) = lowered(&workspace(), &files);
    let mask = Mount::Mask {
        path: abs("/data/keys"),
        kind: MaskKind::Directory,
    };
    assert!(plan.mounts.contains(&mask), "{plan}");
}

#[test]
fn a_secret_in_a_home_with_another_name_is_masked_where_it_is() {
    let mut files = Files::sample();
    files.remove("/home/dev");
    files.add("/data/dev/.ssh/id", Node::File);
    files.add("/home/dev", Node::Link("/data/dev".into()));
    let (policy, mut host) = {
        let mut host = files.kernel(7, true);
        host.places.caches.clear();
        prepare(&workspace(), &context(1000), &files, host).unwrap()
    };
    host.places.sockets.clear();
    let (plan, _) = plan(LinuxLandlock.lower(&policy, &host).unwrap());
    assert_eq!(
        view(&plan, &abs("/data/dev/.ssh/id")),
        View::Hidden,
        "{plan}"
    );
}

#[test]
fn a_grant_by_another_name_does_not_reopen_a_denied_path() {
    let mut files = Files::sample();
    files.add("/data", Node::Link("/home/dev".into()));
    files.add("/home/dev/.ssh/known_hosts", Node::File);
    let rules = PathRules::default().with_reopened([palisade_policy::Reopened::read(abs(
        "/data/.ssh/known_hosts",
    ))]);
    let (plan, _) = lowered(&with_rules(rules), &files);
    let hidden = view(&plan, &abs("/home/dev/.ssh/known_hosts"));
    assert_eq!(hidden, View::Hidden, "{plan}");
}

#[test]
fn a_grant_below_a_secret_directory_opens_just_that() {
    let mut files = Files::sample();
    files.add("/home/dev/.ssh/known_hosts", Node::File);
    let rules = PathRules::default().with_reopened([palisade_policy::Reopened::read(abs(
        "/home/dev/.ssh/known_hosts",
    ))]);
    let (plan, _) = lowered(&with_rules(rules), &files);
    let passable = Mount::Tmpfs {
        at: abs("/home/dev/.ssh"),
        mode: 0o111,
    };
    assert!(plan.mounts.contains(&passable), "{plan}");
    let known = abs("/home/dev/.ssh/known_hosts");
    assert_eq!(view(&plan, &known), View::HostReadOnly, "{plan}");
    assert_eq!(
        view(&plan, &abs("/home/dev/.ssh/id")),
        View::Sealed,
        "{plan}"
    );
}

#[test]
fn a_git_file_that_leads_into_a_root_protects_what_it_leads_to() {
    let mut files = Files::sample().with_git("/srv/app", "/srv/app/meta", "/srv/app/meta");
    files.remove("/srv/app/.git");
    files.add("/srv/app/.git", Node::File);
    files.add("/srv/app/meta", Node::Directory);
    let (plan, _) = lowered(&workspace(), &files);
    assert!(plan.mounts.contains(&protect("/srv/app/.git")), "{plan}");
    assert!(plan.mounts.contains(&protect("/srv/app/meta")), "{plan}");
}

#[test]
fn a_planted_git_file_gets_no_layer_and_nothing_back() {
    let mut files = Files::sample();
    files.remove("/srv/app/.git");
    files.add("/srv/app/.git", Node::File);
    files.add("/home/dev/other/.git", Node::Directory);
    let commit = with_rules(PathRules::default().with_git(GitAccess::Commit));
    let (policy, mut host) =
        prepare(&commit, &context(1000), &files, files.kernel(7, true)).unwrap();
    let git = host.places.git.get_mut(&abs("/srv/app")).unwrap();
    git.git_dir = abs("/home/dev/other/.git");
    git.common_dir = abs("/home/dev/other/.git");
    git.sound = false;
    let (plan, report) = plan(LinuxLandlock.lower(&policy, &host).unwrap());
    assert!(plan.git.is_empty(), "{plan}");
    assert!(plan.mounts.contains(&protect("/srv/app/.git")), "{plan}");
    assert_eq!(report.level(Guarantee::GitImport), Level::NotEnforced);
}

#[test]
fn history_does_not_come_back_to_a_read_only_git_directory() {
    let rules = PathRules::default()
        .with_git(GitAccess::Commit)
        .with_read_only([spec(".git")]);
    let (plan, report) = lowered(&with_rules(rules), &Files::sample());
    assert!(plan.git.is_empty(), "{plan}");
    assert_eq!(
        view(&plan, &abs("/srv/app/.git/config")),
        View::HostReadOnly
    );
    assert_eq!(report.level(Guarantee::GitImport), Level::NotEnforced);
}

/// A ref that is read-only and does not exist yet could be made in the layer, and came back as history.
#[test]
fn history_does_not_come_back_past_a_guarded_name_that_is_free() {
    let guarded = |path| {
        let rules = PathRules::default().with_git(GitAccess::Commit);
        lowered(
            &with_rules(rules.with_read_only([spec(path)])),
            &Files::sample(),
        )
    };
    let (plan, report) = guarded(".git/refs/heads/release");
    assert!(plan.git.is_empty(), "{plan}");
    let name = abs("/srv/app/.git/refs/heads/release");
    assert_eq!(view(&plan, &name), View::HostReadOnly, "{plan}");
    assert_eq!(report.level(Guarantee::GitImport), Level::NotEnforced);
    // What is there is held by a mount of its own.
    let (plan, report) = guarded(".git/objects");
    assert_eq!(plan.git.len(), 1, "{plan}");
    let objects = abs("/srv/app/.git/objects");
    assert_eq!(view(&plan, &objects), View::LayerReadOnly, "{plan}");
    assert_eq!(report.level(Guarantee::GitImport), Level::Enforced);
}

/// A root that is closed as a whole was called protected, but Landlock does not keep its modes.
#[test]
fn a_closed_root_is_not_protected_by_landlock_alone() {
    let level = |read_only: &[&str]| {
        let rules = PathRules::default()
            .with_protected([])
            .with_git(GitAccess::Full)
            .with_read_only(read_only.iter().map(|path| spec(path)));
        let roots = [root("/srv/app"), root("/srv/other")];
        let policy = CanonicalSandboxPolicy::workspace_write_no_sensitive_blocking(roots);
        let files = Files::sample();
        let host = files.kernel(7, false);
        let (policy, host) =
            prepare(&policy.with_paths(rules), &context(1000), &files, host).unwrap();
        let (_, report) = plan(LinuxLandlock.lower(&policy, &host).unwrap());
        report.level(Guarantee::ProtectedPaths)
    };
    assert_eq!(level(&[]), Level::Enforced);
    assert_eq!(level(&["/srv/oth*"]), Level::NotEnforced);
}

#[test]
fn without_overlays_nothing_is_private_but_tmp() {
    let files = Files::sample();
    let mut host = files.kernel(7, true);
    host.overlays = false;
    let commit = with_rules(PathRules::default().with_git(GitAccess::Commit));
    let (policy, host) = prepare(&commit, &context(1000), &files, host).unwrap();
    let (plan, report) = plan(LinuxLandlock.lower(&policy, &host).unwrap());
    assert!(
        !plan
            .mounts
            .iter()
            .any(|mount| matches!(mount, Mount::Overlay { .. }))
    );
    assert_eq!(view(&plan, &abs("/srv/app/.git/HEAD")), View::HostReadOnly);
    assert_eq!(report.level(Guarantee::GitImport), Level::NotEnforced);
}

#[test]
fn caches_are_kept_where_the_host_says() {
    let files = Files::sample();
    let mut host = files.kernel(7, true);
    host.cache_store = Some(abs("/home/dev/.local/state/palisade/app"));
    let (policy, host) = prepare(&workspace(), &context(1000), &files, host).unwrap();
    let (plan, _) = plan(LinuxLandlock.lower(&policy, &host).unwrap());
    let store = abs("/home/dev/.local/state/palisade/app/%home%dev%.cargo");
    let overlay = Mount::Overlay {
        path: abs("/home/dev/.cargo"),
        store: OverlayStore::Directory(store),
    };
    assert!(plan.mounts.contains(&overlay), "{plan}");
}

#[test]
fn a_workspace_in_tmp_is_seen_and_its_neighbours_are_not() {
    let mut files = Files::sample();
    files.add("/tmp/w/app/x", Node::File);
    files.add("/tmp/w/secret", Node::File);
    for policy in [workspace(), CanonicalSandboxPolicy::read_only()] {
        let mut context = context(1000);
        context.cwd = root("/tmp/w/app");
        let (policy, host) = prepare(&policy, &context, &files, files.kernel(7, true)).unwrap();
        let (plan, _) = plan(LinuxLandlock.lower(&policy, &host).unwrap());
        assert!(view(&plan, &abs("/tmp/w/app/x")).shows_the_host(), "{plan}");
        assert_eq!(view(&plan, &abs("/tmp/w/secret")), View::Fresh, "{plan}");
    }
}

#[test]
fn a_granted_socket_is_brought_back_and_others_are_not() {
    let mut files = Files::sample();
    files.add("/run/other.sock", Node::Socket);
    files.add("/home/dev/.gnupg/S.agent", Node::Socket);
    files.add("/home/dev/.gnupg/key", Node::File);
    let grants = [abs("/run/docker.sock"), abs("/home/dev/.gnupg")];
    let policy = workspace().with_local(LocalAccess::default().with_unix_paths(grants));
    let (plan, _) = lowered(&policy, &files);
    for (path, seen) in [
        ("/run/docker.sock", View::HostReadOnly),
        ("/run/other.sock", View::Sealed),
        ("/home/dev/.gnupg/S.agent", View::HostReadOnly),
        ("/home/dev/.gnupg/key", View::Sealed),
        ("/var/lib/app/app.sock", View::Hidden),
    ] {
        assert_eq!(view(&plan, &abs(path)), seen, "{path}\n{plan}");
    }
}

#[test]
fn too_many_sockets_are_a_loss() {
    let mut files = Files::sample();
    for i in 0..300 {
        files.add(format!("/opt/sockets/{i}"), Node::Socket);
    }
    let (_, report) = lowered(&workspace(), &files);
    assert_eq!(report.level(Guarantee::UnixSockets), Level::DetectedOnly);
}

#[test]
fn a_truncated_glob_is_a_loss() {
    let files = Files::sample();
    let policy = with_rules(PathRules::default().with_deny_read([spec("**/.env")]));
    let (policy, mut host) =
        prepare(&policy, &context(1000), &files, files.kernel(7, true)).unwrap();
    for expansion in host.places.globs.values_mut() {
        expansion.truncated = true;
    }
    let (_, report) = plan(LinuxLandlock.lower(&policy, &host).unwrap());
    assert_eq!(report.level(Guarantee::DeniedReads), Level::DetectedOnly);
}

#[test]
fn a_network_that_is_not_full_is_never_the_hosts() {
    let listed = NetworkAllowlistEntry::with_port("crates.io", 443).unwrap();
    let limited =
        CanonicalSandboxPolicy::workspace_write_with_network([root("/srv/app")], [listed]);
    for (loopback, network) in [
        (LoopbackAccess::Private, NetworkNamespace::OwnLoopback),
        (LoopbackAccess::Host, NetworkNamespace::OwnLoopback),
        (LoopbackAccess::Off, NetworkNamespace::Nothing),
    ] {
        for policy in [
            workspace(),
            limited.clone(),
            CanonicalSandboxPolicy::read_only(),
        ] {
            let local = LocalAccess::default().with_loopback(loopback);
            let (plan, _) = lowered(&policy.with_local(local), &Files::sample());
            assert_eq!(plan.network, network);
        }
    }
    let (_, report) = lowered(&limited, &Files::sample());
    assert_eq!(report.level(Guarantee::NetworkHosts), Level::NotEnforced);
    assert_eq!(report.level(Guarantee::Network), Level::Enforced);
}

#[test]
fn listed_hosts_are_reached_through_a_proxy_alone_where_somebody_serves_one() {
    let listed = NetworkAllowlistEntry::with_port("crates.io", 443).unwrap();
    let limited =
        CanonicalSandboxPolicy::workspace_write_with_network([root("/srv/app")], [listed]);
    let files = Files::sample();
    let lowered = |policy: &CanonicalSandboxPolicy, namespaces: bool| {
        let kernel = files.kernel(7, namespaces).with_proxy();
        let (policy, host) = prepare(policy, &context(1000), &files, kernel).unwrap();
        plan(LinuxLandlock.lower(&policy, &host).unwrap())
    };
    let variable = |plan: &Plan, name: &str| {
        let found = plan.environment.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    };
    for loopback in [
        LoopbackAccess::Private,
        LoopbackAccess::Host,
        LoopbackAccess::Off,
    ] {
        let local = LocalAccess::default().with_loopback(loopback);
        let (plan, report) = lowered(&limited.clone().with_local(local), true);
        assert_eq!(plan.network, NetworkNamespace::Proxied);
        assert_eq!(report.level(Guarantee::NetworkHosts), Level::Enforced);
        assert_eq!(report.level(Guarantee::Network), Level::Enforced);
        let proxy = EnvValue::Literal("http://127.0.0.1:3128".to_owned());
        for name in ["HTTP_PROXY", "https_proxy", "ALL_PROXY", "PIP_PROXY"] {
            assert_eq!(variable(&plan, name), Some(proxy.clone()), "{name}");
        }
        let Some(EnvValue::Literal(direct)) = variable(&plan, "NO_PROXY") else {
            panic!("{plan}")
        };
        assert!(direct.split(',').any(|host| host == "localhost"));
    }
    // Nobody is told of a proxy that is not there, and a proxy opens nothing where no host is listed.
    let (plan, _) = lowered(&workspace(), true);
    assert_eq!(plan.network, NetworkNamespace::OwnLoopback);
    assert_eq!(variable(&plan, "HTTP_PROXY"), None);
    // Without a network namespace, it would not be the only way out.
    let (plan, report) = lowered(&limited, false);
    assert_eq!(plan.tier, Tier::Landlock);
    assert_eq!(report.level(Guarantee::NetworkHosts), Level::NotEnforced);
    assert_eq!(report.level(Guarantee::Network), Level::Enforced);
    assert_eq!(variable(&plan, "HTTP_PROXY"), None);
}

#[test]
fn whom_to_trust_is_read_inside_where_a_proxy_opens_tls() {
    let listed = NetworkAllowlistEntry::with_port("crates.io", 443).unwrap();
    let limited =
        CanonicalSandboxPolicy::workspace_write_with_network([root("/srv/app")], [listed]);
    let files = Files::sample();
    let path = abs;
    let trust = TrustFiles::new(
        path("/tmp/trust"),
        path("/tmp/trust/all"),
        path("/tmp/trust/own"),
    );
    let lowered = |policy: &CanonicalSandboxPolicy, namespaces: bool| {
        let kernel = files.kernel(7, namespaces).with_proxy();
        let kernel = kernel.with_trust(trust.clone().unwrap());
        let (policy, host) = prepare(policy, &context(1000), &files, kernel).unwrap();
        plan(LinuxLandlock.lower(&policy, &host).unwrap()).0
    };
    let plan = lowered(&limited, true);
    // After everything that could lie over it, and for reading.
    let kept = Mount::Keep {
        path: path("/tmp/trust"),
        writable: false,
    };
    assert_eq!(plan.mounts.last(), Some(&kept));
    let told = |name: &str, file: &str| {
        let value = EnvValue::Literal(file.to_owned());
        plan.environment.contains(&(name.to_owned(), value))
    };
    assert!(told("SSL_CERT_FILE", "/tmp/trust/all") && told("GIT_SSL_CAINFO", "/tmp/trust/all"));
    assert!(told("NODE_EXTRA_CA_CERTS", "/tmp/trust/own"));
    // Nobody is told to trust anything where there is no proxy.
    for plan in [lowered(&workspace(), true), lowered(&limited, false)] {
        assert!(!plan.mounts.contains(&kept), "{plan}");
        let mut names = plan.environment.iter().map(|(name, _)| name);
        assert!(!names.any(|name| name == "SSL_CERT_FILE"), "{plan}");
    }
    // Files elsewhere would not be there.
    assert_eq!(
        TrustFiles::new(path("/tmp/trust"), path("/etc/all"), path("/tmp/trust/own")),
        None
    );
}

#[test]
fn a_profile_that_only_logs_enforces_nothing() {
    let policy = CanonicalSandboxPolicy::workspace_write_full(
        [root("/srv/app")],
        [],
        None,
        ResourceLimits::default(),
        SeccompProfile::logging(),
    );
    let (_, report) = lowered(&policy, &Files::sample());
    assert_eq!(report.level(Guarantee::SystemCalls), Level::NotEnforced);
}

#[test]
fn write_access_without_read_access_is_hidden_and_said() {
    let mut secret = SensitivePath::new("~/.ssh").unwrap();
    secret.block_write = false;
    let policy =
        CanonicalSandboxPolicy::workspace_write_with_sensitive_paths([root("/srv/app")], [secret]);
    let (plan, report) = lowered(&policy, &Files::sample());
    assert_eq!(view(&plan, &abs("/home/dev/.ssh/id")), View::Hidden);
    assert!(report.notes().iter().any(|note| note.contains("hidden")));
}

#[test]
fn limits_are_reported_by_what_keeps_them() {
    let limits = ResourceLimits::conservative();
    let policy = CanonicalSandboxPolicy::workspace_write_with_limits([root("/srv/app")], limits);
    let files = Files::sample();
    let report = |uid, namespaces, groups: bool| {
        let mut host = files.kernel(7, namespaces);
        if groups {
            host.cgroups.pids = Some(abs("/sys/fs/cgroup/app"));
            host.cgroups.memory = Some(abs("/sys/fs/cgroup/app"));
        }
        let (policy, host) = prepare(&policy, &context(uid), &files, host).unwrap();
        let (plan, report) = plan(LinuxLandlock.lower(&policy, &host).unwrap());
        assert_eq!(
            plan.cgroups.memory.is_some(),
            report.limit(LimitKind::Memory) == LimitLevel::Enforced
        );
        (
            report.limit(LimitKind::Pids),
            report.limit(LimitKind::Memory),
        )
    };
    use LimitLevel::{Enforced, Sampled};
    assert_eq!(report(1000, true, false), (Enforced, Sampled));
    assert_eq!(report(0, true, false), (Sampled, Sampled));
    assert_eq!(report(0, true, true), (Enforced, Enforced));
    assert_eq!(report(1000, false, false), (Sampled, Sampled));
    assert_eq!(report(1000, false, true), (Enforced, Enforced));
}
