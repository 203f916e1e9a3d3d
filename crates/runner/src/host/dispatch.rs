//! The one call that makes a program the helper of its own sandboxes.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this program can be started as a helper: it has called [`dispatch`], and that found nothing to do.
static DISPATCHES: AtomicBool = AtomicBool::new(false);

/// Runs what these arguments ask of a helper, and returns what to exit with; otherwise `None` at once.
///
/// A helper sets a sandbox up, wraps one command, or applies a patch. Call this first in `main`, before any thread is
/// started; hosts that are looked at later know that the running program is a helper.
pub fn dispatch(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    #[cfg(all(target_os = "linux", feature = "linux-landlock"))]
    {
        use palisade_linux_landlock::wrapper;

        if let Some(code) = palisade_linux_landlock::dispatch(arguments.iter().cloned()) {
            return Some(code);
        }
        if let Some(code) = wrapper::main(arguments.iter().skip(1).cloned()) {
            return Some(code);
        }
    }
    #[cfg(all(target_os = "macos", feature = "seatbelt"))]
    if let Some(code) = palisade_seatbelt::apply::stage::dispatch(&arguments) {
        return Some(code);
    }
    if let Some(code) = crate::patch::command::dispatch(arguments) {
        return Some(code);
    }
    DISPATCHES.store(true, Ordering::Relaxed);
    None
}

/// Whether the running program is a helper.
pub(super) fn dispatches() -> bool {
    DISPATCHES.load(Ordering::Relaxed)
}
