//! Unified diffs, applied all or nothing.
//!
//! ```
//! use palisade_policy::{AbsolutePath, CanonicalSandboxPolicy, HostFacts, Os, PolicyContext, WorkspaceRoot};
//! use palisade_runner::files::GuardedFiles;
//! use palisade_runner::patch::{Patch, apply};
//!
//! # if cfg!(target_os = "linux") {
//! # let stage = tempfile::Builder::new().tempdir_in("/var/tmp")?;
//! # let workspace = stage.path().canonicalize()?;
//! # std::fs::write(workspace.join("greeting"), "hello\nworld\n")?;
//! let cwd = WorkspaceRoot::new(&workspace)?;
//! let base = cwd.path().clone();
//! let policy = CanonicalSandboxPolicy::workspace_write([cwd.clone()])
//!     .resolve(&PolicyContext::new(HostFacts::new(Os::Linux).with_home(AbsolutePath::new("/home/dev")?), cwd))?;
//!
//! let patch = Patch::parse(b"--- a/greeting\n+++ b/greeting\n@@ -1,2 +1,2 @@\n hello\n-world\n+there\n")?;
//! assert_eq!(patch.paths().map(|path| path.to_string()).collect::<Vec<_>>(), ["greeting"]);
//! let applied = apply(&patch, &GuardedFiles::new(policy), &base)?;
//! assert_eq!(applied.to_string(), "M greeting\n");
//! assert_eq!(std::fs::read(workspace.join("greeting"))?, b"hello\nthere\n");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is applied
//!
//! - Plain diffs (`---`, `+++`, `@@`) and git's: new, deleted, renamed and copied files, and a changed executable bit.
//!   Binary patches, links, submodules and merges are refused. Everything is bytes.
//! - Context must match exactly. Lines may have moved: the place nearest to the one in the hunk is taken, and
//!   [`HunkPlace::offset`] says how far that was. Two places equally near are refused, and so is a hunk without any
//!   context that is not exactly in its place.
//! - `a/` and `b/` are dropped where the two sides have them, as git does. Paths are relative to the base that the
//!   caller names, and hold no `..`.
//! - Directories are made for new files. One that becomes empty stays.
//! - All sources are read before anything changes, so two files can exchange their names in one patch.
//!
//! # All or nothing
//!
//! If anything fails, every file is as before and nothing of ours is left. If the process is killed in the middle, each
//! file is either old or new, but some may be new while others are old; files named `.palisade-*.tmp` beside them hold
//! the other contents. On a file system that cannot exchange two names, one file can be missing, and its old content has
//! such a name.

mod apply;
pub mod command;
mod error;
#[cfg(test)]
mod faults;
mod model;
mod name;
mod parse;
mod place;

pub use apply::{Applied, AppliedFile, HunkPlace, apply, check};
pub use error::{Conflict, ConflictProblem, ParseError, ParseProblem, PatchError};
pub use model::{FileChange, Patch};
