//! An agent's loop with approvals: reads commands, runs each in the sandbox, shows what the model would see.
#![expect(
    clippy::print_stdout,
    reason = "an example speaks to the person who ran it"
)]

use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;

use palisade::{AskForApproval, Outcome, Policy, Prompt, ReviewDecision, Rules, Sandbox};

fn main() -> ExitCode {
    // Started as a helper, this program is one.
    palisade::dispatch(std::env::args_os()).unwrap_or_else(|| match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    })
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let policy = Policy::workspace(".").approval(AskForApproval::OnFailure);
    let session = Sandbox::probe(policy)?.session(Rules::builtin()?, ask)?;
    for line in std::io::stdin().lock().lines() {
        let run = session.script(line?).output_blocking();
        match run {
            Ok(run) => {
                print!("{}", run.output.aggregated.text());
                match run.outcome {
                    Outcome::Exited { code: 0 } => {}
                    Outcome::Denied { evidence, .. } => {
                        evidence.iter().for_each(|one| println!("[{one}]"));
                    }
                    other => println!("[exit code {}]", other.exit_code()),
                }
            }
            Err(refused) => println!("[did not run: {refused}]"),
        }
    }
    Ok(())
}

fn ask(prompt: &Prompt) -> ReviewDecision {
    println!("{}\n{}", prompt.display_line(), prompt.reasons.join("\n"));
    print!("[y]es, [s]ession, anything else is no: ");
    let _ = std::io::stdout().flush();
    let mut answer = String::new();
    // The questions come from the terminal, not from where the commands do.
    let terminal = std::fs::File::open("/dev/tty").map(std::io::BufReader::new);
    let _ = terminal.and_then(|mut terminal| terminal.read_line(&mut answer));
    match answer.trim() {
        "y" => ReviewDecision::Approved,
        "s" => ReviewDecision::ApprovedForSession,
        _ => ReviewDecision::Denied,
    }
}
