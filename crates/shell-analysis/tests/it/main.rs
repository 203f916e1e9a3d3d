//! Tests of the public interface, one module per claim.
#![expect(
    missing_docs,
    reason = "test modules are described by their own first line"
)]

mod differential;
