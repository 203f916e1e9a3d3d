//! Random policies over random trees, small enough that their clauses and entries meet each other.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, GitAccess, LocalAccess, LoopbackAccess,
    NetworkAllowlistEntry, PathRules, PathSpec, RelativePath, Reopened, ResourceLimits,
    SeccompProfile, SensitivePath, SyscallName, WorkspaceRoot,
};
use proptest::prelude::*;

use crate::stage::{SOCKETS, Stage, absolute};

/// A path in one of the three parts of a stage.
#[derive(Clone, Debug)]
pub(crate) struct At {
    top: &'static str,
    names: Vec<&'static str>,
}

impl At {
    pub(crate) fn path(&self, stage: &Stage) -> PathBuf {
        let mut path = match self.top {
            "workspace" => stage.workspace.clone(),
            "home" => stage.home.clone(),
            _ => stage.outside.clone(),
        };
        path.extend(&self.names);
        path
    }

    fn absolute(&self, stage: &Stage) -> AbsolutePath {
        absolute(&self.path(stage))
    }
}

/// What is made at a path, unless something is there already.
#[derive(Clone, Debug)]
enum Node {
    Directory,
    File,
    /// A file that can be executed.
    Program,
    Link(At),
    RelativeLink(&'static str),
}

/// A path as a policy writes it.
#[derive(Clone, Debug)]
enum Written {
    At(At),
    Text(&'static str),
    /// Below the outside.
    Outside(&'static str),
    /// Among the services of the host.
    Service(&'static str),
}

impl Written {
    fn spec(&self, stage: &Stage) -> PathSpec {
        match self {
            Self::At(at) => PathSpec::from(at.absolute(stage)),
            Self::Text(text) => PathSpec::parse(text).unwrap(),
            Self::Outside(text) => {
                PathSpec::parse(&format!("{}/{text}", stage.outside.display())).unwrap()
            }
            Self::Service(name) => PathSpec::from(absolute(&stage.services.join(name))),
        }
    }
}

/// What a policy says about the network of the host.
#[derive(Clone, Debug)]
enum Network {
    Off,
    Listed(Vec<(&'static str, u16)>),
    Full,
}

/// What a policy says about system calls.
#[derive(Clone, Debug)]
enum Calls {
    Strict,
    Permissive,
    Logging,
    /// Just these, and whether namespaces may be made.
    Only(Vec<&'static str>, bool),
}

impl Calls {
    fn profile(&self, network: &Network) -> SeccompProfile {
        let mut profile = match self {
            Self::Strict => SeccompProfile::strict(),
            Self::Permissive => SeccompProfile::permissive(),
            Self::Logging => SeccompProfile::logging(),
            Self::Only(names, namespaces) => {
                let mut profile = SeccompProfile::strict();
                profile.blocked_syscalls.clear();
                profile.allow_namespaces = *namespaces;
                profile.with_blocked(names.iter().map(|name| SyscallName::new(*name).unwrap()))
            }
        };
        profile.allow_network_sockets = matches!(network, Network::Full);
        profile
    }
}

/// What is said about paths.
#[derive(Clone, Debug)]
struct Rules {
    deny_read: Vec<Written>,
    read_only: Vec<Written>,
    protected: Vec<&'static str>,
    git: GitAccess,
    reopened: Vec<(At, bool)>,
}

/// What is said about everything else.
#[derive(Clone, Debug)]
struct Reach {
    network: Network,
    calls: Calls,
    loopback: LoopbackAccess,
    /// Names among the services; the empty one is all of them.
    sockets: Vec<&'static str>,
    host_tmp: bool,
}

/// A policy, a tree, and which entries are moved where.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    tree: Vec<(At, Node)>,
    /// `None` is read-only.
    roots: Option<Vec<At>>,
    sensitive: Option<Vec<(Written, bool, bool)>>,
    rules: Rules,
    reach: Reach,
    /// Pairs of entries, by their number; more than there are starts again.
    pub(crate) moves: Vec<(u8, u8)>,
}

impl Case {
    pub(crate) fn any() -> impl Strategy<Value = Self> {
        let roots = prop::option::weighted(0.85, prop::collection::vec(any_at(1), 0..3));
        let sensitive = prop::collection::vec((any_written(), any::<bool>(), any::<bool>()), 0..4);
        let moves = prop::collection::vec(any::<(u8, u8)>(), 0..30);
        (
            prop::collection::vec((any_at(1), any_node()), 0..14),
            roots,
            prop::option::of(sensitive),
            any_rules(),
            any_reach(),
            moves,
        )
            .prop_map(|(tree, roots, sensitive, rules, reach, moves)| Self {
                tree,
                roots,
                sensitive,
                rules,
                reach,
                moves,
            })
    }

    /// Whether the host's `/tmp` is a root, with the sockets that come and go there.
    pub(crate) const fn opens_host_tmp(&self) -> bool {
        self.reach.host_tmp
    }

    /// Makes the tree; what does not fit is left out.
    pub(crate) fn plant(&self, stage: &Stage) {
        let writable = self.rules.reopened.iter().filter(|(_, write)| *write);
        let roots = self.roots.iter().flatten();
        for at in roots.chain(writable.map(|(at, _)| at)) {
            // Roots must exist.
            let _ = fs::create_dir_all(at.path(stage));
        }
        for (at, node) in &self.tree {
            let path = at.path(stage);
            if fs::symlink_metadata(&path).is_ok()
                || fs::create_dir_all(path.parent().unwrap()).is_err()
            {
                continue;
            }
            let _ = match node {
                Node::Directory => fs::create_dir(&path),
                Node::File => fs::write(&path, format!("content of {}", path.display())),
                Node::Program => fs::write(&path, "#!/bin/sh\n")
                    .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755))),
                Node::Link(target) => symlink(target.path(stage), &path),
                Node::RelativeLink(target) => symlink(target, &path),
            };
        }
    }

    pub(crate) fn policy(&self, stage: &Stage) -> CanonicalSandboxPolicy {
        let specs = |written: &[Written]| -> Vec<PathSpec> {
            written.iter().map(|written| written.spec(stage)).collect()
        };
        let said = &self.rules;
        let names = said.protected.iter();
        let rules = PathRules::default()
            .with_protected(names.map(|name| RelativePath::new(name).unwrap()))
            .with_deny_read(specs(&said.deny_read))
            .with_read_only(specs(&said.read_only))
            .with_git(said.git)
            .with_reopened(said.reopened.iter().map(|(at, write)| {
                let path = at.absolute(stage);
                match write {
                    true => Reopened::write(path),
                    false => Reopened::read(path),
                }
            }));
        let sockets = self.reach.sockets.iter();
        let sockets = sockets.map(|name| match *name {
            "" => absolute(&stage.services),
            name => absolute(&stage.services.join(name)),
        });
        let local = LocalAccess::default()
            .with_loopback(self.reach.loopback)
            .with_unix_paths(sockets);
        self.mode(stage).with_paths(rules).with_local(local)
    }

    fn mode(&self, stage: &Stage) -> CanonicalSandboxPolicy {
        let listed = |hosts: &[(&str, u16)]| -> Vec<NetworkAllowlistEntry> {
            let entry = |(name, port): &(&str, u16)| NetworkAllowlistEntry::with_port(name, *port);
            hosts.iter().map(|host| entry(host).unwrap()).collect()
        };
        let network = &self.reach.network;
        let Some(roots) = &self.roots else {
            return match network {
                Network::Off => CanonicalSandboxPolicy::read_only(),
                Network::Full => CanonicalSandboxPolicy::read_only_with_full_network(),
                Network::Listed(hosts) => {
                    CanonicalSandboxPolicy::read_only_with_network(listed(hosts))
                }
            };
        };
        let sensitive = self.sensitive.as_ref().map(|sensitive| {
            let entry = |(path, read, write): &(Written, bool, bool)| {
                let mut entry = SensitivePath::blocking(path.spec(stage));
                (entry.block_read, entry.block_write) = (*read, *write);
                entry
            };
            sensitive.iter().map(entry).collect()
        });
        let roots = roots.iter().map(|root| root.path(stage));
        CanonicalSandboxPolicy::workspace_write_full(
            roots.map(|root| WorkspaceRoot::new(root).unwrap()),
            match network {
                Network::Listed(hosts) => listed(hosts),
                Network::Off | Network::Full => Vec::new(),
            },
            sensitive,
            ResourceLimits::default(),
            self.reach.calls.profile(network),
        )
        .with_host_tmp(false, self.reach.host_tmp)
    }

    /// Paths that the policy names, whether or not they exist.
    pub(crate) fn named(&self, stage: &Stage) -> Vec<PathBuf> {
        let said = &self.rules;
        let written = said.deny_read.iter().chain(&said.read_only);
        let sensitive = self.sensitive.iter().flatten();
        let ats = written
            .chain(sensitive.map(|(written, ..)| written))
            .filter_map(|written| match written {
                Written::At(at) => Some(at.path(stage)),
                Written::Text(_) | Written::Outside(_) | Written::Service(_) => None,
            });
        let protected = said.protected.iter();
        let protected = protected.map(|name| stage.workspace.join(name));
        let granted = said.reopened.iter().map(|(at, _)| at.path(stage));
        ats.chain(protected)
            .chain(granted)
            .chain([stage.workspace.join(".env"), stage.workspace.join("a/.env")])
            .collect()
    }
}

fn any_rules() -> impl Strategy<Value = Rules> {
    let protected = prop::sample::subsequence(vec![".vscode", "a/b", "a", "c/key"], 0..3);
    let git = prop::sample::select(vec![
        GitAccess::ReadOnly,
        GitAccess::ReadOnly,
        GitAccess::Full,
        GitAccess::Commit,
    ]);
    (
        prop::collection::vec(any_written(), 0..3),
        prop::collection::vec(any_written(), 0..3),
        protected,
        git,
        prop::collection::vec((any_at(0), any::<bool>()), 0..3),
    )
        .prop_map(|(deny_read, read_only, protected, git, reopened)| Rules {
            deny_read,
            read_only,
            protected,
            git,
            reopened,
        })
}

fn any_reach() -> impl Strategy<Value = Reach> {
    let host = prop::sample::select(vec!["a.test", "*.a.test", "127.0.0.1", "192.0.2.1"]);
    let host = (host, prop::sample::select(vec![80, 443]));
    let network = prop_oneof![
        4 => Just(Network::Off),
        2 => prop::collection::vec(host, 1..3).prop_map(Network::Listed),
        2 => Just(Network::Full),
    ];
    let names = vec![
        "bpf",
        "chroot",
        "io_uring_setup",
        "keyctl",
        "memfd_create",
        "personality",
        "pidfd_open",
        "prctl",
        "ptrace",
        "socket",
        "socketpair",
        "unshare",
        "userfaultfd",
    ];
    let some = (prop::sample::subsequence(names, 0..6), any::<bool>());
    let calls = prop_oneof![
        4 => Just(Calls::Strict),
        1 => Just(Calls::Permissive),
        1 => Just(Calls::Logging),
        3 => some.prop_map(|(names, namespaces)| Calls::Only(names, namespaces)),
    ];
    let loopback = prop::sample::select(vec![
        LoopbackAccess::Private,
        LoopbackAccess::Private,
        LoopbackAccess::Host,
        LoopbackAccess::Off,
    ]);
    let sockets = prop::sample::subsequence(vec!["one.sock", "two.sock", ""], 0..2);
    let host_tmp = prop::bool::weighted(0.1);
    (network, calls, loopback, sockets, host_tmp).prop_map(
        |(network, calls, loopback, sockets, host_tmp)| Reach {
            network,
            calls,
            loopback,
            sockets,
            host_tmp,
        },
    )
}

fn any_at(least: usize) -> impl Strategy<Value = At> {
    let top = prop::sample::select(vec![
        "workspace",
        "workspace",
        "workspace",
        "home",
        "outside",
    ]);
    let name = prop::sample::select(vec!["a", "b", "c", "key", ".env", ".git", ".vscode"]);
    (top, prop::collection::vec(name, least..4)).prop_map(|(top, names)| At { top, names })
}

fn any_node() -> impl Strategy<Value = Node> {
    prop_oneof![
        3 => Just(Node::Directory),
        4 => Just(Node::File),
        1 => Just(Node::Program),
        2 => any_at(0).prop_map(Node::Link),
        1 => prop::sample::select(vec!["a", "b", "..", "../..", "a/b", "../key", "nowhere"])
            .prop_map(Node::RelativeLink),
    ]
}

fn any_written() -> impl Strategy<Value = Written> {
    prop_oneof![
        4 => any_at(1).prop_map(Written::At),
        3 => prop::sample::select(vec![
            "**/.env", "a/*", "*/b", "**/key", "~/a", "~/*", "~/**/key", "b", "c/a", "a/**", "[*]",
        ])
        .prop_map(Written::Text),
        1 => prop::sample::select(vec!["**/key", "*", "a/*/c", "vic*"]).prop_map(Written::Outside),
        1 => prop::sample::select(SOCKETS.to_vec()).prop_map(Written::Service),
    ]
}

/// Every entry of a tree with what it is, links not followed, in order.
pub(crate) fn entries(top: &Path) -> Vec<PathBuf> {
    let mut found = vec![top.to_path_buf()];
    let mut pending = vec![top.to_path_buf()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                pending.push(entry.path());
            }
            found.push(entry.path());
        }
    }
    found.sort();
    found
}
