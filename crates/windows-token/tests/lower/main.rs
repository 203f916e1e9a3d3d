//! Lowering: what becomes of policies on hosts that are made up.
#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]

mod entries;
mod refusals;
mod reports;
#[cfg(unix)]
mod snapshots;
mod token;
mod world;
