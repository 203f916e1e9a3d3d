//! The registry is complete, and every attempt does without a sandbox what it is said to do.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test ends where its assumption fails, and says what it skips"
)]

#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod controls;
#[cfg(target_os = "linux")]
mod evidence;
mod registry;
