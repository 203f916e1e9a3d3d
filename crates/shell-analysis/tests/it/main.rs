//! Tests of the public interface, one module per claim.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail the way tests do"
)]

mod bypass;
// The shells are those of Unix, and so is the way in which programs are recorded.
#[cfg(unix)]
mod differential;
mod laws;
mod limits;
mod mentions;
mod plain;
mod render;
mod snapshots;
