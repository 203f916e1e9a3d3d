//! Configuration read from real files: layers, includes, trust, and what several processes keep at once.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test ends where its assumption fails, and says what it skips"
)]

mod includes;
mod kept;
mod layers;
mod processes;
mod support;
mod trust;
