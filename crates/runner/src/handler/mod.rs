//! The vocabulary of tool handlers over the one attempt engine.
//!
//! A tool handler describes a tool by three small traits: what it wants of the sandbox ([`Sandboxable`]), how its use is
//! approved ([`Approvable`]) and how it runs ([`ToolRuntime`]). [`run`] takes it from there: what has to happen first is
//! decided by `palisade-exec-policy`, asked of a person where it must be, and then the tool makes its attempts, each in
//! the sandbox that it is told ([`SandboxAttempt`]).
//!
//! The types of this module are views: a [`CommandSpec`] with a timeout in milliseconds, a [`SandboxType`] for display. They
//! convert into the canonical types, which alone are enforced; there is no way from a display view back to a sandbox.

mod attempt;
mod error;
mod execute;
mod orchestrate;
mod traits;
mod turn;
mod views;

pub use attempt::SandboxAttempt;
pub use error::{Denial, ToolError};
pub use execute::{DEFAULT_EXECUTE_TIMEOUT, ExecToolCallOutput, execute_env, launch_env};
pub use orchestrate::run;
pub use traits::{
    Approvable, ApprovalCtx, DecisionSource, KeepError, Sandboxable, ToolCtx, ToolEvent,
    ToolRuntime, ToolSession,
};
pub use turn::{
    Constrained, ConstraintError, TurnContext, canonical_sandbox_policy,
    to_canonical_policy_for_turn,
};
pub use views::{CommandSpec, ExecEnv, SandboxTransformError, SandboxType};
