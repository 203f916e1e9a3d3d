//! Random policies over random trees, small enough that their clauses and entries meet each other.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, GitAccess, PathRules, PathSpec, RelativePath, Reopened,
    SensitivePath, WorkspaceRoot,
};
use proptest::prelude::*;

use crate::support::Stage;

/// A path in one of the three parts of a stage.
#[derive(Clone, Debug)]
pub(super) struct At {
    top: &'static str,
    names: Vec<&'static str>,
}

impl At {
    pub(super) fn path(&self, stage: &Stage) -> PathBuf {
        let mut path = match self.top {
            "workspace" => stage.workspace.clone(),
            "home" => stage.home.clone(),
            _ => stage.outside.clone(),
        };
        path.extend(&self.names);
        path
    }

    fn absolute(&self, stage: &Stage) -> AbsolutePath {
        AbsolutePath::new(self.path(stage)).unwrap()
    }
}

/// What is made at a path, unless something is there already.
#[derive(Clone, Debug)]
enum Node {
    Directory,
    File,
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
}

impl Written {
    fn spec(&self, stage: &Stage) -> PathSpec {
        match self {
            Self::At(at) => PathSpec::from(at.absolute(stage)),
            Self::Text(text) => PathSpec::parse(text).unwrap(),
            Self::Outside(text) => {
                PathSpec::parse(&format!("{}/{text}", stage.outside.display())).unwrap()
            }
        }
    }
}

/// A policy, a tree, and which entries are moved where.
#[derive(Clone, Debug)]
pub(super) struct Case {
    tree: Vec<(At, Node)>,
    /// `None` is read-only.
    roots: Option<Vec<At>>,
    sensitive: Option<Vec<(Written, bool, bool)>>,
    deny_read: Vec<Written>,
    read_only: Vec<Written>,
    protected: Vec<&'static str>,
    git: GitAccess,
    reopened: Vec<(At, bool)>,
    /// Pairs of entries, by their number; more than there are starts again.
    pub(super) moves: Vec<(u8, u8)>,
}

impl Case {
    pub(super) fn any() -> impl Strategy<Value = Self> {
        let roots = prop::option::weighted(0.85, prop::collection::vec(any_at(1), 0..3));
        let sensitive = prop::collection::vec((any_written(), any::<bool>(), any::<bool>()), 0..4);
        let protected = prop::sample::subsequence(vec![".vscode", "a/b", "a", "c/key"], 0..3);
        let git = prop::sample::select(vec![GitAccess::ReadOnly, GitAccess::Full]);
        let moves = prop::collection::vec(any::<(u8, u8)>(), 0..30);
        (
            prop::collection::vec((any_at(1), any_node()), 0..14),
            roots,
            prop::option::of(sensitive),
            prop::collection::vec(any_written(), 0..3),
            prop::collection::vec(any_written(), 0..3),
            protected,
            git,
            prop::collection::vec((any_at(0), any::<bool>()), 0..3),
            moves,
        )
            .prop_map(
                |(
                    tree,
                    roots,
                    sensitive,
                    deny_read,
                    read_only,
                    protected,
                    git,
                    reopened,
                    moves,
                )| Self {
                    tree,
                    roots,
                    sensitive,
                    deny_read,
                    read_only,
                    protected,
                    git,
                    reopened,
                    moves,
                },
            )
    }

    /// Makes the tree; what does not fit is left out.
    pub(super) fn plant(&self, stage: &Stage) {
        let writable = self.reopened.iter().filter(|(_, write)| *write);
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
                Node::Link(target) => symlink(target.path(stage), &path),
                Node::RelativeLink(target) => symlink(target, &path),
            };
        }
    }

    pub(super) fn policy(&self, stage: &Stage) -> CanonicalSandboxPolicy {
        let specs = |written: &[Written]| -> Vec<PathSpec> {
            written.iter().map(|written| written.spec(stage)).collect()
        };
        let rules = PathRules::default()
            .with_protected(
                self.protected
                    .iter()
                    .map(|name| RelativePath::new(name).unwrap()),
            )
            .with_deny_read(specs(&self.deny_read))
            .with_read_only(specs(&self.read_only))
            .with_git(self.git)
            .with_reopened(self.reopened.iter().map(|(at, write)| {
                let path = at.absolute(stage);
                if *write {
                    Reopened::write(path)
                } else {
                    Reopened::read(path)
                }
            }));
        let roots = self.roots.as_ref().map(|roots| {
            roots
                .iter()
                .map(|root| WorkspaceRoot::new(root.path(stage)).unwrap())
                .collect::<Vec<_>>()
        });
        let policy = match (roots, &self.sensitive) {
            (None, _) => CanonicalSandboxPolicy::read_only(),
            (Some(roots), None) => CanonicalSandboxPolicy::workspace_write(roots),
            (Some(roots), Some(sensitive)) => {
                let sensitive = sensitive.iter().map(|(path, read, write)| {
                    let mut entry = SensitivePath::blocking(path.spec(stage));
                    (entry.block_read, entry.block_write) = (*read, *write);
                    entry
                });
                CanonicalSandboxPolicy::workspace_write_with_sensitive_paths(roots, sensitive)
            }
        };
        policy.with_paths(rules)
    }

    /// Paths that the policy names, whether or not they exist.
    pub(super) fn named(&self, stage: &Stage) -> Vec<PathBuf> {
        let written = self.deny_read.iter().chain(&self.read_only);
        let sensitive = self.sensitive.iter().flatten();
        let ats = written
            .chain(sensitive.map(|(written, ..)| written))
            .filter_map(|written| match written {
                Written::At(at) => Some(at.path(stage)),
                Written::Text(_) | Written::Outside(_) => None,
            });
        let protected = self.protected.iter();
        let protected = protected.map(|name| stage.workspace.join(name));
        let granted = self.reopened.iter().map(|(at, _)| at.path(stage));
        ats.chain(protected)
            .chain(granted)
            .chain([stage.workspace.join(".env"), stage.workspace.join("a/.env")])
            .collect()
    }
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
    ]
}

/// Every entry of a tree with what it is, links not followed, in order.
pub(super) fn entries(top: &Path) -> Vec<PathBuf> {
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
