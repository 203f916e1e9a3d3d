//! Reads an index: what is staged, and nothing else. Cached file times, flags that hide changes from the user, and
//! extensions are not looked at.

use std::collections::BTreeMap;

use super::names::{HashKind, Oid, is_safe_index_path};

/// What is staged, by path and stage.
pub(super) type Entries = BTreeMap<(Vec<u8>, u8), Staged>;

/// One staged file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Staged {
    /// Its type and permission, as git writes them.
    pub(super) mode: u32,
    /// Its content.
    pub(super) oid: Oid,
}

/// Why an index was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IndexFault {
    /// It is not an index, or names what no index may name.
    Malformed,
    /// It is split in two files, or lists directories in place of files.
    Unsupported,
}

/// Reads an index. Entries that only say "will be added later" are left out.
pub(super) fn parse(bytes: &[u8], kind: HashKind) -> Result<Entries, IndexFault> {
    let mut at = Cursor { bytes, pos: 0 };
    if at.take(4)? != b"DIRC" {
        return Err(IndexFault::Malformed);
    }
    let version = at.u32()?;
    if !(2..=4).contains(&version) {
        return Err(IndexFault::Unsupported);
    }
    let count = at.u32()?;
    let mut entries = Entries::new();
    let mut previous: Vec<u8> = Vec::new();
    for _ in 0..count {
        let start = at.pos;
        at.take(24)?;
        let mode = at.u32()?;
        at.take(12)?;
        let id = at.take(kind.bytes())?;
        let flags = at.u16()?;
        let extended = flags & 0x4000 != 0;
        if extended && version < 3 {
            return Err(IndexFault::Malformed);
        }
        let more = if extended { at.u16()? } else { 0 };
        let path = if version == 4 {
            let strip = at.varint()?;
            let kept = previous.len().checked_sub(strip);
            let kept = kept.ok_or(IndexFault::Malformed)?;
            let mut path = previous.get(..kept).unwrap_or_default().to_vec();
            path.extend_from_slice(at.until_nul()?);
            path
        } else {
            let path = at.until_nul()?.to_vec();
            // Entries are padded to a multiple of eight, with at least the one zero byte that was just read.
            let used = at.pos.saturating_sub(start);
            at.take(used.next_multiple_of(8) - used)?;
            path
        };
        let stage = u8::try_from((flags >> 12) & 3).unwrap_or(0);
        previous.clone_from(&path);
        const INTENT_TO_ADD: u16 = 0x2000;
        // Directories are of a sparse index; a split one has entries without a name.
        if mode == 0o040_000 || path.is_empty() {
            return Err(IndexFault::Unsupported);
        }
        if !is_safe_index_path(&path)
            || !matches!(mode, 0o100_644 | 0o100_755 | 0o120_000 | 0o160_000)
        {
            return Err(IndexFault::Malformed);
        }
        if more & INTENT_TO_ADD != 0 {
            continue;
        }
        let oid = Oid::from_bytes(id, kind).ok_or(IndexFault::Malformed)?;
        if entries
            .insert((path, stage), Staged { mode, oid })
            .is_some()
        {
            return Err(IndexFault::Malformed);
        }
    }
    extensions(&mut at, kind)?;
    Ok(entries)
}

fn extensions(at: &mut Cursor<'_>, kind: HashKind) -> Result<(), IndexFault> {
    loop {
        let left = at.bytes.len().saturating_sub(at.pos);
        if left == kind.bytes() {
            return Ok(());
        }
        let signature = at.take(4)?;
        if signature == b"link" || signature == b"sdir" {
            return Err(IndexFault::Unsupported);
        }
        let length = usize::try_from(at.u32()?).map_err(|_| IndexFault::Malformed)?;
        at.take(length)?;
    }
}

struct Cursor<'b> {
    bytes: &'b [u8],
    pos: usize,
}

