//! One line of the journal.

use std::fmt;

use palisade_policy::AbsolutePath;
use serde::{Deserialize, Serialize};

use crate::acl::Ace;

/// A session: a random number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "a number")]
pub struct SessionId(pub u64);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// An edit of a session, counted by the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "a number")]
pub struct EditId(pub u32);

/// An object whose access list is changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Object {
    /// Where it was.
    pub path: AbsolutePath,
    /// Which it is, wherever it went since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<FileId>,
}

/// Which file or directory, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what the system calls the identity of a file"
)]
pub struct FileId {
    /// The serial number of the volume.
    pub volume: u64,
    /// The number of the file on it: sixteen bytes, as they are.
    pub file: [u8; 16],
}

impl Object {
    /// An object that is only known by its path.
    #[must_use]
    pub const fn new(path: AbsolutePath) -> Self {
        Self { path, id: None }
    }

    /// The same, with its identity.
    #[must_use]
    pub fn with_id(self, id: FileId) -> Self {
        Self {
            id: Some(id),
            ..self
        }
    }

    /// Whether they are one and the same: by identity if both have one, else by path.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        match (self.id, other.id) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => self.path == other.path,
        }
    }
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case", deny_unknown_fields)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a record that is not understood must not be skipped"
)]
pub enum Record {
    /// A session begins.
    SessionBegan {
        /// Which.
        session: SessionId,
        /// The process that answers for it.
        pid: u32,
        /// When that process was started, in the system's own unit: a number is used again, a moment is not.
        started: u64,
    },
    /// An access list is about to change.
    EditIntended {
        /// Whose.
        session: SessionId,
        /// Which of its edits.
        edit: EditId,
        /// The object.
        object: Object,
        /// What is added.
        add: Vec<Ace>,
        /// What another session added before, and this one needs as well.
        share: Vec<Ace>,
    },
    /// It has changed.
    EditDone {
        /// Whose.
        session: SessionId,
        /// Which of its edits.
        edit: EditId,
    },
    /// Nothing of the edit is left, but for what other sessions need.
    RemovalDone {
        /// Whose.
        session: SessionId,
        /// Which of its edits.
        edit: EditId,
    },
    /// A session is over, and everything of it is gone.
    SessionEnded {
        /// Which.
        session: SessionId,
    },
}
