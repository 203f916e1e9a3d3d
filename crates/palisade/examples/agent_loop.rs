//! An agent's loop with approvals: reads scripts, one a line, runs each in the sandbox, shows what the model would see.
#![expect(clippy::print_stdout, reason = "an example speaks to a person")]

use std::fs::File;
use std::io::{BufRead as _, BufReader, Error};
use std::process::ExitCode;

use palisade::{AskForApproval, Policy, Prompt, ReviewDecision, Rules, Sandbox};

pub(crate) fn main() -> ExitCode {
    palisade::dispatch(std::env::args_os()).unwrap_or_else(|| match agent() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    })
}

fn agent() -> Result<(), Box<dyn std::error::Error>> {
    let policy = Policy::workspace(".").approval(AskForApproval::OnFailure);
    let session = Sandbox::probe(policy)?.session(Rules::builtin()?, ask)?;
    for script in std::io::stdin().lines() {
        match session.script(script?).output_blocking() {
            Ok(run) => println!("{run}"),
            Err(refused) => println!("[did not run: {refused}]"),
        }
    }
    Ok(())
}

fn ask(prompt: &Prompt) -> ReviewDecision {
    match answer(prompt).as_deref().map(str::trim) {
        Ok("y") => ReviewDecision::Approved,
        Ok("s") => ReviewDecision::ApprovedForSession,
        _ => ReviewDecision::Denied,
    }
}

/// Asks on the terminal: standard input is where the scripts come from.
fn answer(prompt: &Prompt) -> Result<String, Error> {
    println!("{prompt}\n[y]es, for the [s]ession, or no?");
    let mut answer = String::new();
    BufReader::new(File::open("/dev/tty")?).read_line(&mut answer)?;
    Ok(answer)
}
