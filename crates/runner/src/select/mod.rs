//! Which sandbox a run gets, and how a command is wrapped for it.
//!
//! [`SandboxManager`] knows which mechanism works on this host. It says which one a policy and a tool want
//! ([`select_initial`](SandboxManager::select_initial)), and turns a command into one that any program can spawn
//! ([`transform`](SandboxManager::transform)). Both fail closed: a sandbox that is wanted and does not work is an error,
//! and so is one that cannot be wrapped around a command. Nothing here turns *wanted* into *none*.

mod manager;
#[cfg(all(any(target_os = "macos", test), unix, feature = "seatbelt"))]
mod seatbelt;
mod transform;

pub use manager::{SandboxManager, platform_sandbox};
