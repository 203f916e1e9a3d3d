//! A stream that a thread writes, one piece at a time.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;

use super::sys;
use crate::launch::Descriptor;

/// The most that is written at once.
const WRITE: usize = 64 * 1024;

/// A stream that is written.
#[derive(Debug)]
pub(in crate::supervise) struct Writer {
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
    turn: Turn,
    /// Nothing more comes.
    abandoned: bool,
    waker: Option<Waker>,
}

/// Whose turn it is.
#[derive(Debug, Default)]
enum Turn {
    /// Ours: there is nothing to write.
    #[default]
    Idle,
    /// The thread's.
    Write(Vec<u8>),
    /// The thread is at it.
    Writing,
    /// Ours: this came of it.
    Done(io::Result<usize>),
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing under the lock leaves it half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer {
    pub(super) fn new(handle: Descriptor) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("palisade-writer".to_owned())
            .spawn(move || write_all(File::from(handle), &theirs))?;
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

    /// Writes once; ready when that is done. Until then it is asked with the same bytes.
    pub(super) fn poll(&self, cx: &Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.shared.lock();
        match std::mem::take(&mut state.turn) {
            Turn::Done(result) => return Poll::Ready(result),
            Turn::Idle => {
                let piece = bytes.get(..WRITE).unwrap_or(bytes);
                state.turn = Turn::Write(piece.to_vec());
                self.shared.changed.notify_all();
            }
            turn => state.turn = turn,
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

fn write_all(mut file: File, shared: &Shared) {
    loop {
        let waits = |state: &mut State| !matches!(state.turn, Turn::Write(_)) && !state.abandoned;
        let waited = shared.changed.wait_while(shared.lock(), waits);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.abandoned {
            return;
        }
        let Turn::Write(bytes) = std::mem::replace(&mut state.turn, Turn::Writing) else {
            continue;
        };
        drop(state);
        let wrote = file.write_all(&bytes).map(|()| bytes.len());
        let mut state = shared.lock();
        state.turn = Turn::Done(wrote);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.abandoned = true;
        let hangs = matches!(state.turn, Turn::Writing);
        drop(state);
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take().filter(|_| hangs) {
            sys::call_back(&thread);
        }
    }
}
