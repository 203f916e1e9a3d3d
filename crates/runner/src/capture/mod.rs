//! What a command wrote, in bounded memory.
//!
//! A [`Tape`] keeps the beginning and the end of one stream, a [`Recorder`] those of both streams and of the two
//! together. Nothing here reads, waits or knows of processes.

mod captured;
mod recorder;
mod tape;

pub use recorder::Recorder;
pub use tape::Tape;

/// One of the two streams of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a process has these two")]
pub enum Stream {
    /// Standard output; all output of a command on a terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Bytes as they arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk {
    /// Where from.
    pub stream: Stream,
    /// What.
    pub bytes: Vec<u8>,
}

impl Chunk {
    /// Bytes of a stream.
    #[must_use]
    pub const fn new(stream: Stream, bytes: Vec<u8>) -> Self {
        Self { stream, bytes }
    }
}

/// How much is kept of a stream: this much of its beginning, and this much of its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caps {
    /// Bytes of the beginning.
    pub head: usize,
    /// Bytes of the end.
    pub tail: usize,
}

impl Caps {
    /// These many bytes of the beginning and of the end.
    #[must_use]
    pub const fn new(head: usize, tail: usize) -> Self {
        Self { head, tail }
    }
}

impl Default for Caps {
    /// Half a megabyte of each.
    fn default() -> Self {
        Self::new(512 * 1024, 512 * 1024)
    }
}

/// What was kept of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Captured {
    /// The beginning.
    pub head: Vec<u8>,
    /// How many bytes are missing between the two.
    pub omitted: u64,
    /// The end; empty if nothing is missing.
    pub tail: Vec<u8>,
}

/// What was kept of everything that a command wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// Both, in the order of arrival.
    pub aggregated: Captured,
}
