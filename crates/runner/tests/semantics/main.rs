//! Sessions against the sentences of the design: what is recorded and traced, what no grant may open, what approvals cover,
//! how time and limits add up, who waits for whom.
#![cfg(all(target_os = "linux", feature = "linux-landlock"))]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test ends where its assumption fails, and says what it skips"
)]

mod approvals;
mod bounds;
mod cancelling;
mod claims;
mod floor;
mod git;
mod kept;
mod limits;
mod places;
mod records;
mod support;
mod traces;
mod weaker_tier;
