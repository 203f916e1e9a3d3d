//! What a crate that depends on this one can build, match and compare: the shapes of `docs/checklist.md` that no other
//! test needs to spell out.

#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]

mod decisions;
mod executor;
mod handler;
