//! Why there is no session, or no command in it: what was tried, where, and what the system said.

use std::io;
use std::path::PathBuf;

use palisade_policy::{AbsolutePath, PolicyError, Refusal};

use crate::acl::{AclError, Rights};
use crate::command_line::{CommandLineError, EnvironmentError};
use crate::journal::{CapabilitiesError, JournalError};
use crate::sid::Sid;
use crate::survey::{LocateError, SurveyError};

/// Why there is no session. Nothing ran, and what was changed on the host was changed back; if that failed, the next start
/// does it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The policy makes no sense on this host, or nothing here can enforce it.
    #[error("{0}")]
    Policy(#[from] PolicyError),
    /// The sandbox would be weaker than the policy asks, and nobody accepted that.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// The host could not be looked at.
    #[error("{0}")]
    Survey(#[from] SurveyError),
    /// The directory in which Palisade remembers what it changed cannot be used.
    #[error("{0}")]
    State(#[from] StateError),
    /// An access list could not be changed.
    #[error("{0}")]
    Edit(#[from] EditError),
    /// The system refused a part of the sandbox.
    #[error("{what} could not be made: {source}{}", hint(.source))]
    System {
        /// Which part.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The token does not restrict.
    #[error("this host cannot restrict a command: {0}; nothing was started")]
    SelfCheck(#[from] SelfCheckFailure),
}

/// What is known about an error that has no obvious cause.
fn hint(error: &io::Error) -> &'static str {
    // ERROR_INVALID_PARAMETER, from the call that restricts a token.
    match error.raw_os_error() {
        Some(87) => ": a process that is restricted itself cannot restrict another one",
        _ => "",
    }
}

/// What the look at a token has shown. None of it can be accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SelfCheckFailure {
    /// By its own word.
    #[error(
        "the system made a token and says itself that it is not restricted, as Wine does, which drops the restriction and reports success"
    )]
    NotRestricted,
    /// Other identifiers than those that were asked for.
    #[error("the token is restricted to {found:?}, and {wanted:?} was asked for")]
    OtherIdentifiers {
        /// What was asked for.
        wanted: Vec<Sid>,
        /// What the token has.
        found: Vec<Sid>,
    },
    /// A group that may still allow something.
    #[error("the token still has the powers of {0}")]
    GroupStillEnabled(Sid),
    /// A privilege that is still there.
    #[error("the token still has the privilege {0}")]
    PrivilegeStillThere(String),
    /// The user may not do it either, so that a refusal would show nothing.
    #[error("the trial itself failed at {}: {source}", path.display())]
    Trial {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The thread could not act as the token.
    #[error("nobody could act as the token: {0}")]
    Impersonation(io::Error),
    /// The token may do what it must not.
    #[error("the token was granted {rights} on {}, which it must be refused", path.display())]
    Granted {
        /// Where.
        path: PathBuf,
        /// What.
        rights: Rights,
    },
    /// The token was kept from something, but nobody knows by what.
    #[error("asking for {rights} on {} failed for another reason than a refusal: {source}", path.display())]
    Unclear {
        /// Where.
        path: PathBuf,
        /// What.
        rights: Rights,
        /// What the system said.
        source: io::Error,
    },
    /// The token may change a process that is not restricted, and by that everything.
    #[error(
        "the token was granted {right:#x} on a process that is not restricted, which it must be refused"
    )]
    ProcessGranted {
        /// The right.
        right: u32,
    },
    /// The token was kept from a process, but nobody knows by what.
    #[error(
        "asking for {right:#x} on this process failed for another reason than a refusal: {source}"
    )]
    ProcessUnclear {
        /// The right.
        right: u32,
        /// What the system said.
        source: io::Error,
    },
    /// The token may not do what it must be able to do.
    #[error("the token cannot write to its own directory {}: {source}", path.display())]
    TempRefused {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An entry that was added to an access list is not in it.
    #[error("{path} did not keep what was added to its access list")]
    EntryNotKept {
        /// The object.
        path: AbsolutePath,
    },
}

