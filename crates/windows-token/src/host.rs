//! What must be known about a Windows host before a policy can be lowered: facts as values, so that tests pass what they
//! like.

use std::collections::BTreeMap;

use palisade_policy::AbsolutePath;

use crate::acl::Rights;
use crate::sid::Sid;

/// A Windows host, as far as a plan depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WindowsHost {
    /// Who runs the command.
    pub user: Sid,
    /// The logon session that the command belongs to; its token must have it, for its desktop and its pipes.
    pub logon: Sid,
    /// The groups of the user that make him more than a user, such as administrators.
    pub powerful_groups: Vec<Sid>,
    /// The privileges that the user's token has, by name, such as `SeBackupPrivilege`.
    pub privileges: Vec<String>,
    /// The rights on a file that a write-restricted token was seen to be refused here although the user has them; `None` if
    /// nobody tried.
    pub second_check: Option<Rights>,
    /// The capability of each writable place, made once for each and kept.
    pub capabilities: BTreeMap<AbsolutePath, Sid>,
    /// What is at the paths that a policy names, and at the directories between them and the writable place that holds
    /// them.
    pub places: BTreeMap<AbsolutePath, Located>,
    /// What a pattern matched when somebody looked, by the text of the pattern. Every match is among the places.
    pub matches: BTreeMap<String, Matches>,
    /// Volumes whose files have no access lists: whoever reaches them may write there.
    pub volumes_without_acls: Vec<AbsolutePath>,
    /// Objects that were seen to have no access list at all, which means that everybody may change them.
    pub null_dacls: Vec<AbsolutePath>,
    /// Files in writable places that have a second name.
    pub second_names: SecondNames,
    /// What earlier commands left in what the policy closes.
    pub residue: Residue,
    /// The directory that the session has for temporary files, and nobody else. It exists.
    pub session_tmp: Option<AbsolutePath>,
}

impl WindowsHost {
    /// A host of which nothing is known but who asks.
    #[must_use]
    pub const fn new(user: Sid, logon: Sid) -> Self {
        Self {
            user,
            logon,
            powerful_groups: Vec::new(),
            privileges: Vec::new(),
            second_check: None,
            capabilities: BTreeMap::new(),
            places: BTreeMap::new(),
            matches: BTreeMap::new(),
            volumes_without_acls: Vec::new(),
            null_dacls: Vec::new(),
            second_names: SecondNames::Unknown,
            residue: Residue::Unknown,
            session_tmp: None,
        }
    }
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Located {
    /// Where it really is: without links, junctions and short names, as the file system spells it.
    pub real: AbsolutePath,
    /// What is there.
    pub entry: Entry,
    /// Whether its volume keeps access lists.
    pub has_acls: bool,
    /// Whether the user may change its access list.
    pub may_change_acl: bool,
}

impl Located {
    /// Something on a volume with access lists that the user may change.
    #[must_use]
    pub const fn new(real: AbsolutePath, entry: Entry) -> Self {
        Self {
            real,
            entry,
            has_acls: true,
            may_change_acl: true,
        }
    }

    /// The same, on a volume without access lists.
    #[must_use]
    pub fn without_acls(self) -> Self {
        Self {
            has_acls: false,
            may_change_acl: false,
            ..self
        }
    }

    /// The same, with an access list that the user may not change.
    #[must_use]
    pub fn with_foreign_acl(self) -> Self {
        Self {
            may_change_acl: false,
            ..self
        }
    }
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Entry {
    /// Nothing.
    Missing,
    /// A directory.
    Directory,
    /// A file.
    File,
}

/// What a pattern matched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matches {
    /// The matches that were found.
    pub found: Vec<AbsolutePath>,
    /// Whether there may be more: too many files were below.
    pub truncated: bool,
}

impl Matches {
    /// These, and no others.
    #[must_use]
    pub const fn all(found: Vec<AbsolutePath>) -> Self {
        Self {
            found,
            truncated: false,
        }
    }
}

/// Files with a second name: a file has one access list, whatever its names. One that lies in a writable place and also
/// elsewhere is opened there as well when the place is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it was looked for or it was not")]
pub enum SecondNames {
    /// Somebody looked everywhere, and found none.
    None,
    /// Some were found.
    Found {
        /// How many.
        count: u64,
        /// One of them.
        example: AbsolutePath,
    },
    /// Nobody looked, or not everywhere.
    #[default]
    Unknown,
}

/// Objects below something closed whose own access list opens them to the command: whoever makes an object gives it the
/// list that he likes, and an object's own entries are read before what it inherits. So what a command made at a time when
/// the path was open stays open, whatever is denied above it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it was looked for or it was not")]
pub enum Residue {
    /// Somebody looked everywhere, and found none.
    None,
    /// Some were found.
    Found {
        /// How many.
        count: u64,
        /// One of them.
        example: AbsolutePath,
    },
    /// Nobody looked, or not everywhere.
    #[default]
    Unknown,
}
