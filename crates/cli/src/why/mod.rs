//! `why`: whether a command could touch a path or a host, and which clause says so.

use std::process::ExitCode;

use crate::complaint::Complaint;
use crate::ground::PolicyFlags;
use crate::say::Voice;
use std::ffi::OsString;

#[derive(Debug, clap::Args)]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    flags: PolicyFlags,
    /// Explain what the last run was refused
    #[arg(long, conflicts_with = "what")]
    last: bool,
    /// read, write, execute, list, connect
    #[arg(long, value_name = "ACCESS")]
    access: Option<String>,
    /// A path, or HOST:PORT
    #[arg(value_name = "PATH|HOST:PORT", required_unless_present = "last")]
    what: Option<OsString>,
}

pub(crate) fn why(args: &WhyArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let _ = (args, voice);
    Err(Complaint::failed("not built yet"))
}
