//! The macOS sandbox: one policy, lowered to a Seatbelt profile, and commands launched under it.
//!
//! Lowering is pure, so a plan can be made and read on any system. Applying it needs a Mac.
//!
//! ```
//! use palisade_policy::{AbsolutePath, Backend as _, CanonicalSandboxPolicy, HostFacts, Os, PolicyContext, WorkspaceRoot};
//! use palisade_seatbelt::host::{Entry, Located, SandboxExec};
//! use palisade_seatbelt::{MacHost, Seatbelt, private_places, survey};
//!
//! # if cfg!(unix) {
//! // A Mac on which all that the policy names exists; `survey::look` finds the facts of a real one.
//! let mut host = MacHost::new(SandboxExec::Works);
//! let cwd = WorkspaceRoot::new("/Users/dev/app")?;
//! let facts = HostFacts::new(Os::Macos).with_home(AbsolutePath::new("/Users/dev")?);
//! let context = PolicyContext::new(facts, cwd.clone()).with_private(private_places(&host));
//! let policy = CanonicalSandboxPolicy::workspace_write_no_sensitive_blocking([cwd]).resolve(&context)?;
//! for path in survey::paths(&policy) {
//!     host.places.insert(path.clone(), Located::new(path, Entry::Directory));
//! }
//!
//! let lowered = Seatbelt.lower(&policy, &host)?;
//! assert!(lowered.preview().contains("(deny file-write-create file-write-unlink\n  (literal (param \"ROOT_0\"))"));
//! assert!(lowered.enforcement().to_string().contains("tree-kill: detected only"));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Terms
//!
//! - **Profile**: what Seatbelt is told: rules about operations, in its own language. What no rule allows is denied.
//! - **Base**: the rules that do not depend on the policy, as commented files in `base/`.
//! - **Parameter**: a path of the host, passed beside the text of the profile, so that no path can change what it says.
//! - **Region**: a place without the deeper places that say otherwise. An allow is *carved* around what is denied inside
//!   it, and the denies follow all allows; either half alone is enough, whichever rule the kernel prefers.
//! - **Pinned**: an entry that may be written but not moved, removed or replaced, because a guarded path lies below it.
//! - **Model**: what a profile permits, by what others observed on Macs; behind the feature `model`, for tests.
//!
//! # Non-goals
//!
//! - Nothing here was run on a Mac by its authors: `docs/real-hardware.md` says what to run there, and
//!   `docs/threat-model.md` which statement rests on what.
//! - It gives a session no file system, loopback or processes of its own: macOS has no such thing for commands.
//! - It limits no resources: see the report of each plan.

pub mod apply;
pub mod denials;
pub mod host;
mod lower;
#[cfg(feature = "model")]
pub mod model;
mod plan;
pub mod profile;
pub mod survey;
#[cfg(unix)]
mod sys;
pub mod tree;

pub use host::MacHost;
pub use lower::{Seatbelt, private_places};
pub use plan::SeatbeltPlan;
pub use profile::Profile;
