//! Runs the commands of coding agents: decided by rules, contained by the kernel, explained to people.
//!
//! An agent wants to run a command. Palisade decides **whether it may**, **what it can touch while it runs**, asks a
//! person when it must, and offers a narrower or unsandboxed retry when a denial calls for one. This crate is the small
//! front of it: fifteen types, of which four make a sandboxed command.
//!
//! ```standalone_crate
//! use std::process::ExitCode;
//!
//! use palisade::{AskForApproval, Policy, Prompt, ReviewDecision, Rules, Sandbox};
//!
//! fn main() -> ExitCode {
//!     // First of all: this program is also the helper that sets sandboxes up.
//!     if let Some(code) = palisade::dispatch(std::env::args_os()) {
//!         return code;
//!     }
//!     agent().unwrap();
//!     ExitCode::SUCCESS
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn agent() -> Result<(), palisade::Error> {
//! #   let root = tempfile::tempdir_in("/var/tmp").unwrap();
//! #   let root = root.path();
//!     let policy = Policy::workspace(root).approval(AskForApproval::OnRequest);
//!     let sandbox = Sandbox::probe(policy)?;
//!     let session = sandbox.session(Rules::builtin()?, |_: &Prompt| ReviewDecision::Denied)?;
//!     let run = session.command("echo").arg("hello").output().await?;
//!     assert_eq!(run.output.stdout.text(), "hello\n");
//!     assert!(run.enforcement.to_string().contains("writes-outside"));
//!     Ok(())
//! }
//! ```
//!
//! Without a runtime, [`Command::output_blocking`] does the same on the calling thread. Whoever owns the spawning asks
//! [`Sandbox::wrap`] for a command line. `examples/agent_loop.rs` is an agent's loop with approvals, in forty lines.
//!
//! # Terms
//!
//! - **Policy**: what commands may touch ([`Policy`]) and when a person is asked ([`AskForApproval`]); it becomes a
//!   [`Sandbox`] on a host that can keep it.
//! - **Rules**: which commands run, ask or are refused ([`Rules`]).
//! - **Session**: commands that belong together, and share a `/tmp`, a loopback and their processes ([`Session`]).
//! - **Prompter**: who asks a person ([`Prompter`]); a function from a [`Prompt`] to a [`ReviewDecision`] is one. A prompt
//!   that nobody answers is denied.
//! - **Outcome**: how a run ended ([`Outcome`]). A denial comes with its [`Evidence`] and the smallest [`Grant`] that would
//!   allow it. Printed, a [`Finished`] run is what a model should be told.
//! - **Error**: why a command did not run at all ([`Error`]): forbidden, refused by a person, or no sandbox to run in.
//! - **Enforcement**: what holds, guarantee by guarantee. A sandbox that is weaker than its policy does not start, unless
//!   the loss was accepted by name.
//! - **Helper**: the process that sets a sandbox up: this program, if it calls [`dispatch`] first, or
//!   `palisade-linux-sandbox` beside it.
//!
//! # Non-goals
//!
//! - It reads no configuration by itself: [`runner::config`] has the files, layers and stored approvals.
//! - It is no terminal and no shell, and it prints nothing.
//! - What each part means in full is in the crates that it is made of: [`runner`], and through it [`runner::policy`] and
//!   [`runner::exec_policy`].

pub use palisade_exec_policy::{AskForApproval, ReviewDecision};
pub use palisade_policy::Grant;
/// Everything else: configuration, guarded files, the handler's and the executor's vocabularies, records; the policy
/// model and the rules as [`policy`](palisade_runner::policy) and [`exec_policy`](palisade_runner::exec_policy).
pub use palisade_runner as runner;
pub use palisade_runner::approve::{Prompt, Prompter};
pub use palisade_runner::host::dispatch;
pub use palisade_runner::judge::RuleBook as Rules;
pub use palisade_runner::outcome::{Evidence, Finished, Outcome};
pub use palisade_runner::session::{Child, Command, Error, Policy, Sandbox, Session};
