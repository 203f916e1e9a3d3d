//! An emulated file system, and what a survey of it would say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use palisade_linux_landlock::host::{
    Entry, Expansion, GitDirs, LandlockSupport, Located, NamespaceSupport, SocketDir,
};
use palisade_linux_landlock::seccomp::Arch;
use palisade_linux_landlock::{LinuxHost, Tier};
use palisade_policy::{AbsolutePath, Access, PathCase, ResolvedPolicy};

pub(crate) fn abs(path: impl AsRef<Path>) -> AbsolutePath {
    AbsolutePath::new(path).unwrap()
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Directory,
    File,
    Link(PathBuf),
    Socket,
}

/// A tree of files; directories above a node are made with it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    nodes: BTreeMap<PathBuf, Node>,
    caches: Vec<AbsolutePath>,
    git: Vec<(AbsolutePath, GitDirs)>,
}

impl Files {
    /// A developer's machine with a workspace.
    pub(crate) fn sample() -> Self {
        let mut files = Self::default();
        for directory in [
            "/dev/shm",
            "/etc",
            "/home/dev/.aws",
            "/home/dev/.cache",
            "/home/dev/.cargo",
            "/home/dev/.config",
            "/home/dev/.ssh",
            "/run/user/1000",
            "/srv/app/.git/objects",
            "/srv/app/.vscode",
            "/srv/app/src",
            "/srv/other",
            "/tmp",
            "/usr/bin",
        ] {
            files.add(directory, Node::Directory);
        }
        for file in [
            "/etc/shadow",
            "/etc/passwd",
            "/home/dev/.bash_history",
            "/home/dev/.cargo/credentials.toml",
            "/home/dev/.profile",
            "/srv/app/.env",
            "/srv/app/src/main.rs",
            "/srv/app/src/.env",
        ] {
            files.add(file, Node::File);
        }
        files.add("/run/docker.sock", Node::Socket);
        files.add("/var/lib/app/app.sock", Node::Socket);
        files.caches = vec![abs("/home/dev/.cache"), abs("/home/dev/.cargo")];
        files.with_git("/srv/app", "/srv/app/.git", "/srv/app/.git")
    }

    pub(crate) fn add(&mut self, path: impl AsRef<Path>, node: Node) {
        let path = path.as_ref();
        for above in path.ancestors().skip(1) {
            self.nodes
                .entry(above.to_path_buf())
                .or_insert(Node::Directory);
        }
        self.nodes.insert(path.to_path_buf(), node);
    }

    pub(crate) fn remove(&mut self, path: &str) {
        self.nodes.retain(|known, _| !known.starts_with(path));
    }

