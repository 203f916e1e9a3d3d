//! Signals that wait while a terminal is not as it was found.
#![expect(unsafe_code, reason = "signal masks have no safe interface here")]

use std::mem::MaybeUninit;
use std::ptr;

/// What would end this program.
const ENDING: [libc::c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGQUIT, libc::SIGHUP];

/// A signal that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    HangUp,
    Interrupt,
}

/// Signals that would end this program wait until this is dropped, so that the terminal is put back first.
#[derive(Debug)]
pub(super) struct Held {
    before: libc::sigset_t,
}

impl Held {
    pub(super) fn hold() -> Self {
        let mut ending = empty();
        let mut before = empty();
        for signal in ENDING {
            // SAFETY: the set is initialised, and the number is that of a signal.
            unsafe { libc::sigaddset(&raw mut ending, signal) };
        }
        // SAFETY: both are initialised sets of this thread's stack. It fails only for an operation that is none.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const ending, &raw mut before) };
        Self { before }
    }

    /// What waits, if anything does.
    #[expect(clippy::unused_self, reason = "nothing waits unless signals are held")]
    pub(super) fn waiting(&self) -> Option<Waiting> {
        let mut pending = empty();
        // SAFETY: writes an initialised set.
        unsafe { libc::sigpending(&raw mut pending) };
        // SAFETY: the set is initialised, and the numbers are those of signals.
        let waits = |signal| unsafe { libc::sigismember(&raw const pending, signal) == 1 };
        match ENDING.into_iter().find(|signal| waits(*signal)) {
            Some(libc::SIGHUP) => Some(Waiting::HangUp),
            Some(_) => Some(Waiting::Interrupt),
            None => None,
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: the mask that was there before; the old one is not asked for.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut())
        };
    }
}

fn empty() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initialises the set that it is given, and cannot fail.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        set.assume_init()
    }
}
