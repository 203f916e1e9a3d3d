//! `run` and `sh`: a command in its sandbox, with the streams, the terminal and the signals of its caller.

#[cfg(unix)]
mod attendant;
mod code;
mod environment;
#[cfg(unix)]
mod signals;
mod start;
mod streams;
#[cfg(unix)]
mod sys;
#[cfg(unix)]
mod terminal;
mod told;

use std::process::ExitCode;

use crate::ask::AskFlags;
use crate::complaint::Complaint;
use crate::ground::PolicyFlags;
use crate::say::Voice;
use std::ffi::OsString;

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    flags: PolicyFlags,
    #[command(flatten)]
    ask: AskFlags,
    #[command(flatten)]
    how: HowFlags,
    /// Run this script with the shell
    #[arg(short = 'c', value_name = "SCRIPT", conflicts_with = "command")]
    script: Option<OsString>,
    /// The command and its arguments
    #[arg(last = true, value_name = "CMD", required_unless_present = "script")]
    command: Vec<OsString>,
}

/// What a command inherits, and who is told about it.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "How it runs")]
pub(crate) struct HowFlags {
    /// Set a variable, or pass one on
    #[arg(long, value_name = "K[=V]")]
    pub(crate) env: Vec<OsString>,
    /// Write what happens as JSON lines to a file, or to a descriptor as fd:N
    #[arg(long, value_name = "FILE|fd:N")]
    pub(crate) events: Option<OsString>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShArgs {
    #[command(flatten)]
    flags: PolicyFlags,
    #[command(flatten)]
    ask: AskFlags,
    #[command(flatten)]
    how: HowFlags,
    /// Run this text
    #[arg(short = 'c', value_name = "SCRIPT")]
    script: Option<OsString>,
    /// A file with a script, or the arguments of one
    #[arg(value_name = "FILE")]
    arguments: Vec<OsString>,
}

pub(crate) fn run(args: RunArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let what = match args.script {
        Some(script) => What::Script(script),
        None => What::Command(args.command),
    };
    start::start(&args.flags, &args.ask, &args.how, &what, voice)
}

pub(crate) fn sh(args: ShArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let _ = args.arguments;
    let script = args.script.ok_or_else(|| Complaint::usage("no script"))?;
    start::start(
        &args.flags,
        &args.ask,
        &args.how,
        &What::Script(script),
        voice,
    )
}

/// What is to run.
#[derive(Debug)]
pub(crate) enum What {
    /// A program and its arguments.
    Command(Vec<OsString>),
    /// The text of a script.
    Script(OsString),
}