    pub(crate) fn with_git(mut self, root: &str, git_dir: &str, common_dir: &str) -> Self {
        self.git
            .push((abs(root), GitDirs::new(abs(git_dir), abs(common_dir))));
        self
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = AbsolutePath> {
        self.nodes.keys().map(abs)
    }

    pub(crate) fn exists(&self, path: &AbsolutePath) -> bool {
        self.nodes.contains_key(path.as_path())
    }

    pub(crate) fn is_file(&self, path: &Path) -> bool {
        matches!(self.nodes.get(path), Some(Node::File | Node::Socket))
    }

    /// Whether something can be made at a path: nothing is there, and directories are all that is above it.
    pub(crate) fn is_free(&self, path: &Path) -> bool {
        let above = |path: &Path| matches!(self.nodes.get(path), None | Some(Node::Directory));
        !self.nodes.contains_key(path) && path.ancestors().skip(1).all(above)
    }

    /// Where a path leads, and every link on the way.
    pub(crate) fn resolve(&self, path: &AbsolutePath) -> (AbsolutePath, Vec<AbsolutePath>) {
        let mut links = Vec::new();
        let real = self.follow(path.as_path(), &mut links);
        (abs(real), links)
    }

    pub(crate) fn is_socket(&self, path: &AbsolutePath) -> bool {
        self.nodes.get(path.as_path()) == Some(&Node::Socket)
    }

    /// A host with these files of which only the kernel's facts and the caches are known.
    pub(crate) fn kernel(&self, landlock: u32, namespaces: bool) -> LinuxHost {
        let landlock = match landlock {
            0 => LandlockSupport::Missing {
                why: "the kernel was built without it".to_owned(),
            },
            abi => LandlockSupport::Abi(abi),
        };
        let namespaces = if namespaces {
            NamespaceSupport::Works
        } else {
            NamespaceSupport::Refused {
                why: "user.max_user_namespaces is 0".to_owned(),
                cure: Some("set user.max_user_namespaces to 10000".to_owned()),
            }
        };
        let mut host = LinuxHost::new(Arch::X86_64, landlock, namespaces);
        host.places.caches = self.caches.clone();
        host
    }

    /// What a survey for this policy would add.
    pub(crate) fn look(&self, host: &mut LinuxHost, policy: &ResolvedPolicy) {
        let (rules, local) = policy.canonical().rules().unwrap();
        let guards = policy.guards().iter().map(|guard| &guard.matcher);
        let matchers: Vec<_> = guards.chain(policy.read_only()).collect();
        let mut named: Vec<AbsolutePath> =
            matchers.iter().filter_map(|m| m.path().cloned()).collect();
        named.extend(policy.roots().iter().map(|root| root.root.clone()));
        named.extend(rules.reopened.iter().map(|grant| grant.path.clone()));
        named.extend(policy.private().iter().cloned());
        named.extend(policy.context().facts.home.clone());
        named.push(policy.context().cwd.path().clone());
        named.extend(local.unix_paths.iter().cloned());
        named.extend(
            self.git
                .iter()
                .flat_map(|(_, git)| [git.git_dir.clone(), git.common_dir.clone()]),
        );
        for glob in matchers.iter().filter(|matcher| matcher.is_glob()) {
            let matches =
                self.nodes.keys().map(abs).filter(|path| {
                    glob.specificity(path, PathCase::Sensitive) == Some(path.depth())
                });
            let matches: Vec<_> = matches
                .map(|path| {
                    let entry = self.locate(&path).entry;
                    if let Entry::Symlink { .. } = entry {
                        named.push(path.clone());
                    }
                    (path, entry)
                })
                .collect();
            let expansion = Expansion::new(matches, false);
            host.places.globs.insert(glob.to_string(), expansion);
        }
        while let Some(path) = named.pop() {
            let located = self.locate(&path);
            if let Entry::Symlink {
                target: Some(target),
            } = &located.entry
            {
                named.push(target.clone());
            }
            host.places.entries.insert(path, located);
        }
        host.places.git = self.git.iter().cloned().collect();
        let sockets = self.nodes.iter().filter(|(_, node)| **node == Node::Socket);
        host.places.sockets = sockets.map(|(path, _)| abs(path)).collect();
        let mut run = SocketDir::new(abs("/run"));
        run.network_files = vec![abs("/run/resolv.conf")];
        run.links = vec![(abs("/run/current-system"), abs("/nix/system"))];
        host.places.socket_dirs = vec![run];
        if palisade_linux_landlock::tier(host) == Some(Tier::Landlock) {
            self.list(host, policy);
        }
    }

    fn list(&self, host: &mut LinuxHost, policy: &ResolvedPolicy) {
        let denied = self
            .nodes
            .keys()
            .filter(|path| policy.place(&Access::Read(abs(path))).is_none());
        let above: BTreeSet<&Path> = denied
            .flat_map(|path| path.ancestors().skip(1))
            .chain([Path::new("/")])
            .collect();
        for directory in above {
            let children = self.nodes.iter().filter(|(path, node)| {
                path.parent() == Some(directory) && !matches!(node, Node::Link(_))
            });
            let children = children.map(|(path, _)| abs(path)).collect();
            host.places.listings.insert(abs(directory), children);
        }
    }

    /// Where a path is, by following links name by name.
    fn locate(&self, path: &AbsolutePath) -> Located {
        let mut links = Vec::new();
        let Some(name) = path.as_path().file_name() else {
            return Located::new(path.clone(), Entry::Directory);
        };
        let parent = self.follow(path.as_path().parent().unwrap(), &mut links);
        let real = parent.join(name);
        let entry = match self.nodes.get(&real) {
            None => Entry::Missing,
            Some(Node::Directory) => Entry::Directory,
            Some(Node::File) => Entry::File,
            Some(Node::Socket) => Entry::Other,
            Some(Node::Link(_)) => Entry::Symlink {
                target: Some(abs(self.follow(&real, &mut Vec::new()))),
            },
        };
        let missing = real
            .ancestors()
            .skip(1)
            .take_while(|above| !self.nodes.contains_key(*above))
            .count();
        let blocked = real
            .ancestors()
            .skip(1)
            .find(|above| matches!(self.nodes.get(*above), Some(Node::File | Node::Socket)));
        let located = Located::new(abs(&real), entry)
            .through(links)
            .below_missing(missing);
        match blocked {
            Some(file) => located.below_file(abs(file)),
            None => located,
        }
    }

    fn follow(&self, path: &Path, links: &mut Vec<AbsolutePath>) -> PathBuf {
        let mut real = PathBuf::from("/");
        for name in path.components().skip(1) {
            real.push(name);
            if let Some(Node::Link(target)) = self.nodes.get(&real) {
                links.push(abs(&real));
                assert!(links.len() < 20, "a circle");
                real = self.follow(target, links);
            }
        }
        real
    }
}
