//! Facts about the host, as values: whoever wants to know what another host would do passes other facts.

use std::ffi::OsStr;

use serde::{Deserialize, Serialize};

use crate::paths::AbsolutePath;

/// The operating system that a policy is resolved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Os {
    /// Linux.
    Linux,
    /// macOS.
    Macos,
    /// Windows.
    Windows,
}

/// How the file system compares names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a file system folds case or does not"
)]
pub enum PathCase {
    /// `A` and `a` are two names.
    #[default]
    Sensitive,
    /// `A` and `a` are one name.
    Insensitive,
}

impl PathCase {
    /// Whether two names are the same name.
    #[must_use]
    pub fn same(self, a: &OsStr, b: &OsStr) -> bool {
        a == b
            || match self {
                Self::Sensitive => false,
                Self::Insensitive => match (a.to_str(), b.to_str()) {
                    (Some(a), Some(b)) => a
                        .chars()
                        .flat_map(char::to_lowercase)
                        .eq(b.chars().flat_map(char::to_lowercase)),
                    _ => a.eq_ignore_ascii_case(b),
                },
            }
    }
}

/// What a policy needs to know about the host and its user.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostFacts {
    /// The operating system.
    pub os: Os,
    /// How names are compared where the policy applies.
    pub case: PathCase,
    /// The user's id, where the system has such a thing.
    pub uid: Option<u32>,
    /// The user's home directory; what `~` means.
    pub home: Option<AbsolutePath>,
    /// `$TMPDIR`, or what the system has in its place.
    pub tmpdir: Option<AbsolutePath>,
}

impl HostFacts {
    /// Facts of a system of which nothing else is known; names are compared as is usual there.
    #[must_use]
    pub const fn new(os: Os) -> Self {
        Self {
            os,
            case: match os {
                Os::Linux => PathCase::Sensitive,
                Os::Macos | Os::Windows => PathCase::Insensitive,
            },
            uid: None,
            home: None,
            tmpdir: None,
        }
    }

    /// With this home directory.
    #[must_use]
    pub fn with_home(self, home: AbsolutePath) -> Self {
        Self {
            home: Some(home),
            ..self
        }
    }

    /// With this temporary directory.
    #[must_use]
    pub fn with_tmpdir(self, tmpdir: AbsolutePath) -> Self {
        Self {
            tmpdir: Some(tmpdir),
            ..self
        }
    }

    /// With this user id.
    #[must_use]
    pub fn with_uid(self, uid: u32) -> Self {
        Self {
            uid: Some(uid),
            ..self
        }
    }

    /// With names compared this way.
    #[must_use]
    pub fn with_case(self, case: PathCase) -> Self {
        Self { case, ..self }
    }

    /// Whether the user is the superuser of a Unix system.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.uid == Some(0)
    }
}
