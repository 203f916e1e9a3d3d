//! Files that are made beside their target under a name of their own, until they take its place.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, Write as _};

use super::directory::{Directory, Making};

/// What a name that is ours begins with. After a crash such files can be left behind; they can be removed.
pub(super) const OUR_PREFIX: &str = ".palisade-";

/// A name that nobody has. That nobody has it is checked where it is used: guessing it gains nothing.
pub(super) fn own_name() -> OsString {
    // Its keys are random, and no two are the same.
    let random = || {
        let state = std::collections::hash_map::RandomState::new();
        state.build_hasher().finish()
    };
    format!("{OUR_PREFIX}{:016x}.tmp", random()).into()
}

/// A file beside its target. It is removed unless somebody takes over.
#[derive(Debug)]
pub(super) struct Staged {
    directory: Directory,
    name: OsString,
    pub(super) owner_kept: bool,
    ours: bool,
}

impl Staged {
    /// Makes the file, with its content on the disk.
    pub(super) fn make(
        directory: &Directory,
        name: OsString,
        content: &[u8],
        making: Making<'_>,
    ) -> io::Result<Self> {
        let (mut file, owner_kept) = directory.create_file(&name, making)?;
        let staged = Self {
            directory: directory.clone(),
            name,
            owner_kept,
            ours: true,
        };
        file.write_all(content)?;
        file.sync_all()?;
        Ok(staged)
    }

    pub(super) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Nothing is left under the name, or somebody else looks after it.
    pub(super) fn release(&mut self) {
        self.ours = false;
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if self.ours {
            let _ = self.directory.remove_file(&self.name);
        }
    }
}
