//! Raw system calls: the only unsafe code of these tests.
#![expect(unsafe_code, reason = "system calls by their number")]

use std::io;

/// Makes a call that no library wraps.
pub(crate) fn call(number: u32, args: [u64; 6]) -> io::Result<()> {
    let [a, b, c, d, e, f] = args;
    // SAFETY: `calls::HARMLESS` has no pointers but null and invalid ones, which the kernel refuses.
    let result = unsafe { libc::syscall(i64::from(number), a, b, c, d, e, f) };
    match result {
        -1 => Err(io::Error::last_os_error()),
        // A socket or a pair of them would stay open; the probe ends soon.
        _ => Ok(()),
    }
}
