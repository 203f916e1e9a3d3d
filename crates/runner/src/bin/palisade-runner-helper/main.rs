//! The helper of the runner as a program of its own: it becomes the helper of a Linux sandbox, and applies patches.
//!
//! Programs that call the dispatch of the facade first in their `main` need no such file beside them.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = palisade_runner::host::dispatch(std::env::args_os()) {
        return code;
    }
    ExitCode::FAILURE
}
