//! A stream that a thread reads ahead, a little.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;
use std::time::Duration;

use super::sys;
use crate::launch::Descriptor;

/// The most that is read at once.
const READ: usize = 64 * 1024;

/// How many reads may wait to be taken. Whoever writes more waits, as it would for a pipe.
const AHEAD: usize = 2;

/// How long the thread may take to come with what it has room for again.
const NEXT: Duration = Duration::from_millis(50);

/// A stream that is read.
#[derive(Debug)]
pub(in crate::supervise) struct Reader {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// What was read, and where the next byte of the first is.
    chunks: VecDeque<Vec<u8>>,
    taken: usize,
    /// Set at the end of the stream.
    over: Option<Result<(), io::ErrorKind>>,
    /// Whether the thread asks the system for more; otherwise it waits for room.
    asks: bool,
    /// Whether the next read is worth waiting for: the last one left no room, or was taken just now.
    hurried: bool,
    /// Nobody wants any more.
    abandoned: bool,
    waker: Option<Waker>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing under the lock leaves it half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reader {
    pub(super) fn new(handle: Descriptor) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        shared.lock().asks = true;
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("palisade-reader".to_owned())
            .spawn(move || read_all(File::from(handle), &theirs))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Gone when nobody holds the stream any more, its thread included.
    #[cfg(test)]
    pub(super) fn watch(&self) -> std::sync::Weak<impl Sized + use<>> {
        Arc::downgrade(&self.shared)
    }

    #[cfg(test)]
    pub(super) fn is_full(&self) -> bool {
        self.shared.lock().chunks.len() >= AHEAD
    }

    /// What was read, as much as the buffer has room for; nothing is the end.
    pub(super) fn poll(&self, cx: &Context<'_>, buffer: &mut Vec<u8>) -> Poll<io::Result<usize>> {
        let mut state = self.shared.lock();
        if let Some(answer) = state.take(buffer) {
            drop(state);
            self.shared.changed.notify_all();
            return Poll::Ready(answer);
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// The same when waiting is over. What the thread had no room for is waited for, for a moment.
    pub(super) fn now(&self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let mut state = self.shared.lock();
        state.hurried |= !state.asks;
        let coming =
            |state: &mut State| state.chunks.is_empty() && state.over.is_none() && state.hurried;
        let waited = self.shared.changed.wait_timeout_while(state, NEXT, coming);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        let answer = state.take(buffer);
        state.hurried = answer.is_some();
        drop(state);
        self.shared.changed.notify_all();
        answer.unwrap_or_else(|| Err(io::ErrorKind::WouldBlock.into()))
    }
}

impl State {
    fn take(&mut self, buffer: &mut Vec<u8>) -> Option<io::Result<usize>> {
        let Some(first) = self.chunks.front() else {
            return self
                .over
                .map(|over| over.map(|()| 0).map_err(io::Error::from));
        };
        let rest = first.get(self.taken..).unwrap_or_default();
        let room = buffer.capacity() - buffer.len();
        let piece = rest.get(..room).unwrap_or(rest);
        let many = piece.len();
        buffer.extend_from_slice(piece);
        self.taken += many;
        if self.taken >= first.len() {
            self.chunks.pop_front();
            self.taken = 0;
        }
        Some(Ok(many))
    }
}

fn read_all(mut file: File, shared: &Shared) {
    let mut buffer = vec![0; READ];
    loop {
        let read = file.read(&mut buffer);
        let mut state = shared.lock();
        if state.abandoned {
            return;
        }
        match read {
            // The end of a pipe, which the library tells from an error.
            Ok(0) => state.over = Some(Ok(())),
            Ok(many) => {
                let bytes = buffer.get(..many).unwrap_or_default().to_vec();
                state.chunks.push_back(bytes);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => state.over = Some(Err(error.kind())),
        }
        let over = state.over.is_some();
        let waker = state.waker.take();
        state.asks = false;
        drop(state);
        shared.changed.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
        if over {
            return;
        }
        let full = |state: &mut State| state.chunks.len() >= AHEAD && !state.abandoned;
        let waited = shared.changed.wait_while(shared.lock(), full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.abandoned {
            return;
        }
        state.asks = true;
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.abandoned = true;
        let hangs = state.asks && state.over.is_none();
        drop(state);
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take().filter(|_| hangs) {
            sys::call_back(&thread);
        }
    }
}
