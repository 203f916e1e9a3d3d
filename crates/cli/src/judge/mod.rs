//! `check` and `explain`: what the rules make of a command, without running it.

use std::process::ExitCode;

use crate::complaint::Complaint;
use crate::ground::PolicyFlags;
use crate::say::Voice;
use std::ffi::OsString;

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    flags: PolicyFlags,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// The command; without one, a script is read from standard input
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    flags: PolicyFlags,
    /// The command; without one, a script is read from standard input
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) fn check(args: &CheckArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let _ = (args, voice);
    Err(Complaint::failed("not built yet"))
}

pub(crate) fn explain(args: &ExplainArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let _ = (args, voice);
    Err(Complaint::failed("not built yet"))
}
