//! What a sandboxed command may touch: one policy, from the two choices of a person to the plan of a kernel.
//!
//! A policy passes through four forms, each made only from the one before it:
//!
//! | form | says | made by |
//! |---|---|---|
//! | [`SandboxPolicy`] | a mode and a network access | a person |
//! | [`CanonicalSandboxPolicy`] | everything, without facts about the host | [`SandboxPolicy::to_canonical_policy`], constructors, serde |
//! | [`ResolvedPolicy`] | the same in absolute paths; it is the oracle | [`CanonicalSandboxPolicy::resolve`] |
//! | [`Lowered`] | what one kernel is told, and what that enforces | [`Backend::lower`] |
//!
//! ```
//! use palisade_policy::{
//!     AbsolutePath, Access, HostFacts, NetworkAccess, Os, PolicyContext, SandboxMode, SandboxPolicy, WorkspaceRoot,
//! };
//!
//! # if cfg!(unix) {
//! let cwd = WorkspaceRoot::new("/srv/app")?;
//! let facts = HostFacts::new(Os::Linux).with_home(AbsolutePath::new("/home/dev")?);
//! let policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, NetworkAccess::Restricted)
//!     .to_canonical_policy(&cwd)
//!     .resolve(&PolicyContext::new(facts, cwd))?;
//!
//! let says = |access| policy.permits(&access).to_string();
//! let path = |path| AbsolutePath::new(path);
//! assert_eq!(says(Access::Write(path("/srv/app/src/lib.rs")?)), "allowed: the writable root /srv/app holds it");
//! assert_eq!(
//!     says(Access::Read(path("/home/dev/.ssh/id_ed25519")?)),
//!     "denied: /home/dev/.ssh is a secret; a grant to read /home/dev/.ssh/id_ed25519 would allow it",
//! );
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Terms
//!
//! - **Path**: checked when it is made ([`AbsolutePath`], [`RelativePath`], [`WorkspaceRoot`]): normalised, without
//!   `..` and NUL, never converted lossily.
//! - **Root**: a directory that may be written. It **protects** some subpaths, such as `.git`, also while they do not
//!   exist.
//! - **Guard**: a clause that denies a path: a protected path, a secret ([`SensitivePath`]) or a denied path. A root
//!   never reopens what a guard denies; a [`Grant`] does, if it names the path.
//! - **Private place**: something the session has of its own, such as `/tmp`. What happens there never reaches the
//!   host.
//! - **Oracle**: [`ResolvedPolicy::permits`], the only place that says what a policy permits. Its [`Verdict`] names
//!   the [`Clause`] that decided.
//! - **Guarantee**: something that a policy promises. An [`Enforcement`] report says how each one is kept; a loss
//!   must be accepted by name before [`Lowered::admit`] hands out a plan.
//!
//! # How a path is judged
//!
//! The most specific clause decides, and at equal specificity a denial wins. Reading is allowed unless a guard denies
//! it; writing is denied unless a root, a private place or a grant allows it. Making, removing and renaming an entry
//! change the directory that holds it, so a root cannot remove itself, and an entry that holds a guarded path cannot
//! be moved.
//!
//! # Non-goals
//!
//! - It never looks: no files, environment, clock, processes or network. Facts about the host arrive as values
//!   ([`HostFacts`], [`PolicyContext`]); symbolic links are resolved by whoever asks.
//! - It decides what a command may touch, not whether it may run: that is `palisade-exec-policy`.
//! - It enforces nothing. Backends do, and are tested against the oracle.
#![forbid(unsafe_code)]

mod access;
mod backend;
mod canonical;
mod clients;
mod command;
mod enforcement;
mod error;
mod glob;
mod grant;
mod host;
mod limits;
mod mapping;
mod model;
mod network;
mod oracle;
mod path_matcher;
mod path_set;
mod path_spec;
mod paths;
mod raw_path;
mod resolve;
mod rules;
mod seccomp;
mod sensitive;
mod wire;

pub use access::{Access, Clause, Peer, Permission, Place, UnixAddress, Verdict};
pub use backend::{Availability, Backend, Loss, Lowered, Refusal};
pub use canonical::{CanonicalSandboxPolicy, NetworkScope};
pub use clients::{ProxyVariable, proxy_variables};
pub use command::{
    CommandSpec, Environment, ExecEnv, ExecExpiration, SandboxPermissions, SandboxTransformError,
    SandboxType,
};
pub use enforcement::{
    AcceptedLosses, Enforcement, Guarantee, Level, LimitKind, LimitLevel, Measure, UnknownGuarantee,
};
pub use error::{
    Contradiction, GlobProblem, HostError, HostProblem, LimitError, LoweringProblem, PathError,
    PathProblem, PolicyError, PolicyProblem,
};
pub use glob::{Part as GlobPart, Token as GlobToken};
pub use grant::Grant;
pub use host::{HostFacts, Os, PathCase};
pub use limits::ResourceLimits;
pub use model::{NetworkAccess, SandboxMode, SandboxPolicy};
pub use network::{HostName, HostPattern, NetworkAllowlistEntry, Protocol};
pub use path_matcher::{GlobWalk, PathMatcher};
pub use path_spec::PathSpec;
pub use paths::{AbsolutePath, RelativePath, WorkspaceRoot};
pub use resolve::{
    Guard, GuardOrigin, HomeRoot, PolicyContext, PrivatePlaces, ResolvedPolicy, Stance,
    WritableRoot,
};
pub use rules::{GitAccess, LocalAccess, LoopbackAccess, PathRules, Reopened};
pub use seccomp::{SeccompProfile, SyscallName};
pub use sensitive::SensitivePath;
