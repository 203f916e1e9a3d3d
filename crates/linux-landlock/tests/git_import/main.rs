//! What comes back from a private git directory, tried with the real git on both sides.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test ends where its assumption fails"
)]

mod conflicts;
mod head_tricks;
mod honest;
mod layouts;
mod objects;
mod overlay;
mod planted;
mod races;
mod refs;
mod staged;
mod world;
