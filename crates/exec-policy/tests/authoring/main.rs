//! The tests of stored approvals, importers and the tools of policy authors.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends where its assumption fails"
)]

mod approvals;
mod import;
mod import_doubts;
mod offer;
mod propose;
mod support;
mod tools;
