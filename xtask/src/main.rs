//! Automation of the workspace. `cargo xtask --help` lists the commands; each lives in a module of its own.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks to people through its output; the libraries never print"
)]

mod args;
mod ci;
mod codegen;
mod cross;
mod diff;
mod dist;
mod evidence;
mod executables;
mod files;
mod fuzz;
mod peers;
mod process;
mod prove_ci;
mod stage;
mod tidy;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;

use crate::args::Command;
use crate::workspace::Workspace;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Says whether the command found everything in order.
///
/// An error means that it could not find out.
fn run() -> Result<bool> {
    let command = args::parse(std::env::args().skip(1))?;
    let workspace = Workspace::locate()?;
    match command {
        Command::Help => {
            print!("{}", args::USAGE);
            Ok(true)
        }
        Command::Ci { list: true, .. } => {
            ci::list();
            Ok(true)
        }
        Command::Ci { only, .. } => ci::run(&workspace, &only),
        Command::Codegen { check } => codegen::run(&workspace, check),
        Command::Cross { list: true, .. } => {
            cross::list();
            Ok(true)
        }
        Command::Cross { only, .. } => cross::run(&workspace, &only),
        Command::Dist => dist::run(&workspace),
        Command::Evidence { name, arguments } => evidence::run(&workspace, &name, &arguments),
        Command::Fuzz { arguments } => fuzz::run(&workspace, &arguments),
        Command::Peers { arguments } => peers::run(&workspace, &arguments),
        Command::ProveCi { list: true, .. } => {
            prove_ci::list();
            Ok(true)
        }
        Command::ProveCi { only, .. } => prove_ci::run(&workspace, &only),
    }
}
