//! Short spellings, and random policies, paths and accesses.

use palisade_policy::{
    AbsolutePath, Access, CanonicalSandboxPolicy, GitAccess, HostFacts, HostName, LocalAccess,
    LoopbackAccess, NetworkAllowlistEntry, Os, PathRules, PathSpec, Peer, PolicyContext,
    PrivatePlaces, Protocol, RelativePath, Reopened, ResolvedPolicy, SensitivePath, UnixAddress,
    WorkspaceRoot,
};
use proptest::prelude::*;

pub(crate) fn abs(path: &str) -> AbsolutePath {
    AbsolutePath::new(path).unwrap()
}

pub(crate) fn root(path: &str) -> WorkspaceRoot {
    WorkspaceRoot::new(path).unwrap()
}

pub(crate) fn spec(path: &str) -> PathSpec {
    PathSpec::parse(path).unwrap()
}

pub(crate) fn host(name: &str) -> HostName {
    HostName::parse(name).unwrap()
}

pub(crate) fn facts() -> HostFacts {
    HostFacts::new(Os::Linux)
        .with_home(abs("/home/dev"))
        .with_uid(1000)
}

/// The workspace `/srv/app` on a host where the session owns nothing.
pub(crate) fn context() -> PolicyContext {
    PolicyContext::new(facts(), root("/srv/app"))
}

/// The same on a host with the strongest tier.
pub(crate) fn private_context() -> PolicyContext {
    context().with_private(PrivatePlaces::all().with_overlays([abs("/home/dev/.cargo")]))
}

pub(crate) fn workspace() -> CanonicalSandboxPolicy {
    CanonicalSandboxPolicy::workspace_write([root("/srv/app")])
}

pub(crate) fn resolved(policy: &CanonicalSandboxPolicy) -> ResolvedPolicy {
    policy.resolve(&context()).unwrap()
}

pub(crate) fn connect(name: &str, port: u16) -> Access {
    Access::Connect {
        host: host(name),
        port,
        protocol: Protocol::Tcp,
    }
}

/// Few names, so that random paths meet each other.
pub(crate) fn any_path() -> impl Strategy<Value = AbsolutePath> {
    let name = prop::sample::select(vec![
        "srv", "app", "a", "b", ".git", ".ssh", "tmp", "home", "dev", ".vscode",
    ]);
    let start = prop::sample::select(vec![
        "/",
        "/srv/app",
        "/srv",
        "/tmp",
        "/home/dev",
        "/dev/shm",
    ]);
    (start, prop::collection::vec(name, 0..4))
        .prop_map(|(start, names)| abs(&format!("{start}/{}", names.join("/"))))
}

pub(crate) fn any_root() -> impl Strategy<Value = WorkspaceRoot> {
    any_path().prop_filter_map("the root of the file system", |path| {
        WorkspaceRoot::from_absolute(path).ok()
    })
}

fn any_spec() -> impl Strategy<Value = PathSpec> {
    prop_oneof![
        4 => any_path().prop_map(PathSpec::from),
        1 => prop::sample::select(vec!["**/.git", "a/*", "~/.ssh", "~/*/b", "b", "/srv/**/a", ".s*"])
            .prop_map(spec),
    ]
}

fn any_sensitive() -> impl Strategy<Value = SensitivePath> {
    (any_spec(), any::<bool>(), any::<bool>()).prop_map(|(path, read, write)| {
        let mut entry = SensitivePath::blocking(path);
        entry.block_read = read;
        entry.block_write = write;
        entry
    })
}

pub(crate) fn any_entry() -> impl Strategy<Value = NetworkAllowlistEntry> {
    let hosts = vec!["a.test", "*.a.test", "b.a.test", "127.0.0.1", "192.0.2.1"];
    (
        prop::sample::select(hosts),
        prop::sample::select(vec![80, 443]),
    )
        .prop_map(|(name, port)| NetworkAllowlistEntry::with_port(name, port).unwrap())
}

