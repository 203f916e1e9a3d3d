//! Random policies for Macs, lowered on emulated disks.

use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, GitAccess, HomeRoot, HostFacts, LocalAccess,
    LoopbackAccess, NetworkAllowlistEntry, Os, PathCase, PathRules, PathSpec, PolicyContext,
    PrivatePlaces, RelativePath, Reopened, ResolvedPolicy, ResourceLimits, SeccompProfile,
    SensitivePath, WorkspaceRoot,
};
use proptest::prelude::*;

use crate::disk::{Disk, abs};

/// Where the session has its own temporary files.
pub(crate) const SESSION_TMP: &str = "/private/var/folders/x/session";

/// Names that meet each other, in several spellings: `K` is also the sign of the kelvin, `é` is also `e` and an accent,
/// and two `s` are also one sharp one.
const NAMES: [&str; 20] = [
    "app", "App", "a", "A", "b", "a", "b", ".git", ".GIT", ".vscode", ".ssh", ".\u{df}h", "K", "k",
    "\u{212a}", "\u{e9}", "e\u{301}", "x;", "a\"b", "(c)",
];

/// What random policies are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flavour {
    /// Whether there are globs.
    pub(crate) globs: bool,
    /// Whether there are names beyond ASCII, which a disk compares by other rules than the oracle.
    pub(crate) beyond_ascii: bool,
}

impl Flavour {
    pub(crate) const PLAIN: Self = Self {
        globs: false,
        beyond_ascii: false,
    };
    pub(crate) const NAMES: Self = Self {
        globs: false,
        beyond_ascii: true,
    };
    pub(crate) const ALL: Self = Self {
        globs: true,
        beyond_ascii: true,
    };

    fn names(self) -> Vec<&'static str> {
        let fits = |name: &&str| self.beyond_ascii || name.is_ascii();
        NAMES.into_iter().filter(fits).collect()
    }
}

const STARTS: [&str; 8] = [
    "/srv/app",
    "/srv/app",
    "/srv/app",
    "/srv/App/a",
    "/srv",
    "/Users/dev",
    "/Users/dev/.config",
    "/private/tmp",
];

const GLOBS: [&str; 12] = [
    "**/.git",
    "a/*",
    "~/*/b",
    "b",
    "/srv/**/a",
    ".s*",
    "*.pem",
    "**/a/b",
    "a/**/b",
    "?",
    "**/K*",
    "/srv/app/*/a",
];

pub(crate) fn any_path() -> impl Strategy<Value = AbsolutePath> {
    path_of(Flavour::ALL)
}

fn path_of(flavour: Flavour) -> impl Strategy<Value = AbsolutePath> {
    let start = prop::sample::select(STARTS.to_vec());
    let names = prop::collection::vec(prop::sample::select(flavour.names()), 0..4);
    (start, names).prop_map(|(start, names)| abs(&format!("{start}/{}", names.join("/"))))
}

/// Like [`any_path`], and only a few names deep and plain, so that sequences of calls meet.
pub(crate) fn near_path() -> impl Strategy<Value = AbsolutePath> {
    let start = prop::sample::select(vec![
        "/srv/app",
        "/srv/app",
        "/srv/app/a",
        "/Users/dev",
        "/private/tmp",
    ]);
    let names = vec![
        "a", "b", ".git", "K", "A", "\u{212a}", ".GIT", ".ssh", ".\u{df}h",
    ];
    let names = prop::collection::vec(prop::sample::select(names), 1..4);
    (start, names).prop_map(|(start, names)| abs(&format!("{start}/{}", names.join("/"))))
}

fn spec(text: &str) -> PathSpec {
    PathSpec::parse(text).unwrap()
}

pub(crate) fn any_spec(flavour: Flavour) -> BoxedStrategy<PathSpec> {
    let path = path_of(flavour).prop_map(PathSpec::from);
    match flavour.globs {
        false => path.boxed(),
        true => prop_oneof![
            3 => path,
            1 => prop::sample::select(GLOBS.to_vec()).prop_map(spec),
        ]
        .boxed(),
    }
}

fn any_rules(flavour: Flavour) -> impl Strategy<Value = PathRules> {
    let few = |max| prop::collection::vec(any_spec(flavour), 0..max);
    let names = [".git", ".vscode", "a/b", "a", "a/b/app", "K", "\u{e9}"];
    let names: Vec<&str> = names
        .into_iter()
        .filter(|name| flavour.beyond_ascii || name.is_ascii())
        .collect();
    let protected = prop::collection::vec(prop::sample::select(names), 0..3);
    let reopened = prop::collection::vec((path_of(flavour), any::<bool>()), 0..3);
    let git = prop::sample::select(vec![
        GitAccess::ReadOnly,
        GitAccess::Commit,
        GitAccess::Full,
    ]);
    (protected, few(3), few(3), git, reopened).prop_map(
        |(protected, deny_read, read_only, git, reopened)| {
            PathRules::default()
                .with_protected(
                    protected
                        .into_iter()
                        .map(|name| RelativePath::new(name).unwrap()),
                )
                .with_deny_read(deny_read)
                .with_read_only(read_only)
                .with_git(git)
                .with_reopened(reopened.into_iter().map(|(path, write)| match write {
                    true => Reopened::write(path),
                    false => Reopened::read(path),
                }))
        },
    )
}

