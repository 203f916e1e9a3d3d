//! An emulated file system, as strict and as loose about names as Apple's, and what a survey of it would say.

use std::collections::BTreeMap;

use palisade_policy::{AbsolutePath, PathCase};
use palisade_seatbelt::host::{Entry, Located};
use palisade_seatbelt::model::SystemCall;

pub(crate) fn abs(path: &str) -> AbsolutePath {
    AbsolutePath::new(path).unwrap()
}

/// The names of a path.
pub(crate) fn names(path: &AbsolutePath) -> Vec<String> {
    let text = path.as_path().to_str().unwrap();
    text.split('/')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

fn join(names: &[String]) -> AbsolutePath {
    abs(&format!("/{}", names.join("/")))
}

/// Which entry of the disk this is, whatever its name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Inode(usize);

#[derive(Clone, Debug)]
struct Node {
    kind: Kind,
    /// The entry whose content this is: its own, or that of the one it was cloned from.
    content: Inode,
}

#[derive(Clone, Debug)]
enum Kind {
    /// By folded name: the name as it is spelled, and the entry.
    Directory(BTreeMap<String, (String, Inode)>),
    File,
    Socket,
}

/// A tree of entries.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    case: PathCase,
    nodes: Vec<Node>,
}

const TOP: Inode = Inode(0);

impl Disk {
    pub(crate) fn new(case: PathCase) -> Self {
        let mut disk = Self {
            case,
            nodes: Vec::new(),
        };
        disk.add(Kind::Directory(BTreeMap::new()));
        disk
    }

    /// A developer's machine with a workspace.
    pub(crate) fn sample(case: PathCase) -> Self {
        let mut disk = Self::new(case);
        for directory in [
            "/Users/dev/.aws",
            "/Users/dev/.config",
            "/Users/dev/.ssh",
            "/private/tmp",
            "/private/var/folders/x/session",
            "/srv/app/.git/hooks",
            "/srv/app/src",
            "/srv/other",
            "/dev",
        ] {
            disk.make_directory(&abs(directory));
        }
        for file in [
            "/Users/dev/.ssh/id_ed25519",
            "/Users/dev/.zshrc",
            "/srv/app/.git/config",
            "/srv/app/src/main.rs",
            "/srv/app/.env",
            "/dev/null",
        ] {
            disk.make_file(&abs(file));
        }
        disk
    }

    fn add(&mut self, kind: Kind) -> Inode {
        let inode = Inode(self.nodes.len());
        self.nodes.push(Node {
            kind,
            content: inode,
        });
        inode
    }

    fn children(&self, inode: Inode) -> Option<&BTreeMap<String, (String, Inode)>> {
        match &self.nodes[inode.0].kind {
            Kind::Directory(children) => Some(children),
            Kind::File | Kind::Socket => None,
        }
    }

    fn children_mut(&mut self, inode: Inode) -> &mut BTreeMap<String, (String, Inode)> {
        match &mut self.nodes[inode.0].kind {
            Kind::Directory(children) => children,
            Kind::File | Kind::Socket => panic!("not a directory"),
        }
    }

    /// Whose content an entry has.
    pub(crate) fn content(&self, inode: Inode) -> Inode {
        self.nodes[inode.0].content
    }

    /// How far a path exists: the entries on its way and their true names.
    fn walk(&self, path: &AbsolutePath) -> (Vec<String>, Inode, Vec<String>) {
        let mut spelled = Vec::new();
        let mut at = TOP;
        let mut rest = names(path);
        while let Some(name) = rest.first() {
            let child = self
                .children(at)
                .and_then(|children| children.get(&fold(name, self.case)));
            let Some((true_name, inode)) = child else {
                break;
            };
            spelled.push(true_name.clone());
            at = *inode;
            rest.remove(0);
        }
        (spelled, at, rest)
    }

    pub(crate) fn lookup(&self, path: &AbsolutePath) -> Option<Inode> {
        let (_, inode, rest) = self.walk(path);
        rest.is_empty().then_some(inode)
    }

    pub(crate) fn exists(&self, path: &AbsolutePath) -> bool {
        self.lookup(path).is_some()
    }

    pub(crate) fn is_directory(&self, path: &AbsolutePath) -> bool {
        self.lookup(path)
            .is_some_and(|inode| self.children(inode).is_some())
    }

