//! What an import did and did not do, for people and for programs.

use std::fmt;

/// What an import did and did not do.
///
/// Every name in here is escaped: a session chooses them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportReport {
    /// Objects that the host did not have.
    pub objects: u64,
    /// Refs that were made, moved or deleted.
    pub refs: Vec<RefChange>,
    /// What HEAD says now, if it changed.
    pub head: Option<String>,
    /// Paths of the index that were changed.
    pub index_paths: usize,
    /// What the host had changed meanwhile, and therefore kept.
    pub conflicts: Vec<Conflict>,
    /// What differs in the session and did not come back.
    pub dropped: Vec<Dropped>,
    /// How many more were dropped than are listed.
    pub dropped_unlisted: usize,
}

/// A ref that changed on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefChange {
    /// Its name.
    pub name: String,
    /// What it was; `None` if it is new.
    pub old: Option<String>,
    /// What it is; `None` if it was deleted.
    pub new: Option<String>,
}

/// Something that the host had changed since the session began.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// A ref, `HEAD`, or `index:` and a path.
    pub what: String,
    /// What both had in the beginning.
    pub expected: Option<String>,
    /// What the host has.
    pub found: Option<String>,
    /// What the session has.
    pub offered: Option<String>,
}

/// Something that did not come back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// Where in the git directory, or which ref.
    pub path: String,
    /// Why.
    pub why: DropReason,
}

/// Why something did not come back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DropReason {
    /// git would run it, or would be told by it what to run or where to write.
    Steers,
    /// It belongs to an operation that has not ended: a rebase, a merge, a bisection.
    Unfinished,
    /// It is not a regular file.
    NotRegular,
    /// Its name is not one that a session may choose.
    Name,
    /// Its content is not what it should be.
    Malformed,
    /// It is over a limit.
    TooLarge,
    /// Refs of this kind do not come back.
    RefKind,
    /// An object is missing, broken or of the wrong type.
    Objects,
    /// The branch is in use by a work tree.
    InUse,
    /// The session removed it, and removals of this kind do not come back.
    Removed,
    /// It belongs to something that was refused.
    Follows,
    /// A note or a cache of git's, which it makes anew.
    Scratch,
    /// It is a lock that was left behind.
    Lock,
    /// git, or the system, refused, and said this.
    Refused(String),
    /// Nothing says that it is safe.
    Unknown,
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Steers => "would steer the host's git",
            Self::Unfinished => "belongs to an operation that has not ended",
            Self::NotRegular => "not a regular file",
            Self::Name => "not a name that a session may choose",
            Self::Malformed => "malformed",
            Self::TooLarge => "over the limit",
            Self::RefKind => "refs of this kind stay in the session",
            Self::Objects => "an object is missing, broken or of the wrong type",
            Self::InUse => "the branch is in use by a work tree",
            Self::Removed => "its removal stays in the session",
            Self::Follows => "belongs to something that was refused",
            Self::Scratch => "a note or cache that git makes anew",
            Self::Lock => "a lock that was left behind",
            Self::Refused(message) => return write!(f, "refused: {message}"),
            Self::Unknown => "not on the list of what comes back",
        })
    }
}

/// How many dropped things are listed.
const MAX_DROPPED: usize = 500;

impl ImportReport {
    /// Whether nothing changed, and nothing was refused but notes and caches.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.refs.is_empty()
            && self.head.is_none()
            && self.index_paths == 0
            && self.conflicts.is_empty()
            && self.notable().next().is_none()
    }

    /// What was dropped, without git's own notes and caches.
    pub fn notable(&self) -> impl Iterator<Item = &Dropped> {
        self.dropped
            .iter()
            .filter(|dropped| dropped.why != DropReason::Scratch)
    }

    pub(super) fn drop(&mut self, path: &[u8], why: DropReason) {
        if self.dropped.len() >= MAX_DROPPED {
            self.dropped_unlisted = self.dropped_unlisted.saturating_add(1);
            return;
        }
        self.dropped.push(Dropped {
            path: super::names::escaped(path),
            why,
        });
    }

    pub(super) fn conflict(
        &mut self,
        what: &str,
        expected: Option<String>,
        found: Option<String>,
        offered: Option<String>,
    ) {
        self.conflicts.push(Conflict {
            what: super::names::escaped(what.as_bytes()),
            expected,
            found,
            offered,
        });
    }
}

impl fmt::Display for ImportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_nothing =
            |value: &Option<String>| value.as_deref().map_or_else(|| "nothing".to_owned(), short);
        for change in &self.refs {
            let (old, new) = (or_nothing(&change.old), or_nothing(&change.new));
            writeln!(f, "imported {}: {old} -> {new}", change.name)?;
        }
        if let Some(head) = &self.head {
            writeln!(f, "imported HEAD: {head}")?;
        }
        if self.index_paths > 0 {
            writeln!(f, "imported index: {} paths", self.index_paths)?;
        }
        for conflict in &self.conflicts {
            writeln!(
                f,
                "kept {}: the host changed it from {} to {}, the session to {}",
                conflict.what,
                or_nothing(&conflict.expected),
                or_nothing(&conflict.found),
                or_nothing(&conflict.offered),
            )?;
        }
        for dropped in self.notable() {
            writeln!(f, "dropped {}: {}", dropped.path, dropped.why)?;
        }
        if self.dropped_unlisted > 0 {
            writeln!(f, "dropped {} more", self.dropped_unlisted)?;
        }
        Ok(())
    }
}

/// An object id as people read it; anything else as it is.
fn short(value: &str) -> String {
    if value.len() >= 40 && super::names::is_hex(value.as_bytes()) {
        value.chars().take(12).collect()
    } else {
        value.to_owned()
    }
}
