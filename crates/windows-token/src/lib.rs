//! The Windows sandbox: one policy, lowered to a restricted token, access lists and a job.

pub mod acl;
pub mod host;
#[cfg(feature = "model")]
pub mod model;
pub mod plan;
mod sid;

pub use host::WindowsHost;
pub use plan::Plan;
pub use sid::{Sid, SidError};
