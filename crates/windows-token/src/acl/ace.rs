//! One entry of an access list.

use serde::{Deserialize, Serialize};

use super::rights::Rights;
use crate::sid::Sid;

/// Whom it speaks of, what it says, and who inherits it. Two entries are the same if all of it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ace {
    /// Allow or deny.
    pub kind: AceKind,
    /// Who inherits it, and whether it was inherited.
    pub flags: AceFlags,
    /// Which rights.
    pub rights: Rights,
    /// Whom it speaks of.
    pub sid: Sid,
}

impl Ace {
    /// An entry that is not inherited by anybody.
    #[must_use]
    pub const fn new(kind: AceKind, rights: Rights, sid: Sid) -> Self {
        Self {
            kind,
            flags: AceFlags::NONE,
            rights,
            sid,
        }
    }

    /// The same entry, inherited as these flags say.
    #[must_use]
    pub fn with_flags(self, flags: AceFlags) -> Self {
        Self { flags, ..self }
    }
}

/// What an entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "entries of other kinds are kept as bytes"
)]
pub enum AceKind {
    /// It denies.
    Deny,
    /// It allows.
    Allow,
}

/// Who inherits an entry.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct AceFlags(pub u8);

impl AceFlags {
    /// Nobody.
    pub const NONE: Self = Self(0);
    /// Files below.
    pub const OBJECT_INHERIT: Self = Self(0x01);
    /// Directories below.
    pub const CONTAINER_INHERIT: Self = Self(0x02);
    /// Only what is directly below.
    pub const NO_PROPAGATE: Self = Self(0x04);
    /// Only what is below, not the object itself.
    pub const INHERIT_ONLY: Self = Self(0x08);
    /// It came from above.
    pub const INHERITED: Self = Self(0x10);
    /// Everything below.
    pub const TREE: Self = Self(0x03);

    /// Whether all of these are set.
    #[must_use]
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }
}
