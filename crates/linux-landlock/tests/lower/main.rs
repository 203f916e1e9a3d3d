//! Lowering: what becomes of policies on emulated hosts, and whether the mounts say what the oracle says.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]

mod agreement;
mod cases;
mod files;
mod policies;
mod reads;
mod refusals;
mod snapshots;
