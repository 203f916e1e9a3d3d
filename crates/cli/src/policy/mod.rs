//! `policy`: writing, reading, testing and comparing policies.

use std::process::ExitCode;

use crate::complaint::Complaint;
use crate::say::Voice;

#[derive(Debug, clap::Args)]
pub(crate) struct PolicyArgs {}

pub(crate) fn policy(args: &PolicyArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let _ = (args, voice);
    Err(Complaint::failed("not built yet"))
}
