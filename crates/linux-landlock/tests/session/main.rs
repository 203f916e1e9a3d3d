//! Sessions on the real kernel: what a command can touch, what it cannot, and what is left behind.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends where its assumption fails"
)]
#![expect(clippy::print_stdout, reason = "a test says what it skipped")]

mod aftermath;
mod ahead;
mod attacks;
mod caches;
mod failures;
mod found;
mod git_commit;
mod git_tools;
mod hosts;
mod leftovers;
mod limits;
mod processes;
mod proxied;
mod roles;
mod support;
mod sys;
mod terminal;
mod toolbox;
mod tools;
mod trees;
mod wall;
