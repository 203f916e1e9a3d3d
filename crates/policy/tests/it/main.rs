//! The policy as its users see it: through the public interface only.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]

mod bad_input;
mod canonical;
mod command;
mod enforcement;
mod grants;
mod hosts;
mod laws;
mod mapping;
mod oracle;
mod paths;
mod snapshots;
mod support;
