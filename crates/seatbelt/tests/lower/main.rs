//! What policies come to on macOS: profiles as text, and what paths cannot do to them.
#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]
#![cfg(unix)]

mod hostile;
mod refusals;
mod report;
mod snapshots;
mod support;