fn any_local(flavour: Flavour) -> impl Strategy<Value = LocalAccess> {
    let loopback = prop::sample::select(vec![
        LoopbackAccess::Private,
        LoopbackAccess::Host,
        LoopbackAccess::Off,
    ]);
    (loopback, prop::collection::vec(path_of(flavour), 0..3)).prop_map(|(loopback, paths)| {
        LocalAccess::default()
            .with_loopback(loopback)
            .with_unix_paths(paths)
    })
}

fn any_network() -> impl Strategy<Value = Vec<NetworkAllowlistEntry>> {
    let hosts = vec!["a.test", "*.a.test", "127.0.0.1", "192.0.2.1"];
    let entry = (
        prop::sample::select(hosts),
        prop::sample::select(vec![80, 443]),
    );
    let entry =
        entry.prop_map(|(name, port)| NetworkAllowlistEntry::with_port(name, port).unwrap());
    prop::collection::vec(entry, 0..3)
}

/// A policy that confines something.
pub(crate) fn any_policy(flavour: Flavour) -> impl Strategy<Value = CanonicalSandboxPolicy> {
    let sensitive = (any_spec(flavour), any::<bool>(), any::<bool>());
    let sensitive = sensitive.prop_map(|(path, read, write)| {
        let mut entry = SensitivePath::blocking(path);
        entry.block_read = read;
        entry.block_write = write;
        entry
    });
    let sensitive = prop::option::of(prop::collection::vec(sensitive, 0..4));
    let roots = prop::collection::vec(path_of(flavour), 0..3);
    let workspace = (roots, any_network(), sensitive, any::<bool>());
    let workspace = workspace.prop_map(|(roots, network, sensitive, tmp)| {
        CanonicalSandboxPolicy::workspace_write_full(
            roots
                .into_iter()
                .map(|path| WorkspaceRoot::from_absolute(path).unwrap()),
            network,
            sensitive,
            ResourceLimits::default(),
            SeccompProfile::strict(),
        )
        .with_host_tmp(false, tmp)
    });
    let read_only = (any_network(), any::<bool>()).prop_map(|(hosts, full)| match full {
        true => CanonicalSandboxPolicy::read_only_with_full_network(),
        false => CanonicalSandboxPolicy::read_only_with_network(hosts),
    });
    let mode = prop_oneof![1 => read_only, 5 => workspace];
    (mode, any_rules(flavour), any_local(flavour))
        .prop_map(|(policy, rules, local)| policy.with_paths(rules).with_local(local))
}

pub(crate) fn any_case() -> impl Strategy<Value = PathCase> {
    prop::sample::select(vec![PathCase::Insensitive, PathCase::Sensitive])
}

/// A working directory, and how names are compared.
pub(crate) fn any_context() -> impl Strategy<Value = PolicyContext> {
    context_of(Flavour::ALL)
}

pub(crate) fn context_of(flavour: Flavour) -> impl Strategy<Value = PolicyContext> {
    (path_of(flavour), any_case()).prop_map(|(cwd, case)| context(&cwd, case))
}

pub(crate) fn context(cwd: &AbsolutePath, case: PathCase) -> PolicyContext {
    let facts = HostFacts::new(Os::Macos)
        .with_home(abs("/Users/dev"))
        .with_uid(501)
        .with_case(case);
    PolicyContext::new(facts, WorkspaceRoot::from_absolute(cwd.clone()).unwrap())
        .with_home_root(HomeRoot::Allow)
        .with_private(PrivatePlaces::default().with_overlays([abs(SESSION_TMP)]))
}

/// A disk with some more entries than the sample: directories and files.
pub(crate) fn populated(case: PathCase, entries: &[(AbsolutePath, u8)]) -> Disk {
    let mut disk = Disk::sample(case);
    for (path, kind) in entries {
        match kind {
            0 => disk.make_file(path),
            1 => disk.make_socket(path),
            _ => disk.make_directory(path),
        }
    }
    disk
}

pub(crate) fn any_entries() -> impl Strategy<Value = Vec<(AbsolutePath, u8)>> {
    prop::collection::vec((any_path(), 0..4_u8), 0..14)
}

/// Makes what must exist for a policy to be lowered; says whether everything could be made.
pub(crate) fn make_roots(
    disk: &mut Disk,
    policy: &CanonicalSandboxPolicy,
    context: &PolicyContext,
) -> bool {
    let (rules, _) = policy.rules().unwrap();
    let granted = rules.reopened.iter().filter(|grant| grant.write);
    let mut paths = policy.writable_roots(&context.cwd, &context.facts);
    paths.extend(granted.map(|grant| grant.path.clone()));
    paths.push(context.cwd.path().clone());
    paths.iter().for_each(|path| disk.make_directory(path));
    paths.iter().all(|path| disk.is_directory(path))
}

/// Everything that may differ between the answers of a profile and of the oracle although neither is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exactness {
    /// The profile says what the oracle says.
    Exact,
    /// The profile may deny more.
    Stricter,
}

/// Whether some glob of the policy has several names: what is on its way, and its names elsewhere, are denied as well.
pub(crate) fn has_globs(policy: &ResolvedPolicy) -> bool {
    let guards = policy.guards().iter().map(|guard| &guard.matcher);
    guards
        .chain(policy.read_only())
        .any(palisade_policy::PathMatcher::is_glob)
}
