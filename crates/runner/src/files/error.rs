//! Why a file was not touched, and what would help.

use std::fmt;
use std::io;
use std::path::PathBuf;

use palisade_policy::{AbsolutePath, Access, Clause, Grant, Permission, Verdict};

use super::content::FileKind;

/// Why a file was not touched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The policy does not permit it.
    #[error(transparent)]
    Refused(Box<FileRefusal>),
    /// Writing would follow a link at the end of the path.
    #[error("{path} is a symbolic link to {}: write to what it names instead", target.display())]
    LinkAtEnd {
        /// The link.
        path: AbsolutePath,
        /// Where it leads.
        target: PathBuf,
    },
    /// A link of `/proc` that leads wherever a process has something open.
    #[error("{path} is a magic link, which is never followed: use the path of the file itself")]
    MagicLink {
        /// The link.
        path: AbsolutePath,
    },
    /// A file of `/proc`, under a policy that gives commands a `/proc` of their own.
    #[error(
        "{path} is a file of /proc, which tells about this process and not about the session: let a command of the session read it"
    )]
    ProcessFile {
        /// What was asked for.
        path: AbsolutePath,
    },
    /// Links that lead to links, too often.
    #[error("{path} leads through too many symbolic links")]
    TooManyLinks {
        /// What was asked for.
        path: AbsolutePath,
    },
    /// It is not what the operation is for.
    #[error("{path} is {kind}: {needed}")]
    WrongKind {
        /// What was asked for.
        path: AbsolutePath,
        /// What it is.
        kind: FileKind,
        /// What the operation needs.
        needed: &'static str,
    },
    /// It is there already.
    #[error("{path} exists already")]
    Exists {
        /// What was asked for.
        path: AbsolutePath,
    },
    /// It is not there.
    #[error("{path} does not exist")]
    Missing {
        /// What was asked for.
        path: AbsolutePath,
    },
    /// It is larger than the caller reads.
    #[error("{path} is larger than {limit} bytes")]
    TooLarge {
        /// What was asked for.
        path: AbsolutePath,
        /// How much is read.
        limit: u64,
    },
    /// It could only be written in place, and it has other names, whose content would change too.
    #[error(
        "{path} has {links} names and can only be written in place, which would change them all: grant its directory"
    )]
    OtherNames {
        /// What was asked for.
        path: AbsolutePath,
        /// How many names the file has.
        links: u64,
    },
    /// Somebody kept changing the tree, so that what was judged was never what was there.
    #[error("{path} kept changing while it was looked at; nothing was done")]
    Unstable {
        /// What was asked for.
        path: AbsolutePath,
    },
    /// The system refused.
    #[error("cannot {step} {path}: {source}")]
    Io {
        /// What was tried, such as `open`.
        step: &'static str,
        /// Of what.
        path: AbsolutePath,
        /// What the system said.
        source: io::Error,
    },
}

impl FileError {
    pub(super) fn io(step: &'static str, path: &AbsolutePath, source: io::Error) -> Self {
        let path = path.clone();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            io::ErrorKind::AlreadyExists => Self::Exists { path },
            _ => Self::Io { step, path, source },
        }
    }

    /// The refusal, if the policy is the reason.
    #[must_use]
    pub fn refusal(&self) -> Option<&FileRefusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }
}

/// A symbolic link that was followed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkTaken {
    /// The link.
    pub link: AbsolutePath,
    /// What it says.
    pub target: PathBuf,
}

impl fmt::Display for LinkTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.link, self.target.display())
    }
}

/// What the policy does not permit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileRefusal {
    /// What was asked for.
    pub asked: AbsolutePath,
    /// What that comes to, without links: what was judged.
    pub access: Access,
    /// What the oracle says. It is allowed where the path is a private place, which cannot be reached from here.
    pub verdict: Verdict,
    /// The last link on the way there.
    pub link: Option<LinkTaken>,
}

impl FileRefusal {
    /// The clause that decided.
    #[must_use]
    pub const fn clause(&self) -> &Clause {
        &self.verdict.clause
    }

    /// The smallest grant that would allow it, if one would.
    #[must_use]
    pub const fn smallest_grant(&self) -> Option<&Grant> {
        self.verdict.remedy.as_ref()
    }

    /// Whether the path is one that the session has of its own, so that only its commands can touch it.
    #[must_use]
    pub const fn is_private(&self) -> bool {
        matches!(self.verdict.permission, Permission::Allowed(_))
    }
}

impl fmt::Display for FileRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.access)?;
        if self.is_private() {
            let clause = &self.verdict.clause;
            write!(
                f,
                "{clause}, which only commands of the session can reach; let one of them do it"
            )?;
        } else {
            write!(f, "{}", self.verdict)?;
        }
        match &self.link {
            Some(link) => write!(f, " (through the link {link})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for FileRefusal {}
