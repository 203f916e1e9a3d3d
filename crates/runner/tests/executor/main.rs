//! The executor, with real commands in the real sandbox. Only the host of the executor is made up.
#![cfg(all(target_os = "linux", feature = "linux-landlock"))]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends where its assumption fails"
)]

mod approvals;
mod denials;
mod patches;
mod records;
mod streams;
mod support;
mod timing;
