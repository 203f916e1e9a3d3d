//! The vocabulary of the executor over the one attempt engine.

mod apply_patch;
mod backend;
mod config;
mod context;
mod error;
mod executor;
mod judged;
mod normalize;
mod output;
mod plan;
mod process;
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
pub use executor::Executor;
pub use normalize::{NormalizedExecOutput, normalize_exec_result};
pub use output::{ExecToolCallOutput, StreamOutput};
pub use plan::ExecPlan;
pub use process::{classify, process_exec_tool_call};
pub use request::{ExecParams, ExecutionMode, ExecutionRequest};
pub use session::{CommandApproval, ExecutorSession};
pub use stream::{ExecDelta, StdoutStream};
