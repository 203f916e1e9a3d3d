//! `doctor` and `setup`: what this host can enforce, and what would mend the rest.

use std::process::ExitCode;

use crate::complaint::Complaint;
use crate::say::Voice;

#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SetupArgs {
    /// Install it; needs root
    #[arg(long)]
    apply: bool,
}

pub(crate) fn doctor(args: &DoctorArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let _ = (args, voice);
    Err(Complaint::failed("not built yet"))
}

pub(crate) fn setup(args: &SetupArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let _ = (args, voice);
    Err(Complaint::failed("not built yet"))
}
