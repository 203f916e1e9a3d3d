//! The signals of the process that tests run in.
#![expect(unsafe_code, reason = "only the raw call says what a signal does")]

use std::sync::Once;

/// Makes signals do what they do for a program that a person starts. Whoever runs tests in the background ignores some of
/// them, and programs that are started inherit that.
pub(crate) fn signals_as_ever() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGTERM] {
            // SAFETY: nothing in this process handles these signals, and the default is no handler.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    });
}