    /// What a survey says about a path.
    pub(crate) fn locate(&self, path: &AbsolutePath) -> Located {
        let (spelled, inode, rest) = self.walk(path);
        let existing = join(&spelled);
        match (rest.is_empty(), self.children(inode)) {
            (false, _) => Located::missing(existing, rest),
            (true, Some(_)) => Located::new(existing, Entry::Directory),
            (true, None) => Located::new(existing, Entry::Other),
        }
    }

    /// The path that the kernel asks about: what exists is spelled as it is, a new name as the caller spells it. `None`
    /// where there is no directory for the name.
    pub(crate) fn kernel_path(&self, path: &AbsolutePath) -> Option<AbsolutePath> {
        let (mut spelled, inode, rest) = self.walk(path);
        match rest.as_slice() {
            [] => {}
            [new] if self.children(inode).is_some() => spelled.push(new.clone()),
            _ => return None,
        }
        Some(join(&spelled))
    }

    pub(crate) fn make_directory(&mut self, path: &AbsolutePath) {
        let (_, mut at, rest) = self.walk(path);
        for name in rest {
            if self.children(at).is_none() {
                return;
            }
            let new = self.add(Kind::Directory(BTreeMap::new()));
            let key = fold(&name, self.case);
            self.children_mut(at).insert(key, (name, new));
            at = new;
        }
    }

    pub(crate) fn make_file(&mut self, path: &AbsolutePath) {
        self.make_leaf(path, Kind::File);
    }

    pub(crate) fn make_socket(&mut self, path: &AbsolutePath) {
        self.make_leaf(path, Kind::Socket);
    }

    fn make_leaf(&mut self, path: &AbsolutePath, kind: Kind) {
        if let Some(above) = path.parent() {
            self.make_directory(&above);
            if self.is_directory(&above) && !self.exists(path) {
                let new = self.add(kind);
                self.enter(path, new);
            }
        }
    }

    /// Gives an entry a name in a directory that exists.
    fn enter(&mut self, path: &AbsolutePath, inode: Inode) {
        let above = self.lookup(&path.parent().unwrap()).unwrap();
        let name = names(path).pop().unwrap();
        let key = fold(&name, self.case);
        self.children_mut(above).insert(key, (name, inode));
    }

    fn remove(&mut self, path: &AbsolutePath) {
        let above = self.lookup(&path.parent().unwrap()).unwrap();
        let key = fold(&names(path).pop().unwrap(), self.case);
        self.children_mut(above).remove(&key);
    }

    fn is_empty(&self, inode: Inode) -> bool {
        self.children(inode).is_none_or(BTreeMap::is_empty)
    }

    /// Every path of the disk, with its entry.
    pub(crate) fn paths(&self) -> Vec<(AbsolutePath, Inode)> {
        let mut found = vec![(abs("/"), TOP)];
        let mut at = 0;
        while let Some((path, inode)) = found.get(at).cloned() {
            for (name, child) in self.children(inode).into_iter().flat_map(BTreeMap::values) {
                let mut below = names(&path);
                below.push(name.clone());
                found.push((join(&below), *child));
            }
            at += 1;
        }
        found
    }

    /// Whether one entry is the other, or below it.
    fn holds(&self, outer: Inode, inner: Inode) -> bool {
        outer == inner
            || self.children(outer).is_some_and(|children| {
                children
                    .values()
                    .any(|(_, child)| self.holds(*child, inner))
            })
    }

    fn copy(&mut self, inode: Inode) -> Inode {
        let Node { kind, content } = self.nodes[inode.0].clone();
        let kind = match kind {
            Kind::Directory(children) => Kind::Directory(
                children
                    .into_iter()
                    .map(|(key, (name, child))| (key, (name, self.copy(child))))
                    .collect(),
            ),
            leaf => leaf,
        };
        let new = self.add(kind);
        self.nodes[new.0].content = content;
        new
    }

