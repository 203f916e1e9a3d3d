//! The vocabulary of the executor over the one attempt engine.
//!
//! An [`Executor`] takes an [`ExecutionRequest`] of a tool and returns its output, or why there is none. On the way:
//!
//! 1. The command is rewritten for the user's shell where that is called for ([`shell`]), and the mode makes of it what
//!    runs ([`backend_for_mode`]).
//! 2. The configuration is copied. What changes later does not change this run.
//! 3. The rules judge it; what they forbid never runs. The `executor` preset of `palisade_exec_policy` places it, and the
//!    host's person is asked where one of the two says so ([`ExecutorSession`]).
//! 4. It runs. A denial by the sandbox is offered again: first with the smallest grant that would help, then without the
//!    sandbox.
//!
//! [`Executor::plan`] stops before anybody is asked, and [`Executor::run_with_plan`] goes on from there.
//!
//! This is the older of two vocabularies: here, a command that a person approved runs **without** a sandbox. Hosts that
//! want approved commands contained use the tool handlers or the facade.
//!
//! ```
//! use std::sync::Arc;
//!
//! use palisade_exec_policy::approvals::ApprovalEdit;
//! use palisade_exec_policy::{ApprovalPurpose, AskForApproval, ReviewDecision, WorkingBackend};
//! use palisade_policy::{AbsolutePath, CanonicalSandboxPolicy, HostFacts, Os, SandboxType, WorkspaceRoot};
//! use palisade_runner::approve::BoxFuture;
//! use palisade_runner::executor::{
//!     CommandApproval, ExecParams, ExecutionRequest, Executor, ExecutorConfig, ExecutorSession, Foundation,
//! };
//! use palisade_runner::host::Host;
//! use palisade_runner::judge::{Judge, RuleBook};
//!
//! /// A host whose person is never there.
//! struct Nobody;
//!
//! impl ExecutorSession for Nobody {
//!     fn notify_background_event<'a>(&'a self, _: &'a str, _: String) -> BoxFuture<'a, ()> {
//!         Box::pin(async {})
//!     }
//!     fn request_command_approval(&self, _: CommandApproval) -> BoxFuture<'_, Option<ReviewDecision>> {
//!         Box::pin(async { None })
//!     }
//!     fn persist_amendment(&self, _: ApprovalEdit) -> BoxFuture<'_, Result<(), String>> {
//!         Box::pin(async { Err("there is no file".to_owned()) })
//!     }
//! }
//!
//! # if cfg!(unix) {
//! let root = WorkspaceRoot::new("/srv/app")?;
//! let facts = HostFacts::new(Os::Linux).with_home(AbsolutePath::new("/home/dev")?);
//! let judge = Judge::new(RuleBook::builtin()?, root.clone(), facts.clone())?;
//! let executor = Executor::new(
//!     ExecutorConfig::new(CanonicalSandboxPolicy::workspace_write([root.clone()]), root, None),
//!     Foundation::new(
//!         Arc::new(Host::new(facts)),
//!         Arc::new(judge),
//!         WorkingBackend::new(SandboxType::LinuxLandlock),
//!     ),
//! );
//!
//! let plan = |command: &[&str]| {
//!     let params = ExecParams::new(command.iter().copied(), "/srv/app");
//!     executor.plan(ExecutionRequest::shell(params), &Nobody, AskForApproval::UnlessTrusted)
//! };
//! assert_eq!(plan(&["ls", "-l"])?.initial_sandbox(), Some(SandboxType::LinuxLandlock));
//! assert_eq!(plan(&["frob"])?.asks(), Some(ApprovalPurpose::RunUnsandboxed));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod apply_patch;
mod backend;
mod config;
mod context;
mod error;
mod executing;
mod judged;
mod normalize;
mod output;
mod plan;
mod process;
mod record;
mod request;
mod running;
mod session;
pub mod shell;
mod stream;

pub use apply_patch::ApplyPatch;
pub use backend::{ExecutionBackend, Prepared, backend_for_mode};
pub use config::{ExecutorConfig, Foundation};
pub use context::{DecisionRecorder, ExecCommandContext, NoRecorder, ToolDecisionSource};
pub use error::{
    EnvVarError, ExecError, FunctionCallError, RunError, SandboxErr, get_error_message_ui,
};
pub use executing::Executor;
pub use normalize::{NormalizedExecOutput, normalize_exec_result};
pub use output::{ExecToolCallOutput, StreamOutput};
pub use plan::ExecPlan;
pub use process::{classify, process_exec_tool_call};
pub use request::{ExecParams, ExecutionMode, ExecutionRequest};
pub use session::{CommandApproval, ExecutorSession};
pub use stream::{ExecDelta, StdoutStream};
