//! The Linux sandbox: one policy, lowered to mounts, Landlock, seccomp and limits, and enforced by the kernel.
//!
//! It is for programs that run commands which nobody has read, such as a coding agent. The way from a policy to a running
//! command has four stages, each made only from the one before it:
//!
//! | stage | says | made by |
//! |---|---|---|
//! | [`LinuxHost`] | what the kernel offers, and what is at the paths that the policy names | `survey`, or by hand |
//! | [`Plan`] and its report | what the helper is told, and what that enforces | [`LinuxLandlock`], on every system |
//! | `Session` | namespaces, mounts and rules that are set up, once | `start`, on Linux |
//! | `Child` | a command in it | `Session::spawn`, on Linux |
//!
//! Lowering is pure: what a policy comes to on another host is found out by passing that host's facts.
//!
//! ```
//! use palisade_linux_landlock::host::{Entry, LandlockSupport, Located, NamespaceSupport};
//! use palisade_linux_landlock::seccomp::Arch;
//! use palisade_linux_landlock::{LinuxHost, LinuxLandlock, Tier, private_places};
//! use palisade_policy::{
//!     AbsolutePath, AcceptedLosses, Backend as _, Guarantee, HostFacts, NetworkAccess, Os, PolicyContext,
//!     SandboxMode, SandboxPolicy, WorkspaceRoot,
//! };
//!
//! # if cfg!(unix) {
//! // What the policy comes to on a host with namespaces, and on one without.
//! let lower = |namespaces: NamespaceSupport| {
//!     let mut host = LinuxHost::new(Arch::X86_64, LandlockSupport::Abi(7), namespaces);
//!     let cwd = WorkspaceRoot::new("/srv/app")?;
//!     let facts = HostFacts::new(Os::Linux).with_home(AbsolutePath::new("/home/dev")?).with_uid(1000);
//!     let policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, NetworkAccess::Restricted)
//!         .to_canonical_policy(&cwd)
//!         .resolve(&PolicyContext::new(facts, cwd).with_private(private_places(&host)))?;
//!
//!     // A survey would look. On this host every path that the policy names is a directory.
//!     let named = policy.roots().iter().map(|root| &root.root).chain(policy.private());
//!     for path in named.chain(policy.guards().iter().filter_map(|guard| guard.matcher.path())) {
//!         host.places.entries.insert(path.clone(), Located::new(path.clone(), Entry::Directory));
//!     }
//!     Ok::<_, Box<dyn std::error::Error>>(LinuxLandlock.lower(&policy, &host)?)
//! };
//!
//! let (plan, report) = lower(NamespaceSupport::Works)?.admit(&AcceptedLosses::none())?;
//! assert_eq!(plan.tier, Tier::Full);
//! assert!(plan.to_string().contains("protect   /srv/app/.git"));
//! assert!(plan.to_string().contains("mask      /home/dev/.ssh/"));
//! assert!(report.to_string().starts_with("writes-outside: enforced (read-only mounts, Landlock)\n"));
//!
//! // Without namespaces some guarantees are lost, and nobody gets the plan before they are accepted by name.
//! let refused = || NamespaceSupport::Refused { why: "switched off".to_owned(), cure: None };
//! assert!(lower(refused())?.admit(&AcceptedLosses::none()).is_err());
//! let losses = [Guarantee::ProtectedPaths, Guarantee::MetadataOutside, Guarantee::ProcessIsolation];
//! let (plan, _) = lower(refused())?.admit(&losses.into_iter().collect())?;
//! assert_eq!(plan.tier, Tier::Landlock);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! On Linux, `start` does all of it for the host that it runs on:
//!
//! ```no_run
//! # #[cfg(target_os = "linux")]
//! # fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use palisade_linux_landlock::{Command, Helper, Stdio, start};
//! use palisade_policy::{
//!     AbsolutePath, AcceptedLosses, CanonicalSandboxPolicy, HostFacts, Os, PolicyContext, WorkspaceRoot,
//! };
//!
//! let cwd = WorkspaceRoot::new("/srv/app")?;
//! let facts = HostFacts::new(Os::Linux).with_home(AbsolutePath::new("/home/dev")?).with_uid(1000);
//! let policy = CanonicalSandboxPolicy::workspace_write([cwd.clone()]);
//! let helper = Helper::new("/usr/libexec/palisade-linux-sandbox");
//!
//! let started = start(&policy, &PolicyContext::new(facts, cwd), &AcceptedLosses::none(), &helper)?;
//! println!("{}", started.enforcement);
//!
//! // Commands of a session share its /tmp, its loopback and its processes.
//! let build = Command::new(["cargo", "build"], "/srv/app");
//! let exit = started.session.spawn(&build, &Stdio::null()?)?.wait()?;
//! println!("{}", exit.cause);
//! started.session.end();
//! # Ok(())
//! # }
//! # fn main() {}
//! ```
//!
//! `docs/linux-sandbox.md` explains the whole for those who judge it, `docs/launch-trace.md` lists one launch call by
//! call, and `docs/probes.md` what was tried against it.
//!
//! # Terms
//!
//! - **Host**: the machine outside the sandbox, and [`LinuxHost`], what is known about it.
//! - **Tier**: how strong the stack is that a host supports ([`Tier`], [`tier()`]): `full` with namespaces, `landlock`
//!   without.
//! - **Survey**: the look at the host, before anything is decided.
//! - **Plan**: everything that the helper has to do, as plain data ([`Plan`]). It comes with a **report**
//!   (`palisade_policy::Enforcement`): a line for each guarantee.
//! - **Step**: one thing between a plan and a running command ([`Step`]). What fails, fails at a step.
//! - **Session**: namespaces or rules that are set up once, and the commands that run in them. It ends when the caller
//!   says so, or dies, and everything in it ends with it.
//! - **Helper**: the process that the caller spawns for a session: `palisade-linux-sandbox`, or any program that calls
//!   `dispatch` first in its `main`.
//! - **Init**: the helper's child that is process 1 of the session's pid namespace. It does the mounts, gives up every
//!   capability and starts commands. In the landlock tier an ordinary process serves in its place.
//! - **Janitor**: the helper's child that makes what must exist on the host for a session, and removes it when everybody
//!   else is gone, however they went.
//! - **Placeholder**: an empty, marked directory at a guarded path that does not exist, so that a command cannot make
//!   something of its own there.
//! - **Pin**: a mount of something on itself, so that it cannot be moved or replaced.
//! - **Mask**: something empty and unreadable mounted over what must not be read.
//! - **Private place**: something that the session has of its own: `/tmp`, a layer over a cache or over `.git`.
//! - **Canary**: a directory outside, in which making a file must fail before a command is started.
//! - **Mark**: what every process of a command carries in its environment, so that ending the command ends what it left
//!   behind, and nothing of another one.
//! - **Judged program**: the file that somebody decided about, by its path and inode; it is what runs, or nothing.
//! - **Narrower**: a further rule set or filter for one command. Nothing can make a command wider than its session.
//! - **Residue**: what gets through all the same, and is documented and reported instead of denied.
//!
//! # Non-goals
//!
//! - It does not decide whether a command may run: that is `palisade-exec-policy`.
//! - It keeps no clock. A limit on time is kept by the caller, who ends the session.
//! - It reads no environment and no configuration: facts about the user arrive as values.
//! - It speaks to no other host. Where a policy lists hosts, a caller who says so ([`LinuxHost::with_proxy`]) gets a socket
//!   on the session's loopback and lets just those through, as `palisade-egress-proxy` does; otherwise there is no network,
//!   and the report says so.
//! - It does not hide that a file exists, except below a mask, and it closes no side channel of the hardware.

