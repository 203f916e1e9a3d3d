//! Sessions on the real kernel: judged, asked about, contained, watched, told the truth about.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]

mod approvals;
mod outcomes;
mod support;
mod talking;
