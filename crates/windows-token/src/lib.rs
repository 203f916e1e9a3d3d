//! The Windows sandbox: one policy, lowered to a restricted token, access lists and a job.

pub mod acl;
pub mod host;
pub mod plan;
mod sid;
pub mod survey;
#[cfg(windows)]
mod sys;

pub use host::WindowsHost;
pub use plan::Plan;
pub use sid::{Sid, SidError};
