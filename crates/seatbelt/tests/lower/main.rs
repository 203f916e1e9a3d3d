//! What policies come to on macOS: profiles as text, and what paths cannot do to them.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]

mod hostile;
mod refusals;
mod report;
mod snapshots;
mod support;
