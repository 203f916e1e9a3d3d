//! A list of entries: where an entry of ours goes, and how exactly that one goes again.

use super::ace::{Ace, AceFlags, AceKind};
use super::bytes::{HEADER, OtherAce};
use super::{AclError, Rights};
use crate::sid::Sid;

/// The entries of an access list, in the order in which they are checked.
///
/// Windows wants the explicit entries before the inherited ones, and of the explicit ones those that deny first. Lists
/// in another order exist; their entries are left where they are, and ours go where they are seen first.
///
/// ```
/// use palisade_windows_token::Sid;
/// use palisade_windows_token::acl::{Ace, AceKind, Acl, Inserted, Rights};
///
/// let capability = Sid::capability([1, 2, 3, 4]);
/// let before: Acl = [Ace::new(AceKind::Allow, Rights::FILE_READ, Sid::everyone())].into_iter().collect();
///
/// let mut list = before.clone();
/// let ours = Ace::new(AceKind::Deny, Rights::CHANGES, capability);
/// assert_eq!(list.insert(ours.clone())?, Inserted::Added);
/// assert_eq!(list.insert(ours.clone())?, Inserted::AlreadyThere);
/// assert!(list.remove(&ours));
/// assert_eq!(list, before);
/// # Ok::<(), palisade_windows_token::acl::AclError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acl {
    pub(super) revision: Revision,
    pub(super) entries: Vec<AclEntry>,
}

/// Which entries a list may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "lists of other revisions are refused"
)]
pub enum Revision {
    /// Revision 2, as on files.
    #[default]
    Two,
    /// Revision 4, which may hold entries for parts of an object.
    Four,
}

/// One place in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "an entry is understood or kept as it is"
)]
pub enum AclEntry {
    /// An entry that allows or denies.
    Known(Ace),
    /// Anything else, byte for byte.
    Other(OtherAce),
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it was there or it was not")]
pub enum Inserted {
    /// It is there now.
    Added,
    /// Exactly that entry was there before, where it counts: whoever removes it later takes it from somebody.
    AlreadyThere,
}

impl AclEntry {
    /// Who inherits it, and whether it was inherited.
    #[must_use]
    pub const fn flags(&self) -> AceFlags {
        match self {
            Self::Known(ace) => ace.flags,
            Self::Other(other) => other.flags(),
        }
    }

    /// Whether it came from above.
    #[must_use]
    pub const fn is_inherited(&self) -> bool {
        self.flags().contains(AceFlags::INHERITED)
    }

    /// The bytes it takes.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Known(ace) => ace.size(),
            Self::Other(other) => other.as_bytes().len(),
        }
    }

    fn is_explicit(&self, kind: AceKind) -> bool {
        !self.is_inherited()
            && match self {
                Self::Known(ace) => ace.kind == kind,
                Self::Other(other) => other.kind() == Some(kind),
            }
    }
}

impl Acl {
    /// What Windows allows: the size is kept in sixteen bits, and everything is a multiple of four.
    pub const MAX_BYTES: usize = 0xFFFC;

    /// A list of one revision with nothing in it: nobody may do anything.
    #[must_use]
    pub const fn empty(revision: Revision) -> Self {
        Self {
            revision,
            entries: Vec::new(),
        }
    }

    /// The entries, in order.
    #[must_use]
    pub fn entries(&self) -> &[AclEntry] {
        &self.entries
    }

    /// The entries that allow or deny, in order; others are left out.
    pub fn aces(&self) -> impl DoubleEndedIterator<Item = &Ace> {
        self.entries.iter().filter_map(|entry| match entry {
            AclEntry::Known(ace) => Some(ace),
            AclEntry::Other(_) => None,
        })
    }

    /// Which entries it may hold.
    #[must_use]
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// Whether the explicit entries come before the inherited ones, and of the explicit ones those that deny first.
    #[must_use]
    pub fn is_canonical(&self) -> bool {
        let rank = |entry: &AclEntry| match entry {
            entry if entry.is_inherited() => 2,
            entry if entry.is_explicit(AceKind::Deny) => 0,
            _ => 1,
        };
        self.entries.is_sorted_by_key(rank)
    }

    /// The bytes it takes.
    #[must_use]
    pub fn size(&self) -> usize {
        HEADER + self.entries.iter().map(AclEntry::size).sum::<usize>()
    }

