//! The bytes of a list, as Windows keeps them: a header, then entries with their own sizes, low bytes first.

use super::AclError;
use super::ace::{Ace, AceFlags, AceKind};
use super::list::{Acl, AclEntry, Revision};
use super::rights::Rights;
use crate::sid::Sid;

/// Revision, a zero, size (two bytes), number of entries (two bytes), two zeros.
pub(super) const HEADER: usize = 8;
/// Kind, flags, size (two bytes).
const ENTRY_HEADER: usize = 4;
/// The header of an entry and its mask; the identifier follows.
const BEFORE_SID: usize = 8;

const ALLOWED: u8 = 0;
const DENIED: u8 = 1;

/// An entry that is kept as it is: for a part of an object, with a condition, or of a kind that came later.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OtherAce {
    kind: u8,
    flags: AceFlags,
    bytes: Vec<u8>,
}

impl OtherAce {
    /// All its bytes, with its header.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Who inherits it, and whether it was inherited.
    #[must_use]
    pub const fn flags(&self) -> AceFlags {
        self.flags
    }

    /// Whether it allows or denies, if it is known to do either.
    #[must_use]
    pub const fn kind(&self) -> Option<AceKind> {
        match self.kind {
            // Plain, for a part of an object, with a condition, and both.
            0x00 | 0x05 | 0x09 | 0x0B => Some(AceKind::Allow),
            0x01 | 0x06 | 0x0A | 0x0C => Some(AceKind::Deny),
            _ => None,
        }
    }
}

impl Ace {
    /// The bytes it takes in a list.
    #[must_use]
    pub fn size(&self) -> usize {
        BEFORE_SID + self.sid.size()
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(match self.kind {
            AceKind::Allow => ALLOWED,
            AceKind::Deny => DENIED,
        });
        bytes.push(self.flags.0);
        bytes.extend(low_sixteen(self.size()));
        bytes.extend(self.rights.0.to_le_bytes());
        bytes.extend(self.sid.to_bytes());
    }
}

impl Acl {
    /// From the bytes that Windows keeps. What follows the last entry is room for more, and is not kept.
    ///
    /// # Errors
    /// The bytes are no list, or one of a revision that is not known. Nothing is guessed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, AclError> {
        let truncated = || AclError::Truncated { at: bytes.len() };
        let Some(
            &[
                revision,
                _,
                size_low,
                size_high,
                count_low,
                count_high,
                _,
                _,
            ],
        ) = bytes.get(..HEADER)
        else {
            return Err(truncated());
        };
        let revision = match revision {
            2 => Revision::Two,
            4 => Revision::Four,
            other => return Err(AclError::Revision(other)),
        };
        let size = usize::from(u16::from_le_bytes([size_low, size_high]));
        let count = u16::from_le_bytes([count_low, count_high]);
        let list = bytes.get(..size).ok_or_else(truncated)?;
        let mut at = HEADER;
        let mut entries = Vec::new();
        for _ in 0..count {
            let (entry, length) = read_entry(list, at)?;
            entries.push(entry);
            at += length;
        }
        if at > list.len() {
            return Err(AclError::Truncated { at });
        }
        Ok(Self { revision, entries })
    }

    /// The bytes that Windows keeps, without room for more.
    ///
    /// # Errors
    /// It is too large.
    pub fn to_bytes(&self) -> Result<Vec<u8>, AclError> {
        let size = self.size();
        if size > Self::MAX_BYTES {
            return Err(AclError::TooLarge { size });
        }
        let revision = match self.revision {
            Revision::Two => 2,
            Revision::Four => 4,
        };
        let mut bytes = vec![revision, 0];
        bytes.extend(low_sixteen(size));
        bytes.extend(low_sixteen(self.entries.len()));
        bytes.extend([0, 0]);
        for entry in &self.entries {
            match entry {
                AclEntry::Known(ace) => ace.write(&mut bytes),
                AclEntry::Other(other) => bytes.extend(other.as_bytes()),
            }
        }
        Ok(bytes)
    }
}

/// Sizes are below 2^16 wherever this is called: the size of the whole list was checked.
fn low_sixteen(value: usize) -> [u8; 2] {
    u16::try_from(value).unwrap_or(u16::MAX).to_le_bytes()
}

/// The entry at a place, and its length.
fn read_entry(list: &[u8], at: usize) -> Result<(AclEntry, usize), AclError> {
    let truncated = || AclError::Truncated { at: list.len() };
    let rest = list.get(at..).ok_or_else(truncated)?;
    let Some(&[kind, flags, size_low, size_high]) = rest.get(..ENTRY_HEADER) else {
        return Err(truncated());
    };
    let size = usize::from(u16::from_le_bytes([size_low, size_high]));
    if size < ENTRY_HEADER || size % 4 != 0 {
        return Err(AclError::EntrySize { at, size });
    }
    let bytes = rest.get(..size).ok_or_else(truncated)?;
    let flags = AceFlags(flags);
    let known = match kind {
        ALLOWED => read_known(AceKind::Allow, flags, bytes),
        DENIED => read_known(AceKind::Deny, flags, bytes),
        _ => None,
    };
    let entry = match known {
        Some(ace) => AclEntry::Known(ace),
        None => AclEntry::Other(OtherAce {
            kind,
            flags,
            bytes: bytes.to_vec(),
        }),
    };
    Ok((entry, size))
}

/// An entry that is exactly a mask and an identifier. One with anything after that is kept as bytes.
fn read_known(kind: AceKind, flags: AceFlags, bytes: &[u8]) -> Option<Ace> {
    let &[a, b, c, d] = bytes.get(ENTRY_HEADER..BEFORE_SID)? else {
        return None;
    };
    let sid = bytes.get(BEFORE_SID..)?;
    let (sid, _) = Sid::from_bytes(sid)
        .ok()
        .filter(|(_, length)| *length == sid.len())?;
    Some(Ace {
        kind,
        flags,
        rights: Rights(u32::from_le_bytes([a, b, c, d])),
        sid,
    })
}