impl<'b> Cursor<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], IndexFault> {
        let end = self.pos.checked_add(count).ok_or(IndexFault::Malformed)?;
        let taken = self.bytes.get(self.pos..end);
        self.pos = end;
        taken.ok_or(IndexFault::Malformed)
    }

    fn u32(&mut self) -> Result<u32, IndexFault> {
        let bytes = self.take(4)?.try_into();
        bytes
            .map(u32::from_be_bytes)
            .map_err(|_| IndexFault::Malformed)
    }

    fn u16(&mut self) -> Result<u16, IndexFault> {
        let bytes = self.take(2)?.try_into();
        bytes
            .map(u16::from_be_bytes)
            .map_err(|_| IndexFault::Malformed)
    }

    fn until_nul(&mut self) -> Result<&'b [u8], IndexFault> {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let length = rest.iter().position(|b| *b == 0);
        let length = length.ok_or(IndexFault::Malformed)?;
        let text = self.take(length)?;
        self.take(1)?;
        Ok(text)
    }

    /// The number that version 4 writes before a path: seven bits a byte, one added at each further byte.
    fn varint(&mut self) -> Result<usize, IndexFault> {
        let mut value = 0_usize;
        for round in 0..5 {
            let byte = *self.take(1)?.first().ok_or(IndexFault::Malformed)?;
            if round > 0 {
                value = value.checked_add(1).ok_or(IndexFault::Malformed)?;
            }
            value = (value << 7) | usize::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(IndexFault::Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(paths: &[(&[u8], u32, u16)], tail: &[u8]) -> Vec<u8> {
        let mut out = b"DIRC\0\0\0\x02".to_vec();
        out.extend(u32::try_from(paths.len()).unwrap().to_be_bytes());
        for (path, mode, flags) in paths {
            let start = out.len();
            out.extend([0; 24]);
            out.extend(mode.to_be_bytes());
            out.extend([0; 12]);
            out.extend([7; 20]);
            out.extend(flags.to_be_bytes());
            out.extend(*path);
            out.push(0);
            let used = out.len() - start;
            out.extend(vec![0; used.next_multiple_of(8) - used]);
        }
        out.extend(tail);
        out.extend([0; 20]);
        out
    }

    #[test]
    fn plain_entries_are_read() {
        let bytes = index(&[(b"a", 0o100_644, 1), (b"d/b", 0o120_000, 3)], b"");
        let entries = parse(&bytes, HashKind::Sha1).unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[&(b"d/b".to_vec(), 0)].mode, 0o120_000);
    }

    #[test]
    fn dangerous_entries_refuse_the_whole() {
        for (path, mode) in [
            (&b".git/hooks/x"[..], 0o100_755),
            (b"../x", 0o100_644),
            (b"/x", 0o100_644),
            (b"x", 0o100_777),
            (b"x", 0o060_000),
        ] {
            let bytes = index(&[(path, mode, 1)], b"");
            assert_eq!(parse(&bytes, HashKind::Sha1), Err(IndexFault::Malformed));
        }
        let twice = index(&[(b"a", 0o100_644, 1), (b"a", 0o100_644, 1)], b"");
        assert_eq!(parse(&twice, HashKind::Sha1), Err(IndexFault::Malformed));
        let split = index(&[(b"a", 0o100_644, 1)], b"link\0\0\0\x02xx");
        assert_eq!(parse(&split, HashKind::Sha1), Err(IndexFault::Unsupported));
    }

    #[test]
    fn every_cut_and_every_flipped_byte_is_survived() {
        let bytes = index(
            &[(b"a", 0o100_644, 1), (b"b/c", 0o100_755, 3)],
            b"TREE\0\0\0\x01x",
        );
        assert!(parse(&bytes, HashKind::Sha1).is_ok());
        let plain = index(&[(b"a", 0o100_644, 1), (b"b/c", 0o100_755, 3)], b"");
        for end in 0..plain.len() {
            assert!(parse(&plain[..end], HashKind::Sha1).is_err(), "{end}");
        }
        for at in 0..bytes.len() {
            for flip in [0xff, 0x80, 0x01] {
                let mut broken = bytes.clone();
                broken[at] ^= flip;
                let _ = parse(&broken, HashKind::Sha1);
            }
        }
        for version in [3, 4] {
            let mut other = bytes.clone();
            other[7] = version;
            for at in 12..other.len() {
                let mut broken = other.clone();
                broken[at] = 0xff;
                let _ = parse(&broken, HashKind::Sha1);
            }
        }
    }
}
