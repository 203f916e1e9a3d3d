//! The sandbox for Windows as an executable of its own: a wrapper around one command.
//!
//! ```text
//! palisade-windows-sandbox --sandbox-policy-cwd DIR --sandbox-policy JSON [--seccomp-profile JSON]
//!     [--resource-limits JSON] [--accept-loss NAME]... [--state-directory DIR]
//!     [--host-home DIR] [--host-tmpdir DIR] -- COMMAND...
//! ```

#[cfg(windows)]
fn main() {
    // A command's code has 32 bits here, and only `exit` passes all of them on.
    let code = palisade_windows_token::wrapper::main_of_wrapper(std::env::args_os().skip(1));
    std::process::exit(code.cast_signed());
}

#[cfg(not(windows))]
#[expect(
    clippy::print_stderr,
    reason = "a program speaks to the person who ran it"
)]
fn main() -> std::process::ExitCode {
    eprintln!("palisade: the Windows sandbox works on Windows only");
    std::process::ExitCode::FAILURE
}
