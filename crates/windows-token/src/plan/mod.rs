//! Everything that is done for a session, as plain data: the token, the edits of access lists, the job, the handles.

use palisade_policy::AbsolutePath;
use serde::Serialize;

use crate::acl::{Ace, Rights};
use crate::sid::Sid;

mod text;

/// What a session on Windows is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Plan {
    /// Who the command is.
    pub token: TokenPlan,
    /// What is added to access lists of the host while the session lives, in this order, and removed in the other.
    pub acl_edits: Vec<AclEdit>,
    /// Directories that are kept open, so that nobody removes or moves them or what is above them: an access list cannot say
    /// that where the user controls the directory above.
    pub hold: Vec<AbsolutePath>,
    /// What holds the processes together.
    pub job: JobPlan,
    /// What the command inherits. Nothing else of ours reaches it.
    pub handles: HandlePlan,
    /// Where its windows are.
    pub desktop: DesktopPlan,
    /// Variables that are set for it, such as where temporary files go.
    pub environment: Vec<(String, AbsolutePath)>,
}

/// A restricted token: the user's own, with less.
///
/// Another kind of token, such as one of an AppContainer, would be planned here: the edits name whoever is in
/// `restricting`, and the job and the launch do not ask what kind of token it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TokenPlan {
    /// Drop every privilege but the one to pass through directories (`DISABLE_MAX_PRIVILEGE`).
    pub disable_max_privilege: bool,
    /// As a user without administration would get it (`LUA_TOKEN`).
    pub lua_token: bool,
    /// The second check is only for writing (`WRITE_RESTRICTED`).
    pub write_restricted: bool,
    /// The only identifiers that the second check knows: the capabilities of the active places and the logon session.
    pub restricting: Vec<Sid>,
    /// Groups that may only deny from now on.
    pub disable: Vec<Sid>,
    /// Privileges that are deleted by name, because the flag above is not everywhere obeyed.
    pub delete_privileges: Vec<String>,
    /// The access list of what the command makes where nothing is inherited, such as its pipes.
    pub default_dacl: Vec<Ace>,
    /// What the token must be refused, each right by itself, on a file that the user may do all of this to. A token that
    /// is granted any of it is not used: nobody has documented whether the second check sees the last two, and with them
    /// a command could open whatever the user owns.
    pub must_refuse: Rights,
}

impl TokenPlan {
    /// What the user may do to the directory in which a token is tried: everything, but remove what it holds only if that
    /// must be refused. Where the second check does not ask about that right, whoever has it opens the file for removal,
    /// and the trial would find a token that does not restrict wherever it does.
    #[must_use]
    pub fn canary_rights(&self) -> Rights {
        Rights::FILE_ALL & !Rights::DELETE_CHILD | self.must_refuse & Rights::DELETE_CHILD
    }
}

/// Entries for the access list of one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AclEdit {
    /// The object. It exists.
    pub path: AbsolutePath,
    /// Why.
    pub purpose: Purpose,
    /// What is added.
    pub add: Vec<Ace>,
}

/// Why an access list is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Purpose {
    /// A place that may be written.
    WritableRoot,
    /// Something in it that may not be changed.
    Protected,
    /// A directory above something protected, which may not be moved.
    AboveProtected,
    /// A place that is the session's own.
    Private,
}

/// A job: it ends with the last handle to it, and so does everything in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct JobPlan {
    /// Everything in it ends when it is closed.
    pub kill_on_close: bool,
    /// Nothing in it may leave it.
    pub no_breakaway: bool,
    /// How many processes at once.
    pub active_processes: Option<u32>,
    /// Memory of all processes together, in bytes.
    pub job_memory: Option<u64>,
    /// Processor time of all processes together, in seconds.
    pub cpu_seconds: Option<u64>,
    /// What of the user interface is closed to it.
    pub ui_limits: Vec<UiLimit>,
}

/// Something of the user interface that is closed to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum UiLimit {
    /// Making and switching desktops.
    Desktop,
    /// Changing the display.
    DisplaySettings,
    /// Logging off, shutting down.
    ExitWindows,
    /// Global atoms.
    GlobalAtoms,
    /// Windows and hooks of others.
    Handles,
    /// Reading the clipboard.
    ReadClipboard,
    /// Writing the clipboard.
    WriteClipboard,
    /// Changing the system's parameters.
    SystemParameters,
}

impl UiLimit {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Desktop,
        Self::DisplaySettings,
        Self::ExitWindows,
        Self::GlobalAtoms,
        Self::Handles,
        Self::ReadClipboard,
        Self::WriteClipboard,
        Self::SystemParameters,
    ];
}

/// What the command inherits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum HandlePlan {
    /// Its three standard handles, by list: nothing else, whatever else is inheritable.
    StandardOnly,
}

/// Where the windows of a command are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DesktopPlan {
    /// On a desktop of its own, so that it cannot send messages to the windows of the user.
    Private,
}
