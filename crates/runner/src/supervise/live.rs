//! Output for those who look on.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::sync::mpsc::OwnedPermit;
use tokio::sync::mpsc::error::{SendError, TrySendError};

use crate::capture::{Chunk, Stream};
use crate::launch::Live;

type Reservation = Pin<Box<dyn Future<Output = Result<OwnedPermit<Chunk>, SendError<()>>> + Send>>;

/// A chunk that found the queue full, and its place in the line.
pub(super) struct Held {
    chunk: Chunk,
    place: Option<Reservation>,
}

/// What became of bytes that were offered.
pub(super) enum Offered {
    /// They were taken, or nobody wants them.
    Done,
    /// The queue is full.
    Full(Held),
}

/// Offers bytes to whoever looks on. The buffer can be kept by them, and is empty afterwards.
pub(super) fn offer(live: &mut Live, stream: Stream, buffer: &mut Vec<u8>) -> Offered {
    match live {
        Live::Nobody => {}
        Live::Call(call) => {
            let chunk = Chunk::new(stream, std::mem::take(buffer));
            call(&chunk);
            *buffer = chunk.bytes;
        }
        Live::Queue(queue) => {
            // Where the buffer is mostly full, giving it away is cheaper than a copy.
            let bytes = if buffer.len() >= buffer.capacity() / 2 {
                let fresh = Vec::with_capacity(buffer.capacity());
                std::mem::replace(buffer, fresh)
            } else {
                buffer.as_slice().to_vec()
            };
            match queue.try_send(Chunk::new(stream, bytes)) {
                Ok(()) => {}
                // Nobody looks on any more; the capture goes on.
                Err(TrySendError::Closed(_)) => *live = Live::Nobody,
                Err(TrySendError::Full(chunk)) => {
                    buffer.clear();
                    return Offered::Full(Held::new(chunk));
                }
            }
        }
    }
    buffer.clear();
    Offered::Done
}

impl Held {
    pub(super) const fn new(chunk: Chunk) -> Self {
        Self { chunk, place: None }
    }

    /// Ready when the chunk was taken, or nobody looks on any more.
    pub(super) fn poll(&mut self, live: &mut Live, cx: &mut Context<'_>) -> Poll<()> {
        let Live::Queue(queue) = live else {
            return Poll::Ready(());
        };
        let place = self
            .place
            .get_or_insert_with(|| Box::pin(queue.clone().reserve_owned()));
        match place.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(permit)) => {
                let empty = Chunk::new(self.chunk.stream, Vec::new());
                permit.send(std::mem::replace(&mut self.chunk, empty));
                Poll::Ready(())
            }
            Poll::Ready(Err(_)) => {
                *live = Live::Nobody;
                Poll::Ready(())
            }
        }
    }
}
