//! The smallest embedding: runs the command that it is given in the directory that it is started in.
//!
//! `cargo run -p palisade --example embedding -- ls -l`
#![expect(clippy::print_stdout, reason = "an example speaks to a person")]

use std::process::ExitCode;

use palisade::{AskForApproval, Error, Policy, Prompt, ReviewDecision, Rules, Sandbox};

pub(crate) fn main() -> ExitCode {
    // First of all: started as the helper of a sandbox, this program is one.
    palisade::dispatch(std::env::args_os()).unwrap_or_else(|| match embed() {
        Ok(code) => code,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    })
}

fn embed() -> Result<ExitCode, Error> {
    let mut argv = std::env::args_os().skip(1);
    let program = argv.next().unwrap_or_else(|| "true".into());

    let policy = Policy::workspace(".").approval(AskForApproval::OnRequest);
    let sandbox = Sandbox::probe(policy)?;
    let session = sandbox.session(Rules::builtin()?, |_: &Prompt| ReviewDecision::Denied)?;
    let run = session.command(program).args(argv).output_blocking()?;
    print!("{run}");
    Ok(u8::try_from(run.outcome.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from))
}
