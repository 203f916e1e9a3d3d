//! What must be known about a Windows host before a policy can be lowered: facts as values, so that tests pass what they
//! like.

use std::collections::BTreeMap;

use palisade_policy::AbsolutePath;

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
    /// The capability of each writable place, made once for each and kept.
    pub capabilities: BTreeMap<AbsolutePath, Sid>,
    /// What is at the paths that a policy names.
    pub places: BTreeMap<AbsolutePath, Located>,
    /// What a pattern matched when somebody looked, by the text of the pattern.
    pub matches: BTreeMap<String, Matches>,
    /// Volumes whose files have no access lists: whoever reaches them may write there.
    pub volumes_without_acls: Vec<AbsolutePath>,
    /// The directory that the session has for temporary files, and nobody else. It exists.
    pub session_tmp: Option<AbsolutePath>,
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
