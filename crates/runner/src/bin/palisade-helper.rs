//! The helper as an executable of its own, for programs that do not dispatch: it sets sandboxes up, wraps a command, and
//! applies patches.

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    palisade_runner::host::dispatch(std::env::args_os()).unwrap_or_else(|| {
        let _ = writeln!(
            std::io::stderr(),
            "palisade-helper is started by Palisade; there is nothing to do by hand"
        );
        ExitCode::FAILURE
    })
}
