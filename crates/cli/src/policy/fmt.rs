//! `policy fmt`: policy files in the order of the format.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use palisade::runner::config;
use palisade::runner::exec_policy::language::{self, Layer, MAX_BYTES, Source};

use super::{LayerName, files, written};
use crate::complaint::Complaint;
use crate::exit::Code;
use crate::ground::{PolicyFlags, Site, config_complaint, errors_complaint};
use crate::say::{Voice, shown};

#[derive(Debug, clap::Args)]
pub(super) struct FmtArgs {
    /// Policy files, instead of yours and the project's; - reads one and prints it
    files: Vec<PathBuf>,
    /// Change nothing; name the files that are out of order, and exit 1 if there are any
    #[arg(long)]
    check: bool,
    /// Read the files as ones of this layer
    #[arg(long, value_name = "LAYER")]
    layer: Option<LayerName>,
}

pub(super) fn fmt(args: &FmtArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let site = Site::here()?;
    if args.files.iter().any(|file| file.as_os_str() == "-") {
        let mut text = Vec::new();
        let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
        let read = std::io::stdin()
            .take(limit.saturating_add(1))
            .read_to_end(&mut text);
        read.map_err(|error| Complaint::failed(format!("standard input: {error}")))?;
        let layer = args.layer.map_or(Layer::User, Layer::from);
        voice.answer_file(&formatted("standard input", layer, &text)?);
        return Ok(ExitCode::SUCCESS);
    }
    let mut out_of_order = false;
    for file in chosen(args)? {
        let path = site.cwd.join(&file);
        let layer = args
            .layer
            .map_or_else(|| files::layer_of(&path, &site), Layer::from);
        let text = read(&path)?;
        let formatted = formatted(&path.to_string_lossy(), layer, &text)?;
        if formatted.as_bytes() == text {
            continue;
        }
        out_of_order = true;
        if !args.check {
            written::over(&path, &formatted)?;
        }
        voice.answer(&format!("{}\n", shown(&file)));
    }
    match out_of_order && args.check {
        true => Ok(Code::No.into()),
        false => Ok(ExitCode::SUCCESS),
    }
}

/// What was named, or the files in force that are the user's or the project's.
fn chosen(args: &FmtArgs) -> Result<Vec<PathBuf>, Complaint> {
    if !args.files.is_empty() {
        return Ok(args.files.clone());
    }
    let site = Site::find(&PolicyFlags::default())?;
    let drafts = config::drafts_in_force(&site.paths, &site.root)
        .map_err(|error| config_complaint(&error))?;
    let own = drafts
        .sources
        .into_iter()
        .filter(|source| source.layer != Layer::System);
    Ok(own.map(|source| source.path).collect())
}

fn read(path: &Path) -> Result<Vec<u8>, Complaint> {
    let failed = |error: std::io::Error| {
        Complaint::usage(format!("{} cannot be read: {error}", shown(path)))
    };
    let mut text = Vec::new();
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(limit.saturating_add(1))
        .read_to_end(&mut text)
        .map_err(failed)?;
    Ok(text)
}

fn formatted(name: &str, layer: Layer, text: &[u8]) -> Result<String, Complaint> {
    language::fmt(&Source::new(layer, name, text)).map_err(|errors| errors_complaint(&errors))
}
