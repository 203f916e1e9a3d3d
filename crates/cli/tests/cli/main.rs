//! `palisade` as people call it: the real program, real sandboxes, real terminals.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test ends where its assumption fails, and says what it skips"
)]

mod ask;
mod book;
#[cfg(unix)]
mod events;
mod first;
mod first;
#[cfg(unix)]
mod judge;
#[cfg(unix)]
mod looked;
mod policy;
mod run;
#[cfg(unix)]
mod sh;
mod support;
mod support;
mod terminal;
#[cfg(unix)]
mod told;
mod why;
