//! Guarded access to files, for the edit tools of agents: the same policy as for commands, without a sandbox around it.
//!
//! An edit tool runs in the agent's own process, which nothing confines. [`GuardedFiles`] puts every access to the
//! oracle first, and then touches exactly what was judged:
//!
//! 1. Links are resolved here, one at a time; what the oracle judges is the path without links.
//! 2. The directory is opened again by that path, and the kernel refuses to follow any link on the way (`openat2`).
//!    Everything else happens by descriptor and one name, and a name that is a link is never followed.
//! 3. What was opened is compared with what was looked at. Where somebody changes the tree meanwhile, the whole is done
//!    again, and given up after a while ([`FileError::Unstable`]); it is never done half-checked.
//!
//! ```
//! use palisade_policy::{AbsolutePath, CanonicalSandboxPolicy, HostFacts, Os, PolicyContext, WorkspaceRoot};
//! use palisade_runner::files::{FileError, GuardedFiles, NewFile};
//!
//! # if cfg!(target_os = "linux") {
//! # let stage = tempfile::Builder::new().tempdir_in("/var/tmp")?;
//! # let workspace = stage.path().canonicalize()?;
//! let cwd = WorkspaceRoot::new(&workspace)?;
//! let policy = CanonicalSandboxPolicy::workspace_write([cwd.clone()])
//!     .resolve(&PolicyContext::new(HostFacts::new(Os::Linux).with_home(AbsolutePath::new("/home/dev")?), cwd))?;
//! let files = GuardedFiles::new(policy);
//!
//! let notes = AbsolutePath::new(workspace.join("notes.txt"))?;
//! files.create(&notes, b"one\n", NewFile::Plain)?;
//! files.write(&notes, b"two\n")?;
//! assert_eq!(files.read(&notes)?.bytes, b"two\n");
//!
//! let hook = AbsolutePath::new(workspace.join(".git"))?;
//! let Err(FileError::Refused(refusal)) = files.create_dir(&hook) else { panic!("git is protected") };
//! assert!(refusal.to_string().contains("is protected; a grant to write the git directory would allow it"));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is decided here
//!
//! - **Links.** A link on the way is followed, and where it leads is judged. A link at the end is followed for reading
//!   only; a write to it is refused, and removing or renaming it touches the link. A magic link of `/proc` is never
//!   followed.
//! - **Second names.** A path that reaches a guarded file or directory under another name (a hard link, a mount, a name
//!   in other letters) is judged under both. A hard link to something *below* a guarded directory cannot be told from
//!   any other: [`FileInfo::links`] says how many names a file has. Writing is by replacement, so what other names show
//!   never changes.
//! - **Replacement.** A new file takes the place of the old one by a rename, with its permissions (never setuid) and,
//!   where the system lets us, its owner; extended attributes are not taken over. Where the policy opens one file and
//!   not its directory, the file is written in place, which [`Written`] tells.
//! - **Private places.** What a session has of its own (its `/tmp`) is not the host's: from here it cannot be reached,
//!   and the host's is not touched in its place.
//! - **`/proc`** shows this process, with its environment and memory, where a command would see its own. Under a policy
//!   with a sandbox it is not read.
//! - **Special files**, such as pipes and devices, are never opened.
//!
//! # What is left
//!
//! Between the last check and the change itself, a directory can still be moved, and takes the change along. Whoever
//! moves it could write there and where it goes; nothing that was outside before is touched.

mod content;
mod error;
mod guarded;
mod judge;
mod resolve;
mod stage;
mod strength;
mod transaction;

#[cfg(not(unix))]
#[path = "directory_elsewhere.rs"]
mod directory;
#[cfg(unix)]
#[path = "directory_unix.rs"]
mod directory;

pub use content::{Content, FileInfo, FileKind, NewFile, Written};
pub use error::{FileError, FileRefusal, LinkTaken};
pub use guarded::GuardedFiles;
pub use strength::Strength;
pub(crate) use transaction::{Change, Expected, Snapshot, Step, TransactionError};
