//! The one call that makes a program its own helper.

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the helper if these arguments ask for it, and returns what to exit with; otherwise `None` at once.
///
/// Call it first in `main`, before any thread is started. Sandboxes that are probed afterwards start this very program as
/// their helper, so nothing has to be installed beside it.
pub fn dispatch(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    palisade_runner::host::dispatch(arguments)
}
