//! The runner: decides whether a command may run, asks where it must, runs it in its sandbox, and tells the truth about
//! how that ended.
//!
//! It joins the two questions that the crates below it answer apart: **may it run?** (`palisade-exec-policy`) and **what
//! can it touch?** (`palisade-policy`, and a backend that the kernel enforces). Programs that only want to run commands
//! use the crate `palisade`, which is the small front of this one.
//!
//! ```standalone_crate
//! use std::process::ExitCode;
//!
//! use palisade_runner::approve::NoPrompter;
//! use palisade_runner::exec_policy::AskForApproval;
//! use palisade_runner::host::dispatch;
//! use palisade_runner::judge::RuleBook;
//! use palisade_runner::outcome::Outcome;
//! use palisade_runner::session::{Error, Policy, Sandbox};
//!
//! fn main() -> ExitCode {
//!     // Started as the helper of a sandbox, this program is one.
//!     if let Some(code) = dispatch(std::env::args_os()) {
//!         return code;
//!     }
//! #   if cfg!(all(target_os = "linux", feature = "linux-landlock")) {
//!     run().unwrap();
//! #   }
//!     ExitCode::SUCCESS
//! }
//!
//! fn run() -> Result<(), Error> {
//! #   let root = tempfile::tempdir_in("/var/tmp").unwrap();
//! #   let root = root.path();
//!     let policy = Policy::workspace(root).approval(AskForApproval::OnRequest);
//!     let session = Sandbox::probe(policy)?.session(RuleBook::builtin()?, NoPrompter)?;
//!
//!     let run = session.script("echo kept > note; cat note").output_blocking()?;
//!     assert_eq!(run.outcome, Outcome::Exited { code: 0 });
//!     assert_eq!(run.output.stdout.text(), "kept\n");
//!
//!     // What the sandbox denies is told with the clause, and with the smallest grant that would change it.
//!     let run = session.command("touch").arg("/usr/palisade-was-here").output_blocking()?;
//!     let Outcome::Denied { evidence, .. } = &run.outcome else { panic!("{run}") };
//!     assert!(evidence[0].to_string().contains("a grant to write /usr"));
//!
//!     // What the rules forbid does not run at all.
//!     assert!(matches!(session.script("rm -rf /").output_blocking(), Err(Error::Refused(_))));
//!     Ok(())
//! }
//! ```
//!
//! # Terms
//!
//! - **Host**: this machine and its user, as values, read when asked ([`host`]).
//! - **Requirement**: what has to happen before a command runs: nothing, a question, or it never runs ([`judge`]).
//! - **Prompter**: who puts a question to a person ([`approve`]). A question that nobody answers is a no.
//! - **Purpose**: what an approval is for: to run where the policy says, or to run without the sandbox. One never stands
//!   for the other.
//! - **Placed**: the sandbox that an attempt runs in, or none ([`launch::Placed`]).
//! - **Attempt**: one run of a command; after a denial, somebody may agree to another one ([`attempt`]).
//! - **Outcome**: how a run ended ([`outcome::Outcome`]), with its output and what was enforced.
//! - **Evidence**: what says that the sandbox is why a command failed ([`evidence`]): the oracle, never words alone.
//! - **Claim**: what a run announces about its workspace while it lasts ([`workspace`]).
//! - **Grant**: something added to a policy, for a run, a session or a project.
//!
//! # Folders
//!
//! Each knows only those before it.
//!
//! | folder | what it does |
//! |---|---|
//! | [`host`] | this host and its user, as a value; the call that makes a program its own helper |
//! | [`environment`] | the environment of a command, always rebuilt |
//! | [`program`] | which file a name means, and whether it is still that file |
//! | [`config`] | every file of the pure crates: layers, includes, trust, kept approvals and grants |
//! | `os` | processes, in a session of the sandbox or bare; terminals; ending a tree |
//! | [`capture`] | what a command wrote, in bounded memory |
//! | [`supervise`] | a machine from events to actions, driven by poll(2) or by tokio |
//! | [`outcome`] | how a run ended |
//! | [`evidence`] | why a command failed |
//! | [`launch`] | host, place and command to an outcome |
//! | [`workspace`] | who else runs on this workspace |
//! | [`judge`] | command to requirement |
//! | [`approve`] | prompts, caches, keys |
//! | [`select`] | which sandbox; command lines for those who own the spawning |
//! | [`attempt`] | first attempt, narrower retry, retry without sandbox |
//! | [`session`] | what the facade shows |
//! | [`executor`], [`handler`] | two older vocabularies over the same |
//! | [`files`], [`patch`] | guarded access to files for edit tools, and unified diffs |
//! | [`audit`] | what happened, for those who look later |
//!
//! # Non-goals
//!
//! - It prints nothing, ends no process of yours, handles no signal, and reads the environment only in [`host`], when
//!   asked.
//! - It is no shell and no terminal: it starts what it is told, and shows what came of it to whoever asks.
//! - It enforces nothing by itself. What holds is what the backend's report says.
//! - It has no opinion of its own about commands: `palisade_exec_policy::decide` has.

pub mod approve;
pub mod attempt;
pub mod audit;
pub mod capture;
pub mod config;
pub mod egress;
pub mod environment;
pub mod evidence;
pub mod executor;
pub mod files;
pub mod handler;
pub mod host;
pub mod judge;
pub mod launch;
mod os;
pub mod outcome;
pub mod patch;
pub mod program;
pub mod select;
pub mod session;
pub mod supervise;
pub mod workspace;

/// The rules and the decision, for those who depend on this crate alone.
pub use palisade_exec_policy as exec_policy;
/// The policy model, for those who depend on this crate alone.
pub use palisade_policy as policy;
