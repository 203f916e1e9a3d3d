//! The vocabulary of the executor over the one attempt engine.

mod apply_patch;
mod context;
mod error;
mod normalize;
mod output;
mod request;
pub mod shell;
mod stream;

pub use apply_patch::ApplyPatch;
pub use context::{DecisionRecorder, ExecCommandContext, NoRecorder, ToolDecisionSource};
pub use error::{
    EnvVarError, ExecError, FunctionCallError, RunError, SandboxErr, get_error_message_ui,
};
pub use normalize::{NormalizedExecOutput, normalize_exec_result};
pub use output::{ExecToolCallOutput, StreamOutput};
pub use request::{ExecParams, ExecutionMode, ExecutionRequest};
pub use stream::{ExecDelta, StdoutStream};
