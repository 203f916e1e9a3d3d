//! What the sandbox denied, as the unified log tells it.
//!
//! The kernel writes a line for a denial, and what it writes is text: the name of the process, its number, the operation
//! and what it was about. Name and path are what a command likes, so a line is read as one denial or as none, never as
//! two, and never as one of which it could be said in two ways who it is about. Lines are evidence for people: they come
//! late, are merged by the system, and can be lost, so nothing is decided by them alone.
//!
//! A denial is ours by the tag that a profile has the kernel write below it, or, less surely, by the number of a process
//! that was ours at the time.

mod collect;
#[cfg(unix)]
mod log;
mod message;

pub use collect::{Attribution, Collector, Denials, OurDenial, collect};
#[cfg(unix)]
pub use log::{LOG, SystemLog, arguments};
pub use message::{Denial, Reporter};

use std::io;
use std::time::Duration;

/// Where lines of the unified log come from.
pub trait LogSource {
    /// What the sandbox wrote in the last so many seconds, one event for each line, as `--style ndjson` has them; not more
    /// than so many bytes.
    ///
    /// # Errors
    /// The log cannot be read, or not in time.
    fn last(&mut self, seconds: Duration, max_bytes: usize) -> io::Result<Vec<u8>>;
}
