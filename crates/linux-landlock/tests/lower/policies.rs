//! Policies of all kinds, lowered on emulated hosts.

use palisade_linux_landlock::{LinuxHost, LinuxLandlock, Plan, private_places};
use palisade_policy::{
    AcceptedLosses, Backend as _, CanonicalSandboxPolicy, Enforcement, GitAccess, Guarantee,
    HomeRoot, HostFacts, Lowered, Os, PathRules, PathSpec, PolicyContext, PolicyError,
    RelativePath, Reopened, ResolvedPolicy, ResourceLimits, SeccompProfile, SensitivePath,
    WorkspaceRoot,
};
use proptest::prelude::*;

use crate::files::{Files, abs};

pub(crate) fn root(path: &str) -> WorkspaceRoot {
    WorkspaceRoot::new(path).unwrap()
}

pub(crate) fn spec(path: &str) -> PathSpec {
    PathSpec::parse(path).unwrap()
}

pub(crate) fn context(uid: u32) -> PolicyContext {
    let facts = HostFacts::new(Os::Linux)
        .with_home(abs("/home/dev"))
        .with_uid(uid);
    PolicyContext::new(facts, root("/srv/app"))
}

pub(crate) fn workspace() -> CanonicalSandboxPolicy {
    CanonicalSandboxPolicy::workspace_write([root("/srv/app")])
}

pub(crate) fn with_rules(rules: PathRules) -> CanonicalSandboxPolicy {
    workspace().with_paths(rules)
}

/// Resolves and surveys as a launch would.
pub(crate) fn prepare(
    policy: &CanonicalSandboxPolicy,
    context: &PolicyContext,
    files: &Files,
    mut host: LinuxHost,
) -> Result<(ResolvedPolicy, LinuxHost), PolicyError> {
    let context = context.clone().with_private(private_places(&host));
    let policy = policy.resolve(&context)?;
    files.look(&mut host, &policy);
    Ok((policy, host))
}

pub(crate) fn lower(
    policy: &CanonicalSandboxPolicy,
    files: &Files,
) -> Result<Lowered<Plan>, PolicyError> {
    let (policy, host) = prepare(policy, &context(1000), files, files.kernel(7, true))?;
    LinuxLandlock.lower(&policy, &host)
}

/// The plan, with every loss accepted.
pub(crate) fn plan(lowered: Lowered<Plan>) -> (Plan, Enforcement) {
    let all: AcceptedLosses = Guarantee::ALL.into_iter().collect();
    lowered.admit(&all).unwrap()
}

/// Few names, so that random paths meet each other.
pub(crate) fn any_path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["app", "a", "b", ".git", ".ssh", ".vscode"]);
    let start = prop::sample::select(vec![
        "/srv/app",
        "/srv/app",
        "/srv",
        "/tmp",
        "/home/dev",
        "/home/dev/.cargo",
        "/dev/shm",
    ]);
    (start, prop::collection::vec(name, 0..4)).prop_map(|(start, names)| {
        let mut path = start.to_owned();
        for name in names {
            path.push('/');
            path.push_str(name);
        }
        path
    })
}

fn any_spec() -> impl Strategy<Value = PathSpec> {
    let globs = vec!["**/.git", "a/*", "~/*/b", "b", "/srv/**/a", ".s*"];
    prop_oneof![
        4 => any_path().prop_map(|path| spec(&path)),
        1 => prop::sample::select(globs).prop_map(spec),
    ]
}

fn any_rules() -> impl Strategy<Value = PathRules> {
    let few = |max| prop::collection::vec(any_spec(), 0..max);
    let names = vec![".git", ".vscode", "a/b", "a", "a/b/app"];
    let protected = prop::collection::vec(prop::sample::select(names), 0..3);
    let reopened = prop::collection::vec((any_path(), any::<bool>()), 0..3);
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
                    true => Reopened::write(abs(path)),
                    false => Reopened::read(abs(path)),
                }))
        },
    )
}

/// A policy that confines something.
pub(crate) fn any_policy() -> impl Strategy<Value = CanonicalSandboxPolicy> {
    let sensitive = (any_spec(), any::<bool>(), any::<bool>()).prop_map(|(path, read, write)| {
        let mut entry = SensitivePath::blocking(path);
        // Write access without read access cannot be lowered as such; it is tested by itself.
        entry.block_read = read && write;
        entry.block_write = write;
        entry
    });
    let sensitive = prop::option::of(prop::collection::vec(sensitive, 0..4));
    let roots = prop::collection::vec(any_path(), 0..3);
    let workspace = (roots, sensitive, any::<bool>()).prop_map(|(roots, sensitive, tmp)| {
        CanonicalSandboxPolicy::workspace_write_full(
            roots.iter().map(|path| root(path)),
            [],
            sensitive,
            ResourceLimits::default(),
            SeccompProfile::strict(),
        )
        .with_host_tmp(false, tmp)
    });
    let mode = prop_oneof![
        1 => Just(CanonicalSandboxPolicy::read_only()),
        4 => workspace,
    ];
    (mode, any_rules()).prop_map(|(policy, rules)| policy.with_paths(rules))
}

/// A working directory, possibly in a private place.
pub(crate) fn any_context() -> impl Strategy<Value = PolicyContext> {
    any_path().prop_map(|cwd| {
        let mut context = context(1000).with_home_root(HomeRoot::Allow);
        context.cwd = root(&cwd);
        context
    })
}
