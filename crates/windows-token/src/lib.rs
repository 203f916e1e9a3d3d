//! The Windows sandbox: one policy, lowered to a restricted token, access lists and a job.

pub mod acl;
pub mod host;
pub mod journal;
mod lower;
#[cfg(feature = "model")]
pub mod model;
pub mod plan;
mod sid;
pub mod survey;
#[cfg(windows)]
mod sys;

pub use host::WindowsHost;
pub use lower::{WindowsToken, private_places};
pub use plan::Plan;
pub use sid::{Sid, SidError};
