//! Handlers of signals, which no safe interface offers.

#![expect(
    unsafe_code,
    reason = "handlers of signals are C functions, and their table is the process's"
)]

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

/// Where the handler writes; negative if nowhere.
static BELL: AtomicI32 = AtomicI32::new(-1);

/// Has the handler write there. The descriptor must not block, and must stay open until another call.
pub(super) fn ring_at(bell: Option<&OwnedFd>) {
    BELL.store(bell.map_or(-1, |bell| bell.as_raw_fd()), Ordering::SeqCst);
}

extern "C" fn ring(signal: libc::c_int) {
    let bell = BELL.load(Ordering::SeqCst);
    let Ok(byte) = u8::try_from(signal) else {
        return;
    };
    if bell < 0 {
        return;
    }
    let errno = errno_place();
    // SAFETY: the place of this thread's errno is valid while the thread runs. `write` may be called in a handler; it gets
    // one byte that is there, and a descriptor that does not block. Whoever was interrupted finds errno as it was.
    unsafe {
        let before = *errno;
        libc::write(bell, ptr::from_ref(&byte).cast(), 1);
        *errno = before;
    }
}

fn errno_place() -> *mut libc::c_int {
    #[cfg(target_os = "linux")]
    // SAFETY: it takes nothing and returns the address of this thread's errno.
    unsafe {
        libc::__errno_location()
    }
    #[cfg(not(target_os = "linux"))]
    // SAFETY: it takes nothing and returns the address of this thread's errno.
    unsafe {
        libc::__error()
    }
}

/// Catches a signal, unless it is ignored; whether it does.
pub(super) fn catch(signal: i32) -> bool {
    let mut now = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: no new action is given, so nothing changes; the old one is written to a structure of the right type.
    if unsafe { libc::sigaction(signal, ptr::null(), now.as_mut_ptr()) } != 0 {
        return false;
    }
    // SAFETY: the call succeeded, so it filled the structure.
    if unsafe { now.assume_init() }.sa_sigaction == libc::SIG_IGN {
        return false;
    }
    let handler: extern "C" fn(libc::c_int) = ring;
    set(signal, handler as libc::sighandler_t)
}

/// Has a signal do what it does by itself.
pub(super) fn release(signal: i32) {
    set(signal, libc::SIG_DFL);
}

fn set(signal: i32, action: libc::sighandler_t) -> bool {
    // SAFETY: a structure of zeroes is valid; the mask is filled in place; the handler does only what handlers may do. Calls
    // that are interrupted begin anew, but for those that wait, which are asked again by whoever waits.
    unsafe {
        let mut new: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = action;
        new.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&raw mut new.sa_mask);
        libc::sigaction(signal, &raw const new, ptr::null_mut()) == 0
    }
}
