//! What Windows offers only without guarantees: being told of an end, and calling a thread back from a read.

#![expect(
    unsafe_code,
    reason = "waits of the thread pool take a pointer; a thread is called back by its handle"
)]

use std::ffi::c_void;
use std::io;
use std::os::windows::io::{AsHandle as _, AsRawHandle as _, OwnedHandle};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::IO::CancelSynchronousIo;
use windows_sys::Win32::System::Threading::{
    INFINITE, RegisterWaitForSingleObject, UnregisterWaitEx, WT_EXECUTEONLYONCE,
};

/// Waits for the end of a process with a thread of the system.
#[derive(Debug)]
pub(in crate::supervise) struct EndWatch {
    shared: Arc<Shared>,
    /// The registration, as a number: it is only handed back.
    wait: usize,
    /// What it waits for; it must live until the registration ends.
    _handle: OwnedHandle,
}

#[derive(Debug, Default)]
struct Shared(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    ended: bool,
    waker: Option<Waker>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EndWatch {
    pub(super) fn new(handle: OwnedHandle) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let mut wait: HANDLE = ptr::null_mut();
        // SAFETY: the handle and what the pointer leads to live until the registration has ended, which `drop` waits
        // for; the function takes what it is given.
        let registered = unsafe {
            RegisterWaitForSingleObject(
                &raw mut wait,
                handle.as_handle().as_raw_handle(),
                Some(ended),
                Arc::as_ptr(&shared).cast(),
                INFINITE,
                WT_EXECUTEONLYONCE,
            )
        };
        match registered {
            0 => Err(io::Error::last_os_error()),
            _ => Ok(Self {
                shared,
                wait: wait.expose_provenance(),
                _handle: handle,
            }),
        }
    }

    /// Ready once it has ended.
    pub(super) fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.shared.lock();
        match state.ended {
            true => Poll::Ready(()),
            false => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Called by a thread of the system.
unsafe extern "system" fn ended(shared: *mut c_void, _: bool) {
    // SAFETY: it is what was registered, and lives until the registration has ended.
    let shared = unsafe { &*shared.cast_const().cast::<Shared>() };
    let mut state = shared.lock();
    state.ended = true;
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Drop for EndWatch {
    fn drop(&mut self) {
        let wait: HANDLE = ptr::with_exposed_provenance_mut(self.wait);
        // SAFETY: it was registered, and is given up once. The call returns when the function will not run any more.
        let given_up = unsafe { UnregisterWaitEx(wait, INVALID_HANDLE_VALUE) };
        if given_up == 0 {
            // The function may still run: what it looks at stays for ever.
            std::mem::forget(Arc::clone(&self.shared));
        }
    }
}

/// How long a thread that was called back may take. The call is lost where the thread was just about to ask.
const PATIENCE: Duration = Duration::from_secs(2);

/// Has a thread that hangs in a read or a write return from it, and waits until it has ended. It must end by itself
/// then.
pub(super) fn call_back(thread: &JoinHandle<()>) {
    let started = Instant::now();
    let mut pause = Duration::from_micros(100);
    while !thread.is_finished() && started.elapsed() < PATIENCE {
        // SAFETY: the handle is that of a thread, borrowed for the call. That it asks for nothing just now is no error
        // to us.
        unsafe { CancelSynchronousIo(thread.as_handle().as_raw_handle()) };
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}
