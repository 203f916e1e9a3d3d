//! The sandbox helper as an executable of its own: the helper of a session, or a wrapper around one command.
//!
//! ```text
//! palisade-linux-sandbox --sandbox-policy-cwd DIR --sandbox-policy JSON [--seccomp-profile JSON]
//!     [--resource-limits JSON] [--accept-loss NAME]... [--status-fd N]
//!     [--host-home DIR] [--host-tmpdir DIR] -- COMMAND...
//! ```

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use palisade_linux_landlock::{dispatch, wrapper};

    dispatch(std::env::args_os())
        .unwrap_or_else(|| wrapper::main_of_wrapper(std::env::args_os().skip(1)))
}

#[cfg(not(target_os = "linux"))]
#[expect(
    clippy::print_stderr,
    reason = "a program speaks to the person who ran it"
)]
fn main() -> ExitCode {
    eprintln!("palisade: the Linux sandbox works on Linux only");
    ExitCode::FAILURE
}
