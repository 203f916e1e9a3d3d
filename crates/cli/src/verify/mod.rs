//! `verify`: every promise of the policy, tried live on this host.

use std::process::ExitCode;

use crate::complaint::Complaint;
use crate::ground::PolicyFlags;
use crate::say::Voice;

#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    flags: PolicyFlags,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn verify(args: &VerifyArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let _ = (args, voice);
    Err(Complaint::failed("not built yet"))
}
