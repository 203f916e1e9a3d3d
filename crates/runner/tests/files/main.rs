//! Guarded files and patches on a real file system: what is refused, what a race cannot do, and what the real `diff` and
//! `git` write.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends where its assumption fails"
)]
#![expect(clippy::print_stdout, reason = "a test says what it skipped")]

mod access;
mod hostile;
mod links;
mod patches;
mod races;
mod random_patches;
mod support;
