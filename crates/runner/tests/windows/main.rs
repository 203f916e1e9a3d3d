//! Commands on Windows, run for real: by Windows, or by Wine as far as that is honest. This program is each of their
//! children too, so it has its own `main`.

use std::process::ExitCode;

#[cfg(windows)]
mod acts;
#[cfg(windows)]
mod harness;
#[cfg(windows)]
mod refusals;
#[cfg(windows)]
mod runs;
#[cfg(windows)]
mod stage;
#[cfg(windows)]
mod trees;

#[cfg(windows)]
fn main() -> ExitCode {
    match acts::dispatch() {
        Some(code) => code,
        None => harness::run(&[runs::TESTS, trees::TESTS, refusals::TESTS]),
    }
}

#[cfg(not(windows))]
fn main() -> ExitCode {
    ExitCode::SUCCESS
}
