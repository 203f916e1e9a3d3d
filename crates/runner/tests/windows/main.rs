//! Commands on Windows, run for real: by Windows, or by Wine as far as that is honest. This program is each of their
//! children too, so it has its own `main`.
#![cfg_attr(
    windows,
    expect(
        clippy::unwrap_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::print_stdout,
        clippy::exit,
        reason = "a test ends where its assumption fails, and says what it does; exit codes are what is tried"
    )
)]

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
