//! Seatbelt's own question: whether a process is in a sandbox.

use std::ffi::{c_char, c_int};
use std::ptr;

unsafe extern "C" {
    /// Part of the system's library, with no header: with no operation and no filter it says whether a process is in a
    /// sandbox at all. It takes more arguments where a filter does.
    fn sandbox_check(pid: libc::pid_t, operation: *const c_char, filter: c_int, ...) -> c_int;
}

/// Whether this process is in a sandbox, in which no other can be made.
pub(crate) fn this_process_is_confined() -> bool {
    // SAFETY: no operation and no filter are given, so no further argument is read.
    let answer = unsafe { sandbox_check(libc::getpid(), ptr::null(), 0) };
    answer != 0
}
