//! The Windows sandbox: one policy, lowered to a restricted token, access lists and a job.
//!
//! It is for programs that run commands which nobody has read, such as a coding agent, as an ordinary user and without
//! anything installed by an administrator. The way from a policy to a running command has three stages, each made only
//! from the one before it:
//!
//! | stage | says | made by |
//! |---|---|---|
//! | [`WindowsHost`] | who the user is, and what is at the paths that the policy names | a survey, or by hand |
//! | [`Plan`] and its report | token, entries, job, handles, desktop, and what that enforces | [`WindowsToken`], on every system |
//! | a session | lists that are edited, a token that was seen to restrict, a job | on Windows only |
//!
//! Lowering is pure: what a policy comes to on another host is found out by passing that host's facts.
//!
//! ```
//! use palisade_policy::{
//!     AbsolutePath, AcceptedLosses, Backend as _, Guarantee, HostFacts, NetworkAccess, Os, PolicyContext, SandboxMode,
//!     SandboxPolicy, WorkspaceRoot,
//! };
//! use palisade_windows_token::host::{Entry, Located};
//! use palisade_windows_token::{Sid, WindowsHost, WindowsToken, private_places};
//!
//! # if cfg!(unix) {
//! let mut host = WindowsHost::new("S-1-5-21-1-2-3-1001".parse()?, "S-1-5-5-0-4242".parse()?);
//! let cwd = WorkspaceRoot::new("/srv/app")?;
//! let facts = HostFacts::new(Os::Windows).with_home(AbsolutePath::new("/home/dev")?);
//! let policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, NetworkAccess::Restricted)
//!     .to_canonical_policy(&cwd)
//!     .resolve(&PolicyContext::new(facts, cwd.clone()).with_private(private_places(&host)))?;
//!
//! // A survey would look. On this host every path that the policy names is a directory.
//! host.capabilities.insert(cwd.path().clone(), Sid::capability([1, 2, 3, 4]));
//! let guards = policy.guards().iter().filter_map(|guard| guard.matcher.path());
//! for path in guards.chain([cwd.path()]) {
//!     host.places.insert(path.clone(), Located::new(path.clone(), Entry::Directory));
//! }
//!
//! // Much is lost, and nobody gets the plan before each loss is accepted by name. The refusal prints the lines.
//! let refusal = WindowsToken.lower(&policy, &host)?.admit(&AcceptedLosses::none()).unwrap_err();
//! assert!(refusal.to_string().contains("to accept the loss: --accept-loss network\n"));
//! let losses: AcceptedLosses = refusal.losses.iter().map(|loss| loss.guarantee).collect();
//! let (plan, report) = WindowsToken.lower(&policy, &host)?.admit(&losses)?;
//! assert!(plan.to_string().contains("protected /srv/app/.git\n    deny  S-1-5-21-1-2-3-4: every change, and below\n"));
//! assert!(report.measure(Guarantee::TreeKill).is_some_and(|measure| measure.why.is_none()));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Terms
//!
//! - **Token**: who a process is. A *restricted* token is checked twice: as the user, and as its restricting identifiers
//!   alone. A *write-restricted* one is checked the second time only for writing.
//! - **Identifier** ([`Sid`]): a user, a group, a logon session, or a **capability**: one that nobody has, made for one
//!   place, and only in the token while that place is open.
//! - **Access list** ([`acl`]): what an object says about who may do what. It is read from its start, and the first
//!   **entry** that speaks of a right decides. Entries can be inherited from directories above; an object's own come first.
//! - **Place**: a directory or file that is opened: a writable root, a write grant, the session's directory for temporary
//!   files.
//! - **Pinned**: it may be written but neither removed nor moved, because something guarded is in it.
//! - **Journal** ([`journal`]): what was added to whose list, so that exactly that goes again, also after a crash.
//! - **Job**: what holds the processes of a session together; it ends, and they end.
//!
//! # Non-goals
//!
//! - It does not restrict the network or reading, hide other processes, or filter system calls: a token cannot. The report
//!   says so, and a policy that asks for it is refused unless each loss is accepted by name.
//! - It does not keep a user from deleting what lies in directories that he controls in full. That was seen on real
//!   machines; [`host::WindowsHost::second_check`] is where a host says otherwise.
//! - It guards nothing that does not exist: there is no list to put an entry in.
//! - It trusts no emulator: a token that was not seen to restrict is not used.
//! - Nothing here needs an administrator, and nothing is installed.

pub mod acl;
#[cfg(windows)]
mod apply;
pub mod command_line;
pub mod host;
pub mod journal;
mod lower;
#[cfg(feature = "model")]
pub mod model;
pub mod plan;
mod sid;
pub mod survey;
#[cfg(windows)]
mod sys;
pub mod wrapper;

#[cfg(windows)]
pub use apply::{
    Child, Command, EditError, EndError, Exit, ExitCause, JudgedProgram, LaunchError,
    SelfCheckFailure, Session, StartError, StartOptions, Started, StateError, Stdio, Usage,
    default_state_directory, start,
};
pub use host::WindowsHost;
pub use lower::{WindowsToken, private_places};
pub use plan::Plan;
pub use sid::{Sid, SidError};