/// Why the directory in which Palisade remembers what it changed cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Its path.
    #[error("{0}")]
    Path(#[from] LocateError),
    /// It is reached through a link, which could be replaced.
    #[error("the state directory {path} is really {real}; name that")]
    Linked {
        /// As it was given.
        path: AbsolutePath,
        /// Where it is.
        real: AbsolutePath,
    },
    /// Somebody else could change it.
    #[error(
        "{who} may change the state directory {path}, and with it what is repaired; remove that entry, or name another directory"
    )]
    NotPrivate {
        /// The directory.
        path: AbsolutePath,
        /// Who; `everybody` if it has no list at all.
        who: String,
    },
    /// Somebody else owns it.
    #[error("the state directory {path} belongs to {owner}; name another directory")]
    NotOurs {
        /// The directory.
        path: AbsolutePath,
        /// Who owns it.
        owner: Sid,
    },
    /// Its volume keeps no access lists.
    #[error(
        "the state directory {path} is on a volume without access lists; name one on a local disk that has them, such as NTFS"
    )]
    NoAcls {
        /// The directory.
        path: AbsolutePath,
    },
    /// A command could write there.
    #[error(
        "the state directory {path} and the writable place {root} are in one another; name another state directory"
    )]
    InsideRoot {
        /// The directory.
        path: AbsolutePath,
        /// The place.
        root: AbsolutePath,
    },
    /// Another session holds it for too long.
    #[error("the state directory {path} is locked by another session; try again")]
    Locked {
        /// The directory.
        path: AbsolutePath,
    },
    /// Its journal.
    #[error("{0}")]
    Journal(#[from] JournalError),
    /// Its capabilities.
    #[error("{0}")]
    Capabilities(#[from] CapabilitiesError),
    /// The system refused.
    #[error("{what} {} failed: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// With what.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Why an access list could not be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// Something else is there than the survey saw.
    #[error("{path} changed while the session was started: it is really {}; try again", real.display())]
    Moved {
        /// Where it was.
        path: AbsolutePath,
        /// What is there now.
        real: PathBuf,
    },
    /// The list itself.
    #[error("the access list of {path}: {source}")]
    List {
        /// Of what.
        path: AbsolutePath,
        /// Why.
        source: AclError,
    },
    /// The system refused.
    #[error("{what} the access list of {path} failed: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// Of what.
        path: AbsolutePath,
        /// Why.
        source: io::Error,
    },
    /// It could not be written down first.
    #[error("{0}")]
    State(#[from] StateError),
}

/// What is left of a session that ended. Its processes are gone; the next start tries the rest again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EndError {
    /// Processes.
    #[error("processes of the session are still there: {0}")]
    Processes(String),
    /// Entries of access lists.
    #[error("{0}; the next start tries again")]
    Edit(#[from] EditError),
}

/// A command that was not started. Nothing ran.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// No such program.
    #[error("there is no program {} in the command's PATH", name.display())]
    NoProgram {
        /// What was asked for.
        name: PathBuf,
    },
    /// Its path.
    #[error("{0}")]
    Path(#[from] LocateError),
    /// Another file than the one that was judged.
    #[error("{} is not the file that was judged any more", path.display())]
    ProgramChanged {
        /// Where it was.
        path: PathBuf,
    },
    /// Its arguments.
    #[error("{0}")]
    CommandLine(#[from] CommandLineError),
    /// Its environment.
    #[error("{0}")]
    Environment(#[from] EnvironmentError),
    /// A handle that must not be given to a command.
    #[error("standard handle {number} of a command cannot be {what}")]
    Handle {
        /// 0, 1 or 2.
        number: u32,
        /// What it is.
        what: &'static str,
    },
    /// The system refused.
    #[error("{what} {} failed: {source}", path.display())]
    System {
        /// What was tried.
        what: &'static str,
        /// With what.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The system refused something that the caller's own process needs.
    #[error("{0}")]
    Io(#[from] io::Error),
}
