//! Processes: a child in a session of the sandbox, or a bare one; terminals; ending a tree.
//!
//! Nothing here waits but [`ConfinedSession::open`] and [`ConfinedSession::end`]: whoever watches a process polls its
//! status descriptor, and asks again when that is readable.
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod bare;
mod confined;
mod order;
#[cfg_attr(windows, path = "windows/process.rs")]
mod process;
#[cfg_attr(windows, path = "windows/pty.rs")]
mod pty;
#[cfg_attr(windows, path = "windows/stdio.rs")]
mod stdio;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod sys;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
#[cfg(windows)]
mod windows;

pub(crate) use confined::ConfinedSession;
#[cfg(all(target_os = "linux", feature = "linux-landlock"))]
pub(crate) use confined::helper_ahead;
pub(crate) use order::{JudgedFile, Order};
pub(crate) use process::{CONTINUE, HANG_UP, Process, TERMINATE, bare_enforcement, spawn_bare};
pub(crate) use pty::Pty;
#[cfg(unix)]
pub(crate) use stdio::apart;
pub(crate) use stdio::{Stdio, never_block, null, pipe_from_child, pipe_to_child};
