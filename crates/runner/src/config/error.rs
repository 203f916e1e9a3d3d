//! Why there is no configuration, or why something was not kept. Each refusal names a file and what would help.

use std::io;
use std::path::{Path, PathBuf};

use palisade_exec_policy::RulesError;
use palisade_exec_policy::approvals::{ApprovalError, EditError, MomentError};
use palisade_exec_policy::language::PolicyErrors;
use palisade_policy::{PathError, PolicyError};

/// A configuration that cannot be used, or a file that cannot be changed. Nothing runs, and nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file or directory that cannot be used.
    #[error("{}: {problem}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        problem: FileProblem,
    },
    /// A project that can be no workspace.
    #[error("the project cannot be a workspace: {0}")]
    Project(#[from] PathError),
    /// Files that do not load together, or whose examples do not hold.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// Files that load, but to no policy for this project.
    #[error(transparent)]
    Policy(#[from] PolicyErrors),
    /// A policy that makes no sense on this host.
    #[error("the policy makes no sense on this host: {0}")]
    Host(#[source] Box<PolicyError>),
    /// An approvals file that nobody understands.
    #[error("{}: {source}; mend it or remove it", .path.display())]
    Approvals {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<ApprovalError>,
    },
    /// An approval that cannot be kept.
    #[error("{}: {source}", .path.display())]
    Edit {
        /// The file it was meant for.
        path: PathBuf,
        /// Why not.
        source: Box<EditError>,
    },
    /// A grant that cannot be kept or used.
    #[error("the grant to {grant} cannot be used: {source}")]
    Grant {
        /// The grant, in words.
        grant: String,
        /// Why not.
        source: Box<PolicyError>,
    },
    /// A time that cannot be used.
    #[error("the time of what is kept: {0}")]
    Moment(#[from] MomentError),
    /// Something that is kept from commands lies where this policy lets them write.
    #[error(
        "{} must be out of reach of commands, but this policy lets them write it; \
         list it under filesystem.read_only or filesystem.deny, or move it",
        .path.display()
    )]
    WithinReach {
        /// What.
        path: PathBuf,
    },
    /// Nobody knows where things are kept.
    #[error("nobody knows where to keep this: set HOME or XDG_STATE_HOME")]
    NoStateDirectory,
    /// The project has no policy files.
    #[error("{}: there is no policy to trust", .project.display())]
    NothingToTrust {
        /// The project.
        project: PathBuf,
    },
    /// The project's policy is not what was shown.
    #[error("{}: the policy has changed since it was shown; look at it again", .project.display())]
    ChangedSinceShown {
        /// The project.
        project: PathBuf,
    },
}

/// Why a file or directory cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// The system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Something else is in its place.
    #[error("not a regular file")]
    NotRegular,
    /// Something else is in its place.
    #[error("not a directory")]
    NotADirectory,
    /// Larger than any such file needs to be.
    #[error("larger than {max} bytes")]
    TooLarge {
        /// The limit.
        max: usize,
    },
    /// Somebody else's.
    #[error("belongs to user {owner}, so that they could change it; it must belong to {}", users(.allowed))]
    Owner {
        /// Whose it is.
        owner: u32,
        /// Whose it may be.
        allowed: Vec<u32>,
    },
    /// Others may change it.
    #[error("others can write it (mode {mode:03o}); `chmod go-w` would help")]
    OthersCanWrite {
        /// Its permissions.
        mode: u32,
    },
    /// It has other names, by which commands may be able to change it.
    #[error(
        "has {names} names (hard links), and commands may reach another of them; put a copy in its place"
    )]
    HardLinks {
        /// How many.
        names: u64,
    },
    /// A link that leads nowhere: not the same as no file.
    #[error("a link that leads nowhere; mend it or remove it")]
    Dangling,
    /// A link where there must be none.
    #[error("a symbolic link, which could lead anywhere; put the file itself here")]
    Link,
    /// It leads out of the directory that it must stay in.
    #[error("leads out of {}; put the file there", .directory.display())]
    LeadsOutside {
        /// The directory.
        directory: PathBuf,
    },
    /// A pattern that is not understood.
    #[error("the pattern `{}` is not understood: {why}", .pattern.escape_debug())]
    Pattern {
        /// As written.
        pattern: String,
        /// Why.
        why: &'static str,
    },
    /// A name that no text can hold, where text is needed.
    #[error("its name is not Unicode; rename it")]
    NotUnicode,
    /// More files, or more text, than a layer may have.
    #[error("the layer has more than {max} {what}")]
    TooMuch {
        /// Of what.
        what: &'static str,
        /// How much is allowed.
        max: usize,
    },
    /// Nobody understands it, so it is left alone.
    #[error("cannot be understood: {0}; mend it or remove it")]
    Corrupt(String),
    /// Somebody else has been changing it for too long.
    #[error("another process has kept it locked for {seconds} seconds; try again")]
    Busy {
        /// How long.
        seconds: u64,
    },
    /// Nobody here can say who owns files.
    #[error("files cannot be checked on this system yet")]
    Unsupported,
}

fn users(allowed: &[u32]) -> String {
    let users: Vec<String> = allowed.iter().map(|uid| format!("user {uid}")).collect();
    users.join(" or ")
}

impl ConfigError {
    pub(super) fn file(path: impl AsRef<Path>, problem: impl Into<FileProblem>) -> Self {
        Self::File {
            path: path.as_ref().to_owned(),
            problem: problem.into(),
        }
    }
}
