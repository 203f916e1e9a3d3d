//! Random hosts and policies, and what becomes of a policy on a host.

use std::collections::BTreeMap;

use palisade_policy::{
    AbsolutePath, AcceptedLosses, Backend as _, CanonicalSandboxPolicy, Enforcement, GitAccess,
    Guarantee, HomeRoot, HostFacts, Os, PathRules, PathSpec, PolicyContext, RelativePath, Reopened,
    ResolvedPolicy, ResourceLimits, SeccompProfile, SensitivePath, WorkspaceRoot,
};
use palisade_windows_token::acl::Rights;
use palisade_windows_token::host::WindowsHost;
use palisade_windows_token::model::{
    Applied, Descriptor, FileSystem, Kind, Switches, Token, apply, opened, passes_self_check,
    survey,
};
use palisade_windows_token::{Plan, Sid, WindowsToken, private_places};
use proptest::prelude::*;

use crate::support::{
    FULL, MODIFY, abs, allow, capability, disk, here, logon, spelled, user, users,
};

/// Where the session has its temporary files.
pub(crate) const SESSION: &str = "/home/dev/.session/tmp";

/// The list of something on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    /// Only what it inherits.
    Nothing,
    /// The user has full control, from here on down.
    UserFull,
    /// The user may modify.
    UserModify,
    /// Every user may modify.
    UsersModify,
    /// Everybody has full control.
    EveryoneFull,
    /// The user has full control, and nothing is inherited.
    Protected,
    /// An earlier command gave itself everything, by the capability of a root.
    Residue,
    /// There is no list.
    Null,
}

/// Something on a host.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) path: AbsolutePath,
    pub(crate) kind: Kind,
    pub(crate) own: Own,
}

pub(crate) fn node(path: &str, kind: Kind, own: Own) -> Node {
    Node {
        path: abs(path),
        kind,
        own,
    }
}

/// A policy on a host.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) nodes: Vec<Node>,
    pub(crate) files: FileSystem,
    pub(crate) host: WindowsHost,
    pub(crate) policy: ResolvedPolicy,
    pub(crate) plan: Plan,
    pub(crate) report: Enforcement,
}

impl std::fmt::Debug for World {
    /// What makes the world, without what follows from it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for node in &self.nodes {
            writeln!(f, "{} {:?} {:?}", node.path, node.kind, node.own)?;
        }
        let (rules, _) = self.policy.canonical().rules().unwrap();
        let context = self.policy.context();
        let secrets = self.policy.canonical().sensitive_paths(&context.facts);
        let roots = self
            .policy
            .canonical()
            .writable_roots(&context.cwd, &context.facts);
        writeln!(f, "cwd {}, roots {roots:?}, {rules:?}", context.cwd.path())?;
        let secrets: Vec<_> = secrets
            .iter()
            .map(|secret| {
                (
                    secret.path.to_string(),
                    secret.block_read,
                    secret.block_write,
                )
            })
            .filter(|(path, ..)| !path.starts_with('~'))
            .collect();
        write!(f, "secrets {secrets:?}")
    }
}

/// A session that began: the files as they are then, and who asks.
pub(crate) struct Started {
    pub(crate) files: FileSystem,
    pub(crate) token: Token,
    pub(crate) applied: Applied,
}

impl World {
    /// Everything but a policy that makes no sense, or that is refused on this host.
    pub(crate) fn new(
        policy: &CanonicalSandboxPolicy,
        context: &PolicyContext,
        nodes: &[Node],
        second_check: Option<Rights>,
    ) -> Option<Self> {
        let mut host = WindowsHost::new(user(), logon());
        host.powerful_groups = vec![Sid::administrators()];
        host.privileges = [
            "SeRestorePrivilege",
            "SeBackupPrivilege",
            "SeChangeNotifyPrivilege",
        ]
        .map(str::to_owned)
        .to_vec();
        host.second_check = second_check;
        host.session_tmp = Some(abs(SESSION));
        let context = context.clone().with_private(private_places(&host));
        let policy = policy.resolve(&context).ok()?;
        let files = build(&plausible(nodes, &policy));
        survey(&mut host, &files, &policy, capability);
        let lowered = WindowsToken.lower(&policy, &host).ok()?;
        let all: AcceptedLosses = Guarantee::ALL.into_iter().collect();
        let (plan, report) = lowered.admit(&all).unwrap();
        Some(Self {
            nodes: nodes.to_vec(),
            files,
            host,
            policy,
            plan,
            report,
        })
    }

