//! What a policy says that is not in force, and why.

use std::fmt;

use super::model::Origin;

/// Something that an author wrote and that has no effect, or less than it says.
///
/// A notice is no error: the policy is as strict as somebody with more say wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// Where it stands.
    pub origin: Origin,
    /// The key, as in `network.allow`, or the rule, as in ``rule `deploy` ``.
    pub key: String,
    /// What exactly, in words; empty if the key says it.
    pub detail: String,
    /// Why it has no effect.
    pub kind: NoticeKind,
}

/// Why something has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoticeKind {
    /// The project is not trusted, and this would loosen something.
    Untrusted,
    /// The system layer does not let anybody go below its floor.
    BelowFloor {
        /// Where the floor stands.
        floor: Origin,
    },
    /// Nothing is confined, so there is nothing to set.
    NothingConfined,
    /// A pattern of an include that stands for no file.
    NothingFound,
    /// A rule of an untrusted project that asks, where what no rule matches is forbidden.
    ForbidsInstead,
    /// A rule whose id an earlier layer has already.
    Renamed {
        /// What it is called instead.
        id: String,
    },
}

impl Notice {
    pub(crate) fn new(origin: &Origin, key: impl Into<String>, kind: NoticeKind) -> Self {
        Self {
            origin: origin.clone(),
            key: key.into(),
            detail: String::new(),
            kind,
        }
    }

    pub(crate) fn about(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.key)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        match &self.kind {
            NoticeKind::Untrusted => f.write_str(" is ignored, because the project is not trusted"),
            NoticeKind::BelowFloor { floor } => {
                write!(f, " is ignored, because it goes below the floor at {floor}")
            }
            NoticeKind::NothingConfined => {
                f.write_str(" has no effect, because the preset `open` confines nothing")
            }
            NoticeKind::NothingFound => f.write_str(" stands for no file"),
            NoticeKind::ForbidsInstead => f.write_str(
                " forbids instead of asking, because the project is not trusted and unmatched commands are forbidden",
            ),
            NoticeKind::Renamed { id } => {
                write!(f, " is called `{id}`, because an earlier layer has a rule of that id")
            }
        }
    }
}
