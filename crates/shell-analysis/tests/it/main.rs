//! Tests of the public interface, one module per claim.

mod bypass;
mod differential;
mod laws;
mod limits;
mod mentions;
mod plain;
mod render;
mod snapshots;