    /// The call as the kernel sees it, if the file system would do it: the paths resolved, what is replaced known.
    pub(crate) fn kernel_call(&self, call: &SystemCall) -> Option<SystemCall> {
        let there = |path: &AbsolutePath| self.kernel_path(path).filter(|path| self.exists(path));
        let free = |path: &AbsolutePath| self.kernel_path(path).filter(|path| !self.exists(path));
        let leaf = |path: &AbsolutePath| there(path).filter(|path| !self.is_directory(path));
        Some(match call {
            SystemCall::Create(path) => SystemCall::Create(free(path)?),
            SystemCall::MakeDirectory(path) => SystemCall::MakeDirectory(free(path)?),
            SystemCall::Unlink(path) => SystemCall::Unlink(leaf(path)?),
            SystemCall::RemoveDirectory(path) => {
                let path = there(path)?;
                let inode = self.lookup(&path)?;
                let gone = self.is_directory(&path) && self.is_empty(inode) && inode != TOP;
                gone.then_some(SystemCall::RemoveDirectory(path))?
            }
            SystemCall::Rename { from, to, .. } => {
                let from = there(from)?;
                let to = self.renamed_to(&from, to)?;
                let replaces = self.exists(&to);
                SystemCall::Rename { from, to, replaces }
            }
            SystemCall::Swap { one, other } => {
                let (one, other) = (there(one)?, there(other)?);
                let (a, b) = (self.lookup(&one)?, self.lookup(&other)?);
                if self.holds(a, b) || self.holds(b, a) {
                    return None;
                }
                SystemCall::Swap { one, other }
            }
            SystemCall::Link { existing, new } => SystemCall::Link {
                existing: leaf(existing)?,
                new: free(new)?,
            },
            SystemCall::Clone { existing, new } => {
                let (existing, new) = (there(existing)?, free(new)?);
                if existing.covers(&new, PathCase::Sensitive) {
                    return None;
                }
                SystemCall::Clone { existing, new }
            }
            _ => return None,
        })
    }

    /// Where a rename leads, if it can be done.
    fn renamed_to(&self, from: &AbsolutePath, to: &AbsolutePath) -> Option<AbsolutePath> {
        let moved = self.lookup(from)?;
        let resolved = self.kernel_path(to)?;
        if from.is_file_system_root() || resolved.is_file_system_root() {
            return None;
        }
        let above = self.lookup(&resolved.parent()?)?;
        if self.holds(moved, above) {
            return None;
        }
        match self.lookup(&resolved) {
            None => Some(resolved),
            // Only the spelling changes, to that of the caller.
            Some(same) if same == moved => {
                let mut spelled = names(&resolved);
                *spelled.last_mut()? = names(to).pop()?;
                Some(join(&spelled))
            }
            Some(replaced) => {
                let directories = (
                    self.children(moved).is_some(),
                    self.children(replaced).is_some(),
                );
                let fits = matches!(directories, (false, false) | (true, true));
                (fits && self.is_empty(replaced)).then_some(resolved)
            }
        }
    }

    /// Does what [`kernel_call`](Self::kernel_call) says can be done.
    pub(crate) fn apply(&mut self, call: &SystemCall) {
        match call {
            SystemCall::Create(path) => self.make_file(path),
            SystemCall::MakeDirectory(path) => self.make_directory(path),
            SystemCall::Unlink(path) | SystemCall::RemoveDirectory(path) => self.remove(path),
            SystemCall::Rename { from, to, .. } => {
                let moved = self.lookup(from).unwrap();
                self.remove(from);
                self.enter(to, moved);
            }
            SystemCall::Swap { one, other } => {
                let (a, b) = (self.lookup(one).unwrap(), self.lookup(other).unwrap());
                self.enter(one, b);
                self.enter(other, a);
            }
            SystemCall::Link { existing, new } => {
                let inode = self.lookup(existing).unwrap();
                self.enter(new, inode);
            }
            SystemCall::Clone { existing, new } => {
                let copy = self.copy(self.lookup(existing).unwrap());
                self.enter(new, copy);
            }
            other => panic!("{other:?} changes no entry"),
        }
    }
}

/// What a name is compared as: accents beside their letters, signs that stand for letters in their place, and small
/// letters where case does not count. A sample of what Unicode says, not all of it.
pub(crate) fn fold(name: &str, case: PathCase) -> String {
    let mut folded = String::new();
    for c in name.chars() {
        match c {
            'é' => folded.push_str("e\u{301}"),
            'É' => folded.push_str("E\u{301}"),
            '\u{212a}' => folded.push('K'),
            '\u{37e}' => folded.push(';'),
            'ß' | 'ẞ' if case == PathCase::Insensitive => folded.push_str("ss"),
            'ſ' if case == PathCase::Insensitive => folded.push('s'),
            c => folded.push(c),
        }
    }
    match case {
        PathCase::Sensitive => folded,
        PathCase::Insensitive => folded.to_lowercase(),
    }
}
