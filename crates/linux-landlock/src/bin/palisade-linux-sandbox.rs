//! The sandbox helper as an executable of its own.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    palisade_linux_landlock::dispatch(std::env::args_os()).unwrap_or(ExitCode::from(125))
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::from(125)
}
