//! What is concluded from what failed commands wrote.
#![cfg(all(target_os = "linux", feature = "linux-landlock"))]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test ends where its assumption fails, and says what it skips"
)]

mod live;
mod rules;
mod stage;
mod table;
