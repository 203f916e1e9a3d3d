//! The executor, with real commands in the real sandbox. Only the host of the executor is made up.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends where its assumption fails"
)]
#![cfg(all(target_os = "linux", feature = "linux-landlock"))]

mod approvals;
mod denials;
mod patches;
mod records;
mod streams;
mod support;
mod timing;
