//! The tests of the rule language: what is read, what is refused and how, and what several files mean together.
#![cfg(unix)]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test ends where its assumption fails"
)]

mod bad_input;
mod format;
mod includes;
mod layers;
mod schema;
mod support;
mod trust;
