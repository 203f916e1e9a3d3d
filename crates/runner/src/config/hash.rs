//! What was read, as a number that stands for it.

use std::fmt;
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// The SHA-256 of what was read.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// The hash of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Reads the 64 hexadecimal digits that [`Display`](fmt::Display) writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (text, mut bytes) = (text.as_bytes(), [0; 32]);
        if text.len() != 64 {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            for digit in pair {
                let value = match digit {
                    b'0'..=b'9' => digit - b'0',
                    b'a'..=b'f' => digit - b'a' + 10,
                    _ => return None,
                };
                *byte = (*byte << 4) | value;
            }
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

/// The hash of several files: of names and contents, each with its length, so that nothing can be moved between them.
pub(super) struct Hasher(Sha256);

impl Hasher {
    pub(super) fn new() -> Self {
        Self(Sha256::new_with_prefix(b"palisade policy layer 1\0"))
    }

    pub(super) fn add(&mut self, name: &Path, text: &[u8]) {
        for part in [name.as_os_str().as_encoded_bytes(), text] {
            let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
            self.0.update(length.to_be_bytes());
            self.0.update(part);
        }
    }

    pub(super) fn finish(self) -> ContentHash {
        ContentHash(self.0.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_reads_back_and_nothing_else_reads() {
        let hash = ContentHash::of(b"abc");
        let text = hash.to_string();
        assert_eq!(
            text,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(ContentHash::parse(&text), Some(hash));
        for bad in ["", "ba", &text.to_uppercase(), &format!("{text}00")] {
            assert_eq!(ContentHash::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn nothing_moves_between_names_and_contents() {
        let hash = |files: &[(&str, &str)]| {
            let mut hasher = Hasher::new();
            for (name, text) in files {
                hasher.add(Path::new(name), text.as_bytes());
            }
            hasher.finish()
        };
        let all = [
            hash(&[("a", "bc")]),
            hash(&[("ab", "c")]),
            hash(&[("a", "b"), ("c", "")]),
            hash(&[("a", ""), ("bc", "")]),
            hash(&[]),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(!all[..index].contains(one), "{index}");
        }
    }
}
