//! A client's stream with what was read of it and not yet used.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::prompt::make_prompt;
use crate::record::Ending;

/// How much is read at a time while something is looked for.
const PIECE: usize = 4096;
/// After a refusal: how long and how much is read so that the client reads the answer rather than a reset.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 256 * 1024;

/// What a client can be at the other end of: a socket, or TLS over one.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

pub(crate) struct Client<S = TcpStream> {
    pub(crate) stream: S,
    /// Read and not used.
    pub(crate) pending: Vec<u8>,
}

/// Why something was not read.
pub(crate) enum Unread<P> {
    /// The client is gone, or was before it had said anything.
    Gone,
    /// It took too long.
    TooSlow,
    /// What was read is wrong.
    Problem(P),
}

impl Client {
    pub(crate) fn new(stream: TcpStream) -> Self {
        make_prompt(&stream);
        Self::over(stream)
    }
}

impl<S: Stream> Client<S> {
    pub(crate) const fn over(stream: S) -> Self {
        Self {
            stream,
            pending: Vec::new(),
        }
    }

    /// Waits for the first byte, and leaves it there.
    pub(crate) async fn first_byte(&mut self, time: Duration) -> Result<u8, Ending> {
        let read = self.read_with(time, |bytes| Ok::<_, ()>(bytes.first().copied()));
        read.await.map_err(|unread| match unread {
            Unread::TooSlow => Ending::Refused,
            Unread::Gone | Unread::Problem(()) => Ending::ClientGone,
        })
    }

    /// Reads until `parse` finds what it looks for, which must happen in time. `parse` bounds what is read: it must have
    /// a problem with too many bytes.
    pub(crate) async fn read_with<T, P>(
        &mut self,
        time: Duration,
        mut parse: impl FnMut(&[u8]) -> Result<Option<T>, P>,
    ) -> Result<T, Unread<P>> {
        let reading = async {
            loop {
                if let Some(found) = parse(&self.pending).map_err(Unread::Problem)? {
                    return Ok(found);
                }
                match fill(&mut self.stream, &mut self.pending).await {
                    Ok(1..) => {}
                    Ok(0) | Err(_) => return Err(Unread::Gone),
                }
            }
        };
        timeout(time, reading).await.unwrap_or(Err(Unread::TooSlow))
    }

    /// Takes bytes that were read off the front.
    pub(crate) fn consume(&mut self, count: usize) {
        self.pending.drain(..count.min(self.pending.len()));
    }

    /// A last word. The client gets to read it even if it is still sending.
    pub(crate) async fn farewell(mut self, answer: &[u8]) {
        let parting = async {
            self.stream.write_all(answer).await?;
            self.stream.shutdown().await?;
            let mut left = LINGER_BYTES;
            while left > 0 {
                self.pending.clear();
                match fill(&mut self.stream, &mut self.pending).await? {
                    0 => break,
                    count => left = left.saturating_sub(count),
                }
            }
            io::Result::Ok(())
        };
        // Whether the client listened is its own business.
        drop(timeout(LINGER, parting).await);
    }
}

/// Reads a piece more, and says how much that was.
pub(crate) async fn fill(
    stream: &mut (impl AsyncRead + Unpin),
    pending: &mut Vec<u8>,
) -> io::Result<usize> {
    pending.reserve(PIECE);
    stream.read_buf(pending).await
}
