//! The Linux sandbox: one policy, lowered to mounts, Landlock, seccomp and limits, and enforced by the kernel.
//!
//! # Terms
//!
//! - **Tier**: how strong the stack is that a host supports ([`Tier`]).
//!
//! # Non-goals
//!
//! - It does not decide whether a command may run: that is `palisade-exec-policy`.

#[cfg(target_os = "linux")]
pub mod git_import;
pub mod host;
#[cfg(target_os = "linux")]
mod init;
#[cfg(target_os = "linux")]
mod launch;
mod lower;
pub mod plan;
pub mod seccomp;
#[cfg(target_os = "linux")]
mod survey;
#[cfg(target_os = "linux")]
mod sys;

pub use host::LinuxHost;
pub use plan::{Plan, Tier};
