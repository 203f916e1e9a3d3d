//! A list, or the lack of one: two things that look alike and mean the opposite.

use super::list::{Acl, Inserted};
use super::{Ace, AclError};

/// Who may do what to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "an object has a list or it has none"
)]
pub enum Dacl {
    /// No list at all: everybody may do everything, restricted tokens included.
    Null,
    /// A list. If it is empty, nobody may do anything.
    List(Acl),
}

impl Dacl {
    /// From what Windows says about an object: whether it has a list (`SE_DACL_PRESENT`), and the bytes of it, if any.
    ///
    /// # Errors
    /// The bytes are no list.
    pub fn from_parts(present: bool, bytes: Option<&[u8]>) -> Result<Self, AclError> {
        match (present, bytes) {
            (true, Some(bytes)) => Acl::from_bytes(bytes).map(Self::List),
            (false, _) | (true, None) => Ok(Self::Null),
        }
    }

    /// The list.
    ///
    /// # Errors
    /// There is none.
    pub fn list(&self) -> Result<&Acl, AclError> {
        match self {
            Self::Null => Err(AclError::NullDacl),
            Self::List(list) => Ok(list),
        }
    }

    /// As [`Acl::insert`]. Where there is no list, none is made: it would lock out everybody else.
    ///
    /// # Errors
    /// There is no list, or the entry does not fit.
    pub fn insert(&mut self, ace: Ace) -> Result<Inserted, AclError> {
        match self {
            Self::Null => Err(AclError::NullDacl),
            Self::List(list) => list.insert(ace),
        }
    }

    /// As [`Acl::remove`]. Where there is no list, nothing of ours is left.
    pub fn remove(&mut self, ace: &Ace) -> bool {
        match self {
            Self::Null => false,
            Self::List(list) => list.remove(ace),
        }
    }
}