pub(crate) fn any_rules() -> impl Strategy<Value = PathRules> {
    let few = |max| prop::collection::vec(any_spec(), 0..max);
    let protected = prop::collection::vec(
        prop::sample::select(vec![".git", ".vscode", "a/b", "a"]),
        0..3,
    );
    let reopened = prop::collection::vec(
        (any_path(), any::<bool>()).prop_map(|(path, write)| {
            if write && !path.is_file_system_root() {
                Reopened::write(path)
            } else {
                Reopened::read(path)
            }
        }),
        0..2,
    );
    let git = prop::sample::select(vec![
        GitAccess::ReadOnly,
        GitAccess::Commit,
        GitAccess::Full,
    ]);
    (protected, few(3), few(3), git, reopened).prop_map(
        |(protected, deny_read, read_only, git, reopened)| {
            PathRules::default()
                .with_protected(protected.into_iter().map(|p| RelativePath::new(p).unwrap()))
                .with_deny_read(deny_read)
                .with_read_only(read_only)
                .with_git(git)
                .with_reopened(reopened)
        },
    )
}

fn any_local() -> impl Strategy<Value = LocalAccess> {
    let loopback = prop::sample::select(vec![
        LoopbackAccess::Private,
        LoopbackAccess::Host,
        LoopbackAccess::Off,
    ]);
    (loopback, prop::collection::vec(any_path(), 0..2)).prop_map(|(loopback, paths)| {
        LocalAccess::default()
            .with_loopback(loopback)
            .with_unix_paths(paths)
    })
}

/// A policy of either enforced mode, or of none.
pub(crate) fn any_policy() -> impl Strategy<Value = CanonicalSandboxPolicy> {
    let network = prop::collection::vec(any_entry(), 0..3);
    let read_only = (network, any::<bool>()).prop_map(|(hosts, full)| match full {
        true => CanonicalSandboxPolicy::read_only_with_full_network(),
        false => CanonicalSandboxPolicy::read_only_with_network(hosts),
    });
    let confined = prop_oneof![1 => read_only, 3 => any_workspace()];
    let confined = (confined, any_rules(), any_local())
        .prop_map(|(policy, rules, local)| policy.with_paths(rules).with_local(local));
    prop_oneof![
        10 => confined,
        1 => Just(CanonicalSandboxPolicy::full_access()),
        1 => Just(CanonicalSandboxPolicy::external("a container")),
    ]
}

fn any_workspace() -> impl Strategy<Value = CanonicalSandboxPolicy> {
    let roots = prop::collection::vec(any_root(), 0..3);
    let network = prop::collection::vec(any_entry(), 0..3);
    let sensitive = prop::option::of(prop::collection::vec(any_sensitive(), 0..4));
    (roots, network, sensitive, any::<bool>(), any::<bool>()).prop_map(
        |(roots, network, sensitive, tmpdir, slash_tmp)| {
            CanonicalSandboxPolicy::workspace_write_full(
                roots,
                network,
                sensitive,
                palisade_policy::ResourceLimits::default(),
                palisade_policy::SeccompProfile::strict(),
            )
            .with_host_tmp(tmpdir, slash_tmp)
        },
    )
}

pub(crate) fn any_context() -> impl Strategy<Value = PolicyContext> {
    any::<bool>().prop_map(|private| match private {
        true => private_context(),
        false => context(),
    })
}

pub(crate) fn any_access() -> impl Strategy<Value = Access> {
    let hosts = prop::sample::select(vec![
        "a.test",
        "b.a.test",
        "localhost",
        "127.0.0.1",
        "::1",
        "0.0.0.0",
        "192.0.2.1",
    ]);
    let port = prop::sample::select(vec![80_u16, 443, 8080]);
    let protocol = prop::sample::select(vec![Protocol::Tcp, Protocol::Udp]);
    let peer = prop::sample::select(vec![Peer::Host, Peer::Session]);
    prop_oneof![
        3 => any_path().prop_map(Access::Read),
        3 => any_path().prop_map(Access::Write),
        2 => any_path().prop_map(Access::Create),
        2 => any_path().prop_map(Access::Delete),
        3 => (any_path(), any_path()).prop_map(|(from, to)| Access::Rename { from, to }),
        1 => any_path().prop_map(Access::Execute),
        2 => (hosts.clone(), port.clone(), protocol).prop_map(|(name, port, protocol)| {
            Access::Connect { host: host(name), port, protocol }
        }),
        1 => (hosts, port).prop_map(|(name, port)| Access::Bind { host: host(name), port }),
        1 => (any_path(), peer).prop_map(|(path, peer)| Access::Unix {
            address: UnixAddress::Path(path),
            peer,
        }),
    ]
}
