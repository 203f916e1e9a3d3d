//! The handler layer against real sandboxes and people who follow a script.
#![cfg(all(target_os = "linux", feature = "linux-landlock"))]
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test ends where its assumption fails, and says why it was skipped"
)]

mod contained;
mod defaults;
mod execute;
mod host;
mod orchestrator;
mod real_tool;
mod stage;
mod table;