    /// Puts an entry where it counts: one that denies before everything that allows, one that allows before everything
    /// that is inherited. Exactly the same entry is not added twice.
    ///
    /// # Errors
    /// The entry claims to be inherited, or the list would become too large. It is unchanged then.
    pub fn insert(&mut self, ace: Ace) -> Result<Inserted, AclError> {
        if ace.flags.contains(AceFlags::INHERITED) {
            return Err(AclError::Inherited);
        }
        let range = self.home_of(ace.kind);
        let at = range.end;
        let wanted = AclEntry::Known(ace);
        let there = self
            .entries
            .get(range)
            .is_some_and(|entries| entries.contains(&wanted));
        if there {
            return Ok(Inserted::AlreadyThere);
        }
        let size = self.size() + wanted.size();
        if size > Self::MAX_BYTES {
            return Err(AclError::TooLarge { size });
        }
        self.entries.insert(at, wanted);
        Ok(Inserted::Added)
    }

    /// Inserts all of them or none, and says which were not there before: what the journal calls ours.
    ///
    /// # Errors
    /// As [`insert`](Self::insert); the list is unchanged then.
    pub fn insert_all<'a>(
        &mut self,
        aces: impl IntoIterator<Item = &'a Ace>,
    ) -> Result<Vec<Ace>, AclError> {
        let mut changed = self.clone();
        let mut added = Vec::new();
        for ace in aces {
            if changed.insert(ace.clone())? == Inserted::Added {
                added.push(ace.clone());
            }
        }
        *self = changed;
        Ok(added)
    }

    /// Removes one entry that is exactly this one, and says whether there was one. An entry with another mask, other flags
    /// or one that came from above is another entry.
    pub fn remove(&mut self, ace: &Ace) -> bool {
        let found = self
            .entries
            .iter()
            .position(|entry| matches!(entry, AclEntry::Known(known) if known == ace));
        match found {
            Some(at) => {
                self.entries.remove(at);
                true
            }
            None => false,
        }
    }

    /// Removes one entry for each of these, and says which were still there.
    pub fn remove_all<'a>(&mut self, aces: impl IntoIterator<Item = &'a Ace>) -> Vec<Ace> {
        aces.into_iter()
            .filter(|ace| self.remove(ace))
            .cloned()
            .collect()
    }

    /// Whether any entry speaks of somebody.
    #[must_use]
    pub fn mentions(&self, sid: &Sid) -> bool {
        self.aces().any(|ace| ace.sid == *sid)
    }

    /// Everything that an explicit or inherited entry grants to somebody, before what is denied is taken away: more than
    /// he really has, never less.
    #[must_use]
    pub fn granted_at_most(&self, sid: &Sid) -> Rights {
        self.aces()
            .filter(|ace| ace.kind == AceKind::Allow && ace.sid == *sid)
            .fold(Rights::NONE, |all, ace| all | ace.rights)
    }

    /// Whether an entry of the object itself allows a change to any of these, whatever is inherited: what an object says
    /// itself is read first. Of a list that inherits nothing (`protected`) every entry is its own. An entry that is not
    /// understood may be such a one.
    #[must_use]
    pub fn opens_by_itself(&self, protected: bool, to: &[Sid]) -> bool {
        let changes = Rights::CHANGES | Rights::GENERIC_WRITE | Rights::GENERIC_ALL;
        self.entries
            .iter()
            .filter(|entry| protected || !entry.is_inherited())
            .any(|entry| match entry {
                AclEntry::Known(ace) => {
                    ace.kind == AceKind::Allow
                        && ace.rights.intersects(changes)
                        && to.contains(&ace.sid)
                }
                AclEntry::Other(other) => other.kind() == Some(AceKind::Allow),
            })
    }

    /// Where entries of a kind belong: the first run of explicit ones, so that a list in any order sees ours in time.
    fn home_of(&self, kind: AceKind) -> std::ops::Range<usize> {
        let run = |from: usize, kind| {
            self.entries
                .iter()
                .skip(from)
                .take_while(|entry| entry.is_explicit(kind))
                .count()
        };
        let denies = run(0, AceKind::Deny);
        match kind {
            AceKind::Deny => 0..denies,
            AceKind::Allow => denies..denies + run(denies, AceKind::Allow),
        }
    }
}

impl FromIterator<Ace> for Acl {
    /// A list of exactly these, in this order.
    fn from_iter<I: IntoIterator<Item = Ace>>(aces: I) -> Self {
        Self {
            revision: Revision::Two,
            entries: aces.into_iter().map(AclEntry::Known).collect(),
        }
    }
}

impl FromIterator<AclEntry> for Acl {
    /// A list of exactly these, in this order; of the revision that may hold anything.
    fn from_iter<I: IntoIterator<Item = AclEntry>>(entries: I) -> Self {
        Self {
            revision: Revision::Four,
            entries: entries.into_iter().collect(),
        }
    }
}
