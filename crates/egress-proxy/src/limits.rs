//! How much, how many and how long.

use std::time::Duration;

/// What a session can make the proxy hold and wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of the head of a request or an answer.
    pub head_bytes: usize,
    /// Headers in a head.
    pub headers: usize,
    /// Bytes of a ClientHello.
    pub hello_bytes: usize,
    /// Connections that are served at a time. Two descriptors belong to each, and on Linux two more to each direction of a
    /// tunnel that carries much.
    pub connections: usize,
    /// Questions that wait at a time.
    pub questions: usize,
    /// For a whole head, SOCKS request or ClientHello, from its first byte; and for the first byte of a connection.
    pub head_time: Duration,
    /// For the addresses of a name.
    pub resolve_time: Duration,
    /// For a connection to any of the addresses of a name.
    pub connect_time: Duration,
    /// For an answer to a question about a host.
    pub approval_time: Duration,
    /// Without a byte in either direction.
    pub idle_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes: 32 * 1024,
            headers: 100,
            hello_bytes: 32 * 1024,
            connections: 256,
            questions: 16,
            head_time: Duration::from_secs(10),
            resolve_time: Duration::from_secs(10),
            connect_time: Duration::from_secs(20),
            approval_time: Duration::from_secs(120),
            idle_time: Duration::from_secs(300),
        }
    }
}
