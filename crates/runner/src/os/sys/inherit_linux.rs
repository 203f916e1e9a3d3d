//! What a child would inherit and a command must not: descriptors and the meaning of signals.

use std::ptr;

use rustix::io::Errno;

use super::check;

/// Marks everything but descriptors 0-2 to be closed by exec.
pub(super) fn close_others_on_exec() -> Result<(), Errno> {
    const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;
    // SAFETY: no memory is passed; nothing is closed now.
    check(unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3_u32,
            libc::c_uint::MAX,
            CLOSE_RANGE_CLOEXEC,
        )
    })
    .map(drop)
}

/// Gives every signal its default meaning: no handler of ours runs in a child that shares our memory, and nothing that
/// this program ignores is ignored by the command.
pub(super) fn reset_dispositions() {
    // As the kernel has it: handler, flags, restorer and mask. The C library would refuse the signals that it keeps for
    // itself, which whoever started this program may have ignored.
    let default = [0_u64; 4];
    for signal in 1..=64 {
        // SAFETY: the action is as large as the kernel reads, and all zeroes is the default one; signals that cannot be
        // changed are refused, which is fine.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                ptr::null_mut::<libc::c_void>(),
                size_of::<u64>(),
            );
        }
    }
}
