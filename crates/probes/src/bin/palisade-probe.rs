//! One probe as a process: `palisade-probe NAME KEY=VALUE...` tries and prints one line that says what happened.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use std::io::Write as _;

    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let (line, code) = match palisade_probes::main_of_program(&arguments) {
        Ok(line) => (line, ExitCode::SUCCESS),
        Err(error) => (format!("broken: {error}"), ExitCode::from(2)),
    };
    // Nobody reads it if this fails.
    let _ = writeln!(std::io::stdout(), "{line}");
    code
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::from(2)
}
