//! The program that measures: `palisade-conformance COMMAND [ARGUMENTS]`; `cargo xtask` starts it.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks to people through its output"
)]

use std::process::ExitCode;

const USAGE: &str =
    "usage: palisade-conformance COMMAND [ARGUMENTS]; `cargo xtask help` has the commands\n";

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use palisade_conformance::{
        bench, denials, escapes, friction, launch, subject, useful, weaker,
    };

    // It is its own helper too.
    if let Some(code) = palisade_linux_landlock::dispatch(std::env::args_os()) {
        return code;
    }
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next().unwrap_or_default();
    let done = match command.to_str() {
        Some("bench") => bench::main(arguments, &|line| println!("{line}")),
        Some("core-environment") => subject::environment::main(arguments),
        Some("denials") => denials::main(arguments, &|line| println!("{line}")),
        Some("escapes") => escapes::main(arguments, &|line| println!("{line}")),
        Some("friction") => friction::main(arguments, &|line| println!("{line}")),
        Some("launch") => launch::main(arguments),
        Some("useful") => useful::main(arguments, &|line| println!("{line}")),
        Some("weaker") => weaker::main(arguments),
        Some("help") => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            eprint!("{USAGE}");
            Ok(ExitCode::from(2))
        }
    };
    done.unwrap_or_else(|error| {
        eprintln!("palisade-conformance: {error:#}");
        // As other wrappers end that did not run what they were told to.
        ExitCode::from(125)
    })
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprint!("{USAGE}");
    print!("skipped: what is measured is for Linux\n");
    ExitCode::from(2)
}
