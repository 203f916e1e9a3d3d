//! The proxy as its clients see it, on loopback only: names and addresses are made up, and where a connection would go is
//! written down rather than gone to.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends where its assumption fails"
)]

mod allowed;
mod approvals;
mod credentials;
#[cfg(all(feature = "intercept", target_os = "linux"))]
mod opened;
mod rebinding;
mod refused;
mod smuggling;
mod stage;
mod tls;
mod tools;
mod total;
