//! Sessions on the real kernel: what a command can touch, what it cannot, and what is left behind.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]

mod failures;
mod hosts;
mod leftovers;
mod limits;
mod processes;
mod roles;
mod support;
mod sys;
mod wall;
