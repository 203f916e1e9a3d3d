//! What can be done to an object: bits of an access mask.

use std::fmt;
use std::ops::{BitAnd, BitOr, Not};

use serde::{Deserialize, Serialize};

/// A set of rights on a file or directory.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Rights(pub u32);

impl Rights {
    /// None.
    pub const NONE: Self = Self(0);
    /// Read a file, or list a directory.
    pub const READ_DATA: Self = Self(0x0001);
    /// Write a file, or make a file in a directory.
    pub const WRITE_DATA: Self = Self(0x0002);
    /// Append to a file, or make a directory in a directory.
    pub const APPEND_DATA: Self = Self(0x0004);
    /// Read extended attributes.
    pub const READ_EA: Self = Self(0x0008);
    /// Write extended attributes.
    pub const WRITE_EA: Self = Self(0x0010);
    /// Execute a file, or pass through a directory.
    pub const EXECUTE: Self = Self(0x0020);
    /// Remove whatever a directory holds, whatever that says itself (`FILE_DELETE_CHILD`). Never granted, and denied where
    /// something must stay.
    pub const DELETE_CHILD: Self = Self(0x0040);
    /// Read attributes.
    pub const READ_ATTRIBUTES: Self = Self(0x0080);
    /// Write attributes.
    pub const WRITE_ATTRIBUTES: Self = Self(0x0100);
    /// Remove or rename the object.
    pub const DELETE: Self = Self(0x0001_0000);
    /// Read the access list.
    pub const READ_CONTROL: Self = Self(0x0002_0000);
    /// Change the access list.
    pub const WRITE_DAC: Self = Self(0x0004_0000);
    /// Become the owner.
    pub const WRITE_OWNER: Self = Self(0x0008_0000);
    /// Wait for the object.
    pub const SYNCHRONIZE: Self = Self(0x0010_0000);
    /// `GENERIC_ALL`, before it is mapped.
    pub const GENERIC_ALL: Self = Self(0x1000_0000);
    /// `GENERIC_EXECUTE`, before it is mapped.
    pub const GENERIC_EXECUTE: Self = Self(0x2000_0000);
    /// `GENERIC_WRITE`, before it is mapped.
    pub const GENERIC_WRITE: Self = Self(0x4000_0000);
    /// `GENERIC_READ`, before it is mapped.
    pub const GENERIC_READ: Self = Self(0x8000_0000);

    /// What `GENERIC_READ` means for a file.
    pub const FILE_READ: Self = Self(0x0012_0089);
    /// What `GENERIC_WRITE` means for a file.
    pub const FILE_WRITE: Self = Self(0x0012_0116);
    /// What `GENERIC_EXECUTE` means for a file.
    pub const FILE_EXECUTE: Self = Self(0x0012_00A0);
    /// What `GENERIC_ALL` means for a file.
    pub const FILE_ALL: Self = Self(0x001F_01FF);

    /// Everything that changes an object, its access list or its place: what a protected path denies.
    pub const CHANGES: Self = Self(
        Self::WRITE_DATA.0
            | Self::APPEND_DATA.0
            | Self::WRITE_EA.0
            | Self::WRITE_ATTRIBUTES.0
            | Self::DELETE.0
            | Self::DELETE_CHILD.0
            | Self::WRITE_DAC.0
            | Self::WRITE_OWNER.0,
    );
    /// What a writable root grants: read, write, execute and remove, but not the removal of children that deny it.
    pub const WRITABLE_ROOT: Self =
        Self(Self::FILE_READ.0 | Self::FILE_WRITE.0 | Self::FILE_EXECUTE.0 | Self::DELETE.0);

    /// Whether all of these are in it.
    #[must_use]
    pub const fn contains(self, rights: Self) -> bool {
        self.0 & rights.0 == rights.0
    }

    /// Whether any of these is in it.
    #[must_use]
    pub const fn intersects(self, rights: Self) -> bool {
        self.0 & rights.0 != 0
    }
}

impl BitOr for Rights {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Rights {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Not for Rights {
    type Output = Self;

    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}
