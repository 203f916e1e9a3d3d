//! `policy matrix` and `policy schema`.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use palisade::runner::exec_policy::authoring::{self, Workbench};
use palisade::runner::exec_policy::matching::CommandFacts;
use palisade::runner::exec_policy::{language, matrix as decisions};

use super::{LayerName, files};
use crate::complaint::Complaint;
use crate::say::{Voice, shown};

/// More than anybody lists.
const MAX_BYTES: u64 = 16 << 20;

#[derive(Debug, clap::Args)]
pub(super) struct MatrixArgs {
    /// The commands of this file, one each line (- reads standard input), and what the rules say about each
    #[arg(long, value_name = "FILE")]
    commands: Option<PathBuf>,
    /// With --commands: a policy file, instead of those in force here
    #[arg(requires = "commands")]
    file: Option<PathBuf>,
    /// Read the file as one of this layer
    #[arg(long, value_name = "LAYER", requires = "file")]
    layer: Option<LayerName>,
}

pub(super) fn matrix(args: &MatrixArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let Some(list) = &args.commands else {
        voice.answer(&decisions::markdown());
        return Ok(ExitCode::SUCCESS);
    };
    let text = read(list)?;
    let commands: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .collect();
    let draft = files::find(args.file.as_deref(), args.layer)?;
    let policy = files::combined(&draft)?;
    let place = files::place()?;
    let bench = Workbench::new(&policy);
    let table = authoring::matrix(&bench, &commands, &CommandFacts::new(&place));
    voice.answer(&table.to_string());
    Ok(ExitCode::SUCCESS)
}

fn read(list: &Path) -> Result<String, Complaint> {
    let failed = |error: std::io::Error| Complaint::usage(format!("{}: {error}", shown(list)));
    let mut text = String::new();
    let read = match list.as_os_str() == "-" {
        true => std::io::stdin().take(MAX_BYTES).read_to_string(&mut text),
        false => std::fs::File::open(list)
            .and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text)),
    };
    read.map_err(failed)?;
    Ok(text)
}

pub(super) fn schema(voice: &Voice) -> Result<ExitCode, Complaint> {
    voice.answer_file(&language::schema());
    Ok(ExitCode::SUCCESS)
}
