//! What the system keeps with an object, and what a new object gets from its directory.
//!
//! The rules of inheritance are those of Microsoft Learn, "ACE Inheritance Rules" and "Automatic Propagation of
//! Inheritable ACEs". CREATOR OWNER is not modelled.

use super::check::mapped;
use crate::acl::{Ace, AceFlags, Dacl, Rights};
use crate::sid::Sid;

/// Who owns an object, and its list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Descriptor {
    /// The owner.
    pub owner: Sid,
    /// The list.
    pub dacl: Dacl,
    /// Whether it inherits nothing (`SE_DACL_PROTECTED`).
    pub protected: bool,
}

/// What an object is, for inheritance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the flags know these two")]
pub enum Kind {
    /// A file.
    File,
    /// A directory.
    Directory,
}

impl Descriptor {
    /// With this list.
    #[must_use]
    pub fn new(owner: Sid, entries: impl IntoIterator<Item = Ace>) -> Self {
        Self {
            owner,
            dacl: Dacl::List(entries.into_iter().collect()),
            protected: false,
        }
    }

    /// Without a list.
    #[must_use]
    pub const fn without_list(owner: Sid) -> Self {
        Self {
            owner,
            dacl: Dacl::Null,
            protected: false,
        }
    }

    /// The same, inheriting nothing.
    #[must_use]
    pub fn protected(self) -> Self {
        Self {
            protected: true,
            ..self
        }
    }

    /// The entries; none if there is no list. Entries that neither allow nor deny are not modelled.
    #[must_use]
    pub fn entries(&self) -> Vec<Ace> {
        self.list().cloned().collect()
    }

    /// The entries, in order.
    pub(crate) fn list(&self) -> impl Iterator<Item = &Ace> {
        let list = match &self.dacl {
            Dacl::Null => None,
            Dacl::List(list) => Some(list),
        };
        list.into_iter().flat_map(|list| list.aces())
    }

    /// What something new in a directory gets. Entries that its maker gives it come first; if there are none and nothing
    /// is inherited, the default of his token counts.
    #[must_use]
    pub fn of_new(
        parent: &Self,
        kind: Kind,
        owner: &Sid,
        given: Option<&[Ace]>,
        default: &[Ace],
    ) -> Self {
        let inherited = inherited(&parent.entries(), kind);
        let entries: Vec<Ace> = match given {
            Some(given) => given.iter().cloned().chain(inherited).collect(),
            None if inherited.is_empty() => default.to_vec(),
            None => inherited,
        };
        Self::new(owner.clone(), entries)
    }

    /// The same object after the list of its directory changed, as `SetNamedSecurityInfo` hands it down: its own entries
    /// stay, the inherited ones are those of the directory now. Where entries would change sides, because one of its own
    /// is behind an inherited one, the list is not touched but protected from then on.
    pub(crate) fn inherit_again(&mut self, parent: &Self, kind: Kind) {
        if self.protected {
            return;
        }
        let inherited = inherited(&parent.entries(), kind);
        let mut own = self.entries();
        if !own.is_sorted_by_key(was_inherited) {
            self.protected = true;
            return;
        }
        // No list and nothing inherited: still no list.
        if self.dacl == Dacl::Null && inherited.is_empty() {
            return;
        }
        own.retain(|ace| !was_inherited(ace));
        self.dacl = Dacl::List(own.into_iter().chain(inherited).collect());
    }
}

/// Whether an entry came from above.
pub(crate) const fn was_inherited(ace: &Ace) -> bool {
    ace.flags.contains(AceFlags::INHERITED)
}

/// The entries that something in a directory with these entries inherits, in their order.
#[must_use]
pub fn inherited(parent: &[Ace], kind: Kind) -> Vec<Ace> {
    parent
        .iter()
        .flat_map(|ace| inherited_from(ace, kind))
        .collect()
}

fn inherited_from(ace: &Ace, kind: Kind) -> Vec<Ace> {
    let to_files = ace.flags.contains(AceFlags::OBJECT_INHERIT);
    let to_directories = ace.flags.contains(AceFlags::CONTAINER_INHERIT);
    let further = !ace.flags.contains(AceFlags::NO_PROPAGATE);
    let flags = |flags: &[AceFlags]| {
        let all = flags
            .iter()
            .fold(AceFlags::INHERITED.0, |all, flag| all | flag.0);
        AceFlags(all)
    };
    let effective = |with: &[AceFlags]| Ace {
        rights: mapped(ace.rights),
        ..ace.clone().with_flags(flags(with))
    };
    let handed_down = match (to_files, to_directories) {
        (true, true) => AceFlags::TREE,
        (true, false) => AceFlags::OBJECT_INHERIT,
        _ => AceFlags::CONTAINER_INHERIT,
    };
    match kind {
        Kind::File if to_files => vec![effective(&[])],
        Kind::Directory if to_directories && !further => vec![effective(&[])],
        // Generic rights become those of the object, and stay generic for what is below it: two entries.
        Kind::Directory if to_directories && is_generic(ace.rights) => vec![
            effective(&[]),
            ace.clone()
                .with_flags(flags(&[handed_down, AceFlags::INHERIT_ONLY])),
        ],
        Kind::Directory if to_directories => vec![effective(&[handed_down])],
        Kind::Directory if to_files && further => vec![
            ace.clone()
                .with_flags(flags(&[handed_down, AceFlags::INHERIT_ONLY])),
        ],
        Kind::File | Kind::Directory => Vec::new(),
    }
}

fn is_generic(rights: Rights) -> bool {
    mapped(rights) != rights
}
