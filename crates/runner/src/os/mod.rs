//! Processes: a child in a session of the sandbox, or a bare one; terminals; ending a tree.
//!
//! Nothing here waits but [`ConfinedSession::open`] and [`ConfinedSession::end`]: whoever watches a process polls its
//! status descriptor, and asks again when that is readable.
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod bare;
#[cfg(unix)]
mod confined;
mod order;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod pty;
#[cfg(unix)]
mod stdio;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod sys;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

#[cfg(unix)]
pub(crate) use confined::ConfinedSession;
pub(crate) use order::{JudgedFile, Order};
#[cfg(unix)]
pub(crate) use process::{Process, bare_enforcement, spawn_bare};
#[cfg(unix)]
pub(crate) use pty::Pty;
#[cfg(unix)]
pub(crate) use stdio::{Stdio, null, pipe_from_child, pipe_to_child};
