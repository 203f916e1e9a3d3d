//! Attempts to break out, to be approved for something else, or to make the runner decide about itself: on the real
//! kernel, each with the promise that it would break.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]

mod executing;
mod forged;
mod reach;
mod reused;
mod support;
mod survivors;
mod swapped;
