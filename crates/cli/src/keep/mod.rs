//! `trust`, `approvals` and `audit`: what was agreed to for good, and the record of what ran.

use std::process::ExitCode;

use crate::complaint::Complaint;
use crate::say::Voice;

#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {}

#[derive(Debug, clap::Args)]
pub(crate) struct ApprovalsArgs {}

#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {}

pub(crate) fn trust(args: &TrustArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let _ = (args, voice);
    Err(Complaint::failed("not built yet"))
}

pub(crate) fn approvals(args: &ApprovalsArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let _ = (args, voice);
    Err(Complaint::failed("not built yet"))
}

pub(crate) fn audit(args: &AuditArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let _ = (args, voice);
    Err(Complaint::failed("not built yet"))
}