#[cfg(target_os = "linux")]
pub mod aftermath;
#[cfg(target_os = "linux")]
mod channel;
#[cfg(target_os = "linux")]
pub mod git_import;
pub mod host;
#[cfg(target_os = "linux")]
mod init;
#[cfg(target_os = "linux")]
mod launch;
mod lower;
#[cfg(target_os = "linux")]
mod marker;
pub mod plan;
pub mod seccomp;
pub mod step;
#[cfg(target_os = "linux")]
pub mod survey;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(all(target_os = "linux", feature = "model"))]
#[doc(hidden)]
pub mod untrusted;
#[cfg(target_os = "linux")]
mod wire;
#[cfg(target_os = "linux")]
pub mod wrapper;

#[cfg(target_os = "linux")]
pub use helper_entry::dispatch;
pub use host::LinuxHost;
#[cfg(target_os = "linux")]
pub use launch::{
    Child, Command, DirectChild, DirectLauncher, Exit, ExitCause, Explanation, GitHistory,
    GitImport, Helper, JudgedProgram, LaunchError, Session, StartError, Started, Starting, Stdio,
    Usage, begin_on, start, start_on,
};
pub use lower::{LinuxLandlock, private_places, tier};
pub use plan::{Plan, Tier};
pub use step::Step;

#[cfg(target_os = "linux")]
mod helper_entry {
    //! The one call that makes a program a helper.

    use std::ffi::OsString;
    use std::process::ExitCode;

    /// Runs the sandbox helper if these arguments ask for it, and returns what to exit with; otherwise `None` at once.
    ///
    /// Call it first in `main`, before any thread is started:
    ///
    /// ```no_run
    /// use std::process::ExitCode;
    ///
    /// fn main() -> ExitCode {
    ///     if let Some(code) = palisade_linux_landlock::dispatch(std::env::args_os()) {
    ///         return code;
    ///     }
    ///     // the program itself
    ///     ExitCode::SUCCESS
    /// }
    /// ```
    pub fn dispatch(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
        let arguments: Vec<OsString> = arguments.into_iter().collect();
        crate::init::dispatch(&arguments)
    }
}
