//! Load and faults: many commands at once and in sequence, floods, and everything that can break under a running
//! command.
//!
//! What is counted is counted in a process of its own, so that no other test is in the way.
#![cfg(all(target_os = "linux", feature = "linux-landlock"))]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends where its assumption fails"
)]
#![expect(
    clippy::print_stdout,
    reason = "a test says what it measured or skipped"
)]

mod alone;
mod counts;
mod decisions;
mod flood;
mod many;
mod records;
mod run_faults;
mod session_faults;
mod support;
mod survivors;