    /// Begins a session with a plan, if the plan can be applied.
    pub(crate) fn start(&self, plan: &Plan) -> Option<Started> {
        let mut files = self.files.clone();
        let applied = apply(plan, &mut files).ok()?;
        Some(Started {
            files,
            token: Token::of_plan(&plan.token, &self.host),
            applied,
        })
    }

    /// The switches with which a session would begin at all.
    pub(crate) fn switches(&self, plan: &Plan) -> Vec<Switches> {
        Switches::all()
            .filter(|switches| passes_self_check(&plan.token, &self.host, *switches))
            .collect()
    }

    /// Places that the policy opens.
    pub(crate) fn opened(&self) -> Vec<&AbsolutePath> {
        opened(&self.policy)
    }
}

/// What earlier commands gave themselves is only of interest where a guard has to hold against it.
fn plausible(nodes: &[Node], policy: &ResolvedPolicy) -> Vec<Node> {
    let guards = policy.guards().iter().map(|guard| &guard.matcher);
    let guarded: Vec<&AbsolutePath> = guards
        .chain(policy.read_only())
        .filter_map(|matcher| matcher.path())
        .collect();
    let opened = || policy.roots().iter().map(|root| &root.root);
    let case = policy.context().facts.case;
    let inside = |path: &AbsolutePath| {
        opened().any(|root| root.covers(path, case) && root.depth() < path.depth())
    };
    let guards = |path: &AbsolutePath| guarded.iter().any(|guard| guard.covers(path, case));
    let own = |node: &Node| match node.own {
        Own::Residue if !guards(&node.path) || !inside(&node.path) => Own::Nothing,
        own => own,
    };
    let settled = |node: &Node| Node {
        own: own(node),
        ..node.clone()
    };
    nodes.iter().map(settled).collect()
}

/// A host with these on it, and what every host has.
fn build(nodes: &[Node]) -> FileSystem {
    let mut files = disk();
    let fixed = [
        node("/srv", Kind::Directory, Own::UserFull),
        node("/home/dev", Kind::Directory, Own::Protected),
        node("/tmp", Kind::Directory, Own::UsersModify),
        node(SESSION, Kind::Directory, Own::Nothing),
    ];
    // Of several for one path the first counts; what is nearer to the root comes first, so that the rest inherits.
    let mut all: Vec<&Node> = fixed.iter().chain(nodes).collect();
    all.sort_by_key(|node| node.path.depth());
    for node in all {
        if files.find(&node.path).is_some() {
            continue;
        }
        let Some(id) = files.put_inheriting(&node.path, node.kind) else {
            continue;
        };
        let before = files.object(id).unwrap().descriptor.clone();
        let entries = before.entries();
        let with = |ace| Descriptor::new(user(), [ace].into_iter().chain(entries.clone()));
        // Whoever has them on a file has them on the file only.
        let fit = |ace| match node.kind {
            Kind::Directory => ace,
            Kind::File => here(ace),
        };
        let descriptor = match node.own {
            Own::Nothing => Descriptor::new(user(), entries.clone()),
            Own::UserFull => with(fit(allow(FULL, user()))),
            Own::UserModify => with(fit(allow(MODIFY, user()))),
            Own::UsersModify => with(fit(allow(MODIFY, users()))),
            Own::EveryoneFull => with(fit(allow(FULL, Sid::everyone()))),
            Own::Residue => Descriptor::new(
                user(),
                [here(allow(FULL, capability(1))), here(allow(FULL, user()))]
                    .into_iter()
                    .chain(entries.clone()),
            ),
            Own::Protected => Descriptor::new(user(), [fit(allow(FULL, user()))]).protected(),
            Own::Null => Descriptor::without_list(user()),
        };
        files.set_descriptor(id, descriptor);
    }
    files
}

pub(crate) fn root(path: &str) -> WorkspaceRoot {
    WorkspaceRoot::new(spelled(path)).unwrap()
}

pub(crate) fn spec(path: &str) -> PathSpec {
    PathSpec::parse(&spelled(path)).unwrap()
}

pub(crate) fn context(cwd: &str) -> PolicyContext {
    let facts = HostFacts::new(Os::Windows).with_home(abs("/home/dev"));
    PolicyContext::new(facts, root(cwd)).with_home_root(HomeRoot::Allow)
}

/// Few names, so that random paths meet each other.
fn any_path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", ".git", ".vscode", "pkg"]);
    let start = prop::sample::select(vec![
        "/srv/app",
        "/srv/app",
        "/srv/app/pkg",
        "/srv/other",
        "/srv",
        "/home/dev",
        SESSION,
    ]);
    (start, prop::collection::vec(name, 0..3)).prop_map(|(start, names)| {
        let names = names.iter().map(|name| format!("/{name}"));
        format!("{start}{}", names.collect::<String>())
    })
}

