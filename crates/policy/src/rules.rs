//! What the enforced modes say about particular paths, git and local sockets.

use serde::{Deserialize, Serialize};

use crate::path_spec::PathSpec;
use crate::paths::{AbsolutePath, RelativePath};
use crate::wire::{WireLocal, WirePaths};

/// What may happen to the git directory of a writable root; a later access includes the earlier ones.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "every backend must decide what a new access means"
)]
pub enum GitAccess {
    /// Git can be asked, history cannot change.
    #[default]
    ReadOnly,
    /// Git works as usual on a copy of its own; objects, refs and the index come back, nothing that git would execute.
    Commit,
    /// The directory is as writable as the rest of the root.
    Full,
}

/// A path that a grant names: it is reopened although a guard above it denies it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Reopened {
    /// The path, with everything below it that no deeper guard denies.
    pub path: AbsolutePath,
    /// Whether it may be written as well as read.
    #[serde(default)]
    pub write: bool,
}

impl Reopened {
    /// A path that may be read.
    #[must_use]
    pub const fn read(path: AbsolutePath) -> Self {
        Self { path, write: false }
    }

    /// A path that may be read and written.
    #[must_use]
    pub const fn write(path: AbsolutePath) -> Self {
        Self { path, write: true }
    }
}

/// What a policy says about particular paths.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "WirePaths")]
#[non_exhaustive]
pub struct PathRules {
    /// Below every writable root: written by nobody, also while they do not exist. `.git` is guarded whether or not it
    /// is listed: [`git`](Self::git) decides about it.
    pub protected: Vec<RelativePath>,
    /// Neither read nor written.
    pub deny_read: Vec<PathSpec>,
    /// Read, but not written.
    pub read_only: Vec<PathSpec>,
    /// What may happen to `.git`.
    pub git: GitAccess,
    /// What grants have reopened by name.
    pub reopened: Vec<Reopened>,
}

impl PathRules {
    /// What every writable root protects: history, and what configures agents and editors.
    pub const DEFAULT_PROTECTED: [&'static str; 7] = [
        ".git",
        ".palisade",
        ".codex",
        ".claude",
        ".agents",
        ".cursor",
        ".vscode",
    ];

    /// With these subpaths protected in place of the defaults.
    #[must_use]
    pub fn with_protected(mut self, protected: impl IntoIterator<Item = RelativePath>) -> Self {
        self.protected = protected.into_iter().collect();
        self
    }

    /// With these paths neither read nor written.
    #[must_use]
    pub fn with_deny_read(mut self, deny_read: impl IntoIterator<Item = PathSpec>) -> Self {
        self.deny_read = deny_read.into_iter().collect();
        self
    }

    /// With these paths read but not written.
    #[must_use]
    pub fn with_read_only(mut self, read_only: impl IntoIterator<Item = PathSpec>) -> Self {
        self.read_only = read_only.into_iter().collect();
        self
    }

    /// With this access to `.git`.
    #[must_use]
    pub fn with_git(mut self, git: GitAccess) -> Self {
        self.git = git;
        self
    }

    /// With these paths reopened by name.
    #[must_use]
    pub fn with_reopened(mut self, reopened: impl IntoIterator<Item = Reopened>) -> Self {
        self.reopened = reopened.into_iter().collect();
        self
    }
}

impl Default for PathRules {
    fn default() -> Self {
        Self {
            protected: Vec::from(Self::DEFAULT_PROTECTED.map(RelativePath::constant)),
            deny_read: Vec::new(),
            read_only: Vec::new(),
            git: GitAccess::ReadOnly,
            reopened: Vec::new(),
        }
    }
}

/// Which loopback a command without network may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "every backend must decide what a new access means"
)]
pub enum LoopbackAccess {
    /// The session's own, where the tier has one; never the host's.
    #[default]
    Private,
    /// The host's, with every server that listens there.
    Host,
    /// None.
    Off,
}

/// What a command may reach on the same machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "WireLocal")]
#[non_exhaustive]
pub struct LocalAccess {
    /// Loopback.
    pub loopback: LoopbackAccess,
    /// Sockets of the host, or directories of such, that may be connected to.
    pub unix_paths: Vec<AbsolutePath>,
}

impl LocalAccess {
    /// With this loopback.
    #[must_use]
    pub fn with_loopback(mut self, loopback: LoopbackAccess) -> Self {
        self.loopback = loopback;
        self
    }

    /// With these sockets of the host.
    #[must_use]
    pub fn with_unix_paths(mut self, unix_paths: impl IntoIterator<Item = AbsolutePath>) -> Self {
        self.unix_paths = unix_paths.into_iter().collect();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_in_its_normal_form() {
        for name in PathRules::DEFAULT_PROTECTED {
            assert_eq!(RelativePath::new(name), Ok(RelativePath::constant(name)));
        }
    }
}
