//! The matcher: rules, the built-in ruleset, and the scored corpus.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers outside test functions fail the test that calls them"
)]

mod builtin;
mod bypass;
mod corpus;
mod readme;
mod semantics;
mod support;