fn any_own() -> impl Strategy<Value = Own> {
    prop_oneof![
        12 => Just(Own::Nothing),
        3 => Just(Own::UserFull),
        3 => Just(Own::UserModify),
        2 => Just(Own::UsersModify),
        2 => Just(Own::EveryoneFull),
        2 => Just(Own::Protected),
        2 => Just(Own::Residue),
        1 => Just(Own::Null),
    ]
}

/// What is on a host, besides what always is.
pub(crate) fn any_nodes() -> impl Strategy<Value = Vec<Node>> {
    let one = (any_path(), any::<bool>(), any_own()).prop_map(|(path, file, own)| {
        let kind = if file { Kind::File } else { Kind::Directory };
        node(&path, kind, own)
    });
    prop::collection::vec(one, 0..14)
}

fn any_spec() -> impl Strategy<Value = PathSpec> {
    prop_oneof![
        6 => any_path().prop_map(|path| spec(&path)),
        1 => prop::sample::select(vec!["**/.git", "a/*", "~/*/b", "b", ".v*"]).prop_map(|glob| {
            PathSpec::parse(glob).unwrap()
        }),
    ]
}

fn any_rules() -> impl Strategy<Value = PathRules> {
    let few = || prop::collection::vec(any_spec(), 0..3);
    let names = vec![".git", ".vscode", "pkg/.git", "a"];
    let protected = prop::collection::vec(prop::sample::select(names), 0..3);
    let reopened = prop::collection::vec((any_path(), any::<bool>()), 0..3);
    let git = prop::sample::select(vec![
        GitAccess::ReadOnly,
        GitAccess::Commit,
        GitAccess::Full,
    ]);
    (protected, few(), few(), git, reopened).prop_map(
        |(protected, deny_read, read_only, git, reopened)| {
            let names = protected
                .into_iter()
                .map(|name| RelativePath::new(name).unwrap());
            let reopened = reopened.into_iter().map(|(path, write)| match write {
                true => Reopened::write(abs(&path)),
                false => Reopened::read(abs(&path)),
            });
            PathRules::default()
                .with_protected(names)
                .with_deny_read(deny_read)
                .with_read_only(read_only)
                .with_git(git)
                .with_reopened(reopened)
        },
    )
}

/// A policy that confines something.
pub(crate) fn any_policy() -> impl Strategy<Value = CanonicalSandboxPolicy> {
    let sensitive = (any_spec(), any::<bool>(), any::<bool>()).prop_map(|(path, read, write)| {
        let mut entry = SensitivePath::blocking(path);
        entry.block_read = read;
        entry.block_write = write;
        entry
    });
    let sensitive = prop::option::of(prop::collection::vec(sensitive, 0..4));
    let roots = prop::collection::vec(any_path(), 0..3);
    let workspace = (roots, sensitive).prop_map(|(roots, sensitive)| {
        CanonicalSandboxPolicy::workspace_write_full(
            roots.iter().map(|path| root(path)),
            [],
            sensitive,
            ResourceLimits::default(),
            SeccompProfile::strict(),
        )
    });
    let mode = prop_oneof![
        1 => Just(CanonicalSandboxPolicy::read_only()),
        5 => workspace,
    ];
    (mode, any_rules()).prop_map(|(policy, rules)| policy.with_paths(rules))
}

/// A policy on a host, most of whose roots exist.
pub(crate) fn any_world() -> impl Strategy<Value = World> {
    let cwd = prop_oneof![4 => Just("/srv/app".to_owned()), 1 => any_path()];
    let seen = prop_oneof![3 => Just(None), 1 => Just(Some(Rights::CHANGES))];
    (any_policy(), cwd, any_nodes(), seen).prop_filter_map(
        "refused",
        |(policy, cwd, mut nodes, seen)| {
            let context = context(&cwd);
            let mut needed: BTreeMap<AbsolutePath, Own> = BTreeMap::new();
            let (rules, _) = policy.rules().unwrap();
            let granted = rules.reopened.iter().filter(|grant| grant.write);
            for path in policy.writable_roots(&context.cwd, &context.facts) {
                needed.insert(path, Own::Nothing);
            }
            needed.extend(granted.map(|grant| (grant.path.clone(), Own::Nothing)));
            let directories = needed.into_iter().map(|(path, own)| Node {
                path,
                kind: Kind::Directory,
                own,
            });
            // First the directories that must be there, so that no file takes their place.
            let rest = std::mem::take(&mut nodes);
            nodes.extend(directories);
            nodes.extend(rest);
            World::new(&policy, &context, &nodes, seen)
        },
    )
}
