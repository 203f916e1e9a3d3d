//! Every probe in every tier and mode, against what the registry expects: a deviation in either direction fails.
//!
//! The program is its own probe: the stage runs a copy of it in the sandbox. So it has no test harness; arguments that
//! do not start with a dash select probes by a part of their name.
#![cfg_attr(
    not(target_os = "linux"),
    allow(unused, reason = "there is nothing to test elsewhere")
)]
#![expect(clippy::print_stdout, reason = "a test says what it found")]
#![cfg_attr(
    target_os = "linux",
    expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")
)]

#[cfg(target_os = "linux")]
mod subject;

use std::process::ExitCode;

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    println!("skipped: the sandbox is for Linux");
    ExitCode::SUCCESS
}

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    // The stage runs a copy: inside the sandbox, or as its victim outside. A person selects with one word at most.
    let asked_who = arguments
        .first()
        .is_some_and(|argument| argument == "whoami");
    if asked_who
        || arguments
            .iter()
            .filter(|argument| !argument.to_string_lossy().starts_with('-'))
            .count()
            > 1
    {
        let (line, code) = match palisade_probes::main_of_program(&arguments) {
            Ok(line) => (line, ExitCode::SUCCESS),
            Err(error) => (format!("broken: {error}"), ExitCode::from(2)),
        };
        println!("{line}");
        return code;
    }
    let wanted = arguments
        .first()
        .and_then(|argument| argument.to_str())
        .filter(|name| !name.starts_with('-'));
    let cases = subject::cases(wanted.unwrap_or_default());
    let (passed, deviations) = subject::run_all(&cases);
    for deviation in &deviations {
        println!("deviation: {deviation}");
    }
    println!(
        "\ntest result: {}. {passed} passed; {} failed; 0 ignored; 0 measured; 0 filtered out",
        if deviations.is_empty() {
            "ok"
        } else {
            "FAILED"
        },
        deviations.len()
    );
    ExitCode::from(u8::from(!deviations.is_empty()))
}
