//! Access lists as values: entries, their order, and the bytes that Windows keeps.
//!
//! Windows' own functions sort, merge masks and remove by name; what they did cannot be undone exactly. This list only
//! ever gains or loses one exact entry at a time, and everything else in it stays as it was, byte for byte.

mod ace;
mod bytes;
mod dacl;
mod list;
mod rights;

pub use ace::{Ace, AceFlags, AceKind};
pub use bytes::OtherAce;
pub use dacl::Dacl;
pub use list::{Acl, AclEntry, Inserted, Revision};
pub use rights::Rights;

/// Why a list cannot be read or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AclError {
    /// The bytes end before the list does.
    #[error("the access list ends in the middle of something, at byte {at}")]
    Truncated {
        /// Where.
        at: usize,
    },
    /// A revision that nobody has documented.
    #[error("access lists of revision {0} are not known; 2 and 4 are")]
    Revision(u8),
    /// An entry whose size cannot be.
    #[error("the entry at byte {at} claims a size of {size} bytes")]
    EntrySize {
        /// Where the entry starts.
        at: usize,
        /// What it claims.
        size: usize,
    },
    /// More than a list can hold.
    #[error(
        "the access list would take {size} bytes, and Windows allows {}; remove entries that nobody needs",
        Acl::MAX_BYTES
    )]
    TooLarge {
        /// What it would take.
        size: usize,
    },
    /// An entry that claims to come from above cannot be put into a list by hand.
    #[error("an inherited entry is added to the object above, not here")]
    Inherited,
    /// There is no list: everybody may do everything, and a list would take that away from others.
    #[error(
        "the object has no access list at all, so everybody may change it; give it one before it is used"
    )]
    NullDacl,
}
