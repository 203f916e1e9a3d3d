//! Profiles judged without a Mac: what others observed there, what the reader takes, and whether the profiles of random
//! policies say what the oracle says.
#![cfg(unix)]
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test ends where its assumption fails"
)]

mod agreement;
mod attacks;
mod disk;
mod laws;
mod network;
mod observations;
mod policies;
mod reading;
mod sequences;
mod subject;
mod system_calls;
