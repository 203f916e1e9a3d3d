//! What guards a workspace, as data that can be compared and kept in a file.

use std::path::{Path, PathBuf};

use palisade_policy::{AbsolutePath, GitAccess, GuardOrigin, PathMatcher, ResolvedPolicy};
use serde::{Deserialize, Serialize};

/// The writable roots of a run, and what guards them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Guards {
    roots: Vec<Root>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Root {
    path: Bytes,
    /// How well the history is guarded: 0 not at all, 1 by an import, 2 fully.
    git: u8,
    clauses: Vec<Clause>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Clause {
    kind: Kind,
    /// The path; for a pattern, the directory that it is below, which may be all.
    place: Bytes,
    /// The pattern, if it is one.
    pattern: Option<String>,
}

/// In the order of their strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Kind {
    Protected,
    Denied,
}

/// A path, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn of(path: &Path) -> Self {
        Self(path.as_os_str().as_encoded_bytes().to_vec())
    }

    /// Whether the other path is this one or below it.
    fn covers(&self, other: &Self) -> bool {
        let rest = other.0.strip_prefix(self.0.as_slice());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || self.0.ends_with(b"/"))
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.covers(other) || other.covers(self)
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

/// What another run guards and this one would not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Missing {
    pub(super) root: PathBuf,
    pub(super) clause: String,
}

impl Guards {
    pub(super) fn of(policy: &ResolvedPolicy) -> Self {
        let Some((rules, _)) = policy.canonical().rules() else {
            return Self::default();
        };
        let git = match rules.git {
            GitAccess::ReadOnly => 2,
            GitAccess::Commit => 1,
            _ => 0,
        };
        let denied = policy
            .guards()
            .iter()
            .filter(|guard| guard.origin == GuardOrigin::DenyRead)
            .map(|guard| (Kind::Denied, &guard.matcher));
        let read_only = policy
            .read_only()
            .iter()
            .map(|matcher| (Kind::Protected, matcher));
        let anywhere: Vec<Clause> = denied
            .chain(read_only)
            .map(|(kind, matcher)| Clause::of(kind, matcher))
            .collect();
        // Not from the list of guards, which has entries for what grants open inside of a root as well.
        let root = |root: &AbsolutePath| {
            let own = rules
                .protected
                .iter()
                .filter(|below| below.as_path() != Path::new(".git"))
                .map(|below| Clause {
                    kind: Kind::Protected,
                    place: Bytes::of(root.join(below).as_path()),
                    pattern: None,
                });
            let path = Bytes::of(root.as_path());
            let mut clauses: Vec<Clause> = anywhere
                .iter()
                .filter(|clause| clause.place.overlaps(&path))
                .cloned()
                .chain(own)
                .collect();
            clauses.sort();
            clauses.dedup();
            Root { path, git, clauses }
        };
        Self {
            roots: policy
                .roots()
                .iter()
                .map(|known| root(&known.root))
                .collect(),
        }
    }

    #[cfg(unix)]
    pub(super) const fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// The first root, which names the file.
    #[cfg(unix)]
    pub(super) fn first_root(&self) -> &[u8] {
        self.roots.first().map_or(&[], |root| &root.path.0)
    }

    /// What the other run guards, where both can write, and this one does not.
    pub(super) fn missing(&self, other: &Self) -> Option<Missing> {
        self.roots
            .iter()
            .flat_map(|own| other.roots.iter().map(move |theirs| (own, theirs)))
            .filter(|(own, theirs)| own.path.overlaps(&theirs.path))
            .find_map(|(own, theirs)| {
                own.missing(theirs).map(|clause| Missing {
                    root: PathBuf::from(theirs.path.text()),
                    clause,
                })
            })
    }
}

impl Root {
    fn missing(&self, other: &Self) -> Option<String> {
        // Of two that hold one another, only the inner one is written by both.
        let both = if self.path.covers(&other.path) {
            &other.path
        } else {
            &self.path
        };
        if self.git < other.git {
            return Some(match other.git {
                2 => "git's directory read-only".to_owned(),
                _ => "git's directory private and imported".to_owned(),
            });
        }
        other
            .clauses
            .iter()
            .filter(|theirs| theirs.place.overlaps(both))
            .find(|theirs| !self.clauses.iter().any(|own| own.implies(theirs)))
            .map(Clause::text)
    }
}

impl Clause {
    fn of(kind: Kind, matcher: &PathMatcher) -> Self {
        let place = matcher.base().map_or(Path::new("/"), AbsolutePath::as_path);
        Self {
            kind,
            place: Bytes::of(place),
            pattern: matcher.is_glob().then(|| matcher.to_string()),
        }
    }

    fn implies(&self, other: &Self) -> bool {
        let place = match &self.pattern {
            None => self.place.covers(&other.place),
            Some(_) => self.place == other.place && self.pattern == other.pattern,
        };
        place && self.kind >= other.kind
    }

    fn text(&self) -> String {
        let what = self.pattern.clone().unwrap_or_else(|| self.place.text());
        match self.kind {
            Kind::Protected => format!("{what} protected"),
            Kind::Denied => format!("{what} denied"),
        }
    }
}
