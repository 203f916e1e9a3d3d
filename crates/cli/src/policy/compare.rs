//! `policy diff`: what one policy allows that another did not.

use std::path::PathBuf;
use std::process::ExitCode;

use palisade::runner::exec_policy::authoring::{self, Workbench};
use palisade::runner::exec_policy::matching::CommandFacts;

use super::{LayerName, files};
use crate::complaint::Complaint;
use crate::exit::Code;
use crate::say::{Voice, shown};

#[derive(Debug, clap::Args)]
pub(super) struct DiffArgs {
    /// The policy file before
    #[arg(value_name = "A")]
    before: PathBuf,
    /// The policy file after
    #[arg(value_name = "B")]
    after: PathBuf,
    /// Exit 1 if B allows anything that A did not, or might
    #[arg(long)]
    deny_loosening: bool,
    /// Read both as files of this layer
    #[arg(long, value_name = "LAYER", default_value = "user")]
    layer: LayerName,
}

pub(super) fn diff(args: &DiffArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let load = |file| files::combined(&files::one(file, Some(args.layer))?);
    let (before, after) = (load(&args.before)?, load(&args.after)?);
    let place = files::place()?;
    let facts = CommandFacts::new(&place);
    let diff = authoring::diff(&Workbench::new(&before), &Workbench::new(&after), &facts);
    voice.answer(&diff.to_string());
    if !diff.is_loosening() || !args.deny_loosening {
        return Ok(ExitCode::SUCCESS);
    }
    voice.tell(&format!(
        "{} loosens what {} says",
        shown(&args.after),
        shown(&args.before)
    ));
    Ok(Code::No.into())
}
