//! The Windows sandbox: one policy, lowered to a restricted token, access lists and a job.

pub mod acl;
#[cfg(windows)]
mod apply;
pub mod command_line;
pub mod host;
pub mod journal;
mod lower;
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
