//! Tests of the public interface, one module per claim.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail the way tests do"
)]

mod bypass;
mod differential;
mod laws;
mod limits;
mod mentions;
mod plain;
mod render;
mod snapshots;
