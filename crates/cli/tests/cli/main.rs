//! `palisade` as people call it: the real program, real sandboxes, real terminals.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test ends where its assumption fails, and says what it skips"
)]

mod ask;
mod book;
mod doctor;
mod events;
mod first;
mod free;
mod judge;
mod keep;
mod looked;
mod policy;
mod run;
mod sh;
mod support;
mod terminal;
mod told;
mod verify;
mod why;
