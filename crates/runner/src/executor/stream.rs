//! Output while a command runs, in bounded pieces.

use std::fmt;
use std::sync::{Arc, Mutex};

use tokio::sync::mpsc;

use crate::capture::{Chunk, Stream};
use crate::launch::Live;

/// A piece of output, with the call that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecDelta {
    /// The turn.
    pub sub_id: String,
    /// The call.
    pub call_id: String,
    /// Where from.
    pub stream: Stream,
    /// What.
    pub bytes: Vec<u8>,
}

/// Who gets output while a command runs.
///
/// Of each stream of each attempt the first [`MAX_DELTAS`](Self::MAX_DELTAS) pieces are sent, whatever the command
/// writes; what comes later is captured and no longer sent. A queue that is full makes the command wait, so it has to be
/// read while the command runs, not afterwards.
#[derive(Clone)]
pub struct StdoutStream {
    sub_id: String,
    call_id: String,
    to: Receiver,
}

#[derive(Clone)]
enum Receiver {
    Queue(mpsc::Sender<ExecDelta>),
    Call(Arc<Mutex<dyn FnMut(ExecDelta) + Send>>),
}

impl StdoutStream {
    /// How many pieces of one stream are sent at most.
    pub const MAX_DELTAS: usize = 10_000;

    /// Into a queue. Where it is full, the command waits; where nobody reads any more, the rest is only captured.
    pub fn queue(
        sub_id: impl Into<String>,
        call_id: impl Into<String>,
        queue: mpsc::Sender<ExecDelta>,
    ) -> Self {
        Self {
            sub_id: sub_id.into(),
            call_id: call_id.into(),
            to: Receiver::Queue(queue),
        }
    }

    /// Into a function, which is called where the run is driven and must not wait.
    pub fn call(
        sub_id: impl Into<String>,
        call_id: impl Into<String>,
        function: impl FnMut(ExecDelta) + Send + 'static,
    ) -> Self {
        Self {
            sub_id: sub_id.into(),
            call_id: call_id.into(),
            to: Receiver::Call(Arc::new(Mutex::new(function))),
        }
    }

    /// The two ends for one attempt: what the launch feeds, and what has to be driven beside it.
    pub(super) fn attach(&self) -> (Live, Option<Forward>) {
        let mut counted = Counted::default();
        let (sub_id, call_id) = (self.sub_id.clone(), self.call_id.clone());
        match &self.to {
            Receiver::Call(function) => {
                let function = Arc::clone(function);
                let call = move |chunk: &Chunk| {
                    if let Some(delta) = counted.next(&sub_id, &call_id, chunk) {
                        // A function that panicked once is not called again; the capture has everything.
                        if let Ok(mut function) = function.lock() {
                            function(delta);
                        }
                    }
                };
                (Live::Call(Box::new(call)), None)
            }
            Receiver::Queue(queue) => {
                let (sender, chunks) = mpsc::channel(1);
                let forward = Forward {
                    counted,
                    chunks,
                    queue: queue.clone(),
                    sub_id,
                    call_id,
                };
                (Live::Queue(sender), Some(forward))
            }
        }
    }
}

impl fmt::Debug for StdoutStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdoutStream")
            .field("sub_id", &self.sub_id)
            .field("call_id", &self.call_id)
            .finish_non_exhaustive()
    }
}

/// What carries pieces from a launch to the queue of a host.
pub(super) struct Forward {
    counted: Counted,
    chunks: mpsc::Receiver<Chunk>,
    queue: mpsc::Sender<ExecDelta>,
    sub_id: String,
    call_id: String,
}

impl Forward {
    /// Until the launch has no more. What may not be sent, or has no reader, is taken and dropped: a command never
    /// waits for somebody who left.
    pub(super) async fn run(mut self) {
        while let Some(chunk) = self.chunks.recv().await {
            if let Some(delta) = self.counted.next(&self.sub_id, &self.call_id, &chunk) {
                let _gone = self.queue.send(delta).await;
            }
        }
    }
}

/// How many pieces of each stream were sent.
#[derive(Debug, Default)]
struct Counted {
    stdout: usize,
    stderr: usize,
}

impl Counted {
    fn next(&mut self, sub_id: &str, call_id: &str, chunk: &Chunk) -> Option<ExecDelta> {
        let sent = match chunk.stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        if *sent >= StdoutStream::MAX_DELTAS {
            return None;
        }
        *sent += 1;
        Some(ExecDelta {
            sub_id: sub_id.to_owned(),
            call_id: call_id.to_owned(),
            stream: chunk.stream,
            bytes: chunk.bytes.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(stream: Stream) -> Chunk {
        Chunk::new(stream, b"x".to_vec())
    }

    #[test]
    fn a_stream_sends_ten_thousand_deltas_and_no_more_and_each_stream_counts_alone() {
        let seen = Arc::new(Mutex::new((0usize, 0usize)));
        let counter = Arc::clone(&seen);
        let stream = StdoutStream::call("turn", "call", move |delta| {
            let mut seen = counter.lock().unwrap();
            match delta.stream {
                Stream::Stdout => seen.0 += 1,
                Stream::Stderr => seen.1 += 1,
            }
        });
        let (Live::Call(mut call), None) = stream.attach() else {
            panic!("a function is called directly");
        };
        for _ in 0..StdoutStream::MAX_DELTAS + 5 {
            call(&chunk(Stream::Stdout));
        }
        for _ in 0..3 {
            call(&chunk(Stream::Stderr));
        }
        assert_eq!(*seen.lock().unwrap(), (10_000, 3));
    }

    #[tokio::test]
    async fn a_queue_gets_each_delta_with_its_call_and_stops_at_the_cap() {
        let (sender, mut queue) = mpsc::channel(8);
        let (Live::Queue(launch), Some(forward)) =
            StdoutStream::queue("turn", "call", sender).attach()
        else {
            panic!("a queue is forwarded");
        };
        let forward = tokio::spawn(forward.run());
        let feed = tokio::spawn(async move {
            for _ in 0..StdoutStream::MAX_DELTAS + 5 {
                launch.send(chunk(Stream::Stdout)).await.unwrap();
            }
        });
        let mut count = 0;
        while let Some(delta) = queue.recv().await {
            assert_eq!((&*delta.sub_id, &*delta.call_id), ("turn", "call"));
            count += 1;
        }
        feed.await.unwrap();
        forward.await.unwrap();
        assert_eq!(count, StdoutStream::MAX_DELTAS);
    }

    #[tokio::test]
    async fn a_reader_who_left_does_not_make_the_command_wait() {
        let (sender, queue) = mpsc::channel(1);
        drop(queue);
        let (Live::Queue(launch), Some(forward)) = StdoutStream::queue("t", "c", sender).attach()
        else {
            panic!("a queue is forwarded");
        };
        let forward = tokio::spawn(forward.run());
        for _ in 0..100 {
            launch.send(chunk(Stream::Stderr)).await.unwrap();
        }
        drop(launch);
        forward.await.unwrap();
    }
}
