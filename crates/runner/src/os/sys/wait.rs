//! The end of a child: what all systems share.

/// Whether the child stays for others to ask about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::os) enum Reap {
    /// It stays: its number means nobody else.
    Not,
    /// It is gone, if it has ended.
    Now,
    /// The same, and its end is waited for.
    Wait,
    /// Its end is waited for, and it stays.
    #[cfg(any(target_os = "macos", test))]
    WaitNot,
}

impl Reap {
    /// For waitid(2).
    pub(super) const fn options(self) -> libc::c_int {
        libc::WEXITED
            | match self {
                Self::Not => libc::WNOHANG | libc::WNOWAIT,
                Self::Now => libc::WNOHANG,
                Self::Wait => 0,
                #[cfg(any(target_os = "macos", test))]
                Self::WaitNot => libc::WNOWAIT,
            }
    }
}

/// Sends a signal to a process group. The caller knows that the number still means the one that it has in mind.
pub(in crate::os) fn signal_group(group: i32, signal: i32) {
    if group > 1 {
        // SAFETY: no memory is passed.
        unsafe { libc::kill(-group, signal) };
    }
}
