//! The program's own commands, as processes.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test ends where its assumption fails, and says what it skips"
)]

mod weaker;
