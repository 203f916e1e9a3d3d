//! System calls that tests make about their own process.
#![expect(
    unsafe_code,
    reason = "what a host does to a process has no safe wrapper"
)]

use std::io;

/// Closes descriptors 0-2 of this process; whoever calls this keeps copies.
pub(crate) fn close_stdio() {
    for descriptor in 0..3 {
        // SAFETY: nobody else in this process, which has one purpose, uses them while they are closed.
        unsafe { libc::close(descriptor) };
    }
}

/// Puts this process under one more Landlock layer, which forbids nothing but to make block devices.
pub(crate) fn add_landlock_layer() -> io::Result<()> {
    const MAKE_BLOCK: u64 = 1 << 11;
    let handled = MAKE_BLOCK.to_ne_bytes();
    // SAFETY: the attribute is eight bytes that outlive the call.
    let ruleset = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            handled.as_ptr(),
            handled.len(),
            0,
        )
    };
    if ruleset < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: no memory is passed; the descriptor is ours and closed once.
    let restricted = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        let restricted = libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0);
        libc::close(i32::try_from(ruleset).unwrap_or(-1));
        restricted
    };
    match restricted {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Lets this process ignore a signal, as some callers do.
pub(crate) fn ignore(signal: i32) {
    // SAFETY: to ignore is a valid disposition for every signal that can be changed.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}
