//! `policy import`: the rules or settings of another tool, as a policy of ours.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use palisade::runner::exec_policy::import::{
    self as importers, Import, ImportError, MAX_IMPORT_BYTES,
};

use super::written;
use crate::complaint::Complaint;
use crate::exit::Code;
use crate::say::{Voice, shown};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Prints the policy, and on standard error what became of everything. \
Exits 1 if a denial of the original could not be carried over in full.

Examples:
  palisade policy import ~/.codex/rules/default.rules
  palisade policy import claude .claude/settings.json -o policy.toml
  palisade policy import srt ~/.srt-settings.json"
)]
pub(super) struct ImportArgs {
    /// codex, claude or srt; may be left out where the name of the file says it
    #[arg(value_name = "KIND")]
    first: OsString,
    /// The file; - reads standard input
    #[arg(value_name = "FILE")]
    second: Option<PathBuf>,
    /// Write the policy here, instead of printing it
    #[arg(short, long, value_name = "OUT")]
    out: Option<PathBuf>,
    /// Write over a file that is there
    #[arg(long, requires = "out")]
    force: bool,
}

type Importer = fn(&[u8]) -> Result<Import, ImportError>;

/// What is understood, by the name that people write.
const KINDS: [(&str, Importer); 3] = [
    ("codex", importers::codex_rules),
    ("claude", importers::claude_settings),
    ("srt", importers::srt_settings),
];

pub(super) fn import(args: &ImportArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let (importer, file) = match &args.second {
        Some(file) => (named(&args.first)?, file.as_path()),
        None => {
            let file = Path::new(&args.first);
            (guessed(file)?, file)
        }
    };
    let place = shown(file);
    let bytes = read(file).map_err(|error| Complaint::usage(format!("{place}: {error}")))?;
    let import = importer(&bytes).map_err(|error| Complaint::usage(format!("{place}: {error}")))?;
    match &args.out {
        None => voice.answer_file(&import.text),
        Some(out) if args.force => written::over(out, &import.text)?,
        Some(out) => written::fresh(out, &import.text)?,
    }
    let weakens = import.report.weakens();
    if !voice.quiet || weakens {
        for line in import.report.to_string().lines() {
            voice.tell(line);
        }
    }
    if weakens {
        voice.tell("the policy is weaker than the original: read what was not carried over");
        return Ok(Code::No.into());
    }
    Ok(ExitCode::SUCCESS)
}

fn named(kind: &OsString) -> Result<Importer, Complaint> {
    let known = KINDS.iter().find(|(name, _)| kind == name);
    known.map(|(_, importer)| *importer).ok_or_else(|| {
        Complaint::usage(format!(
            "`{}` is nothing that can be imported",
            kind.to_string_lossy().escape_debug()
        ))
        .help("what can be: codex (rules), claude (settings.json), srt (settings)")
    })
}

/// The kind of a file, by its name alone: `default.rules`, `.srt-settings.json`, `settings.json`.
fn guessed(file: &Path) -> Result<Importer, Complaint> {
    let name = file
        .file_name()
        .map(|name| name.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default();
    let kind = if name.ends_with(".rules") {
        "codex"
    } else if name.contains("srt") {
        "srt"
    } else if name.starts_with("settings") && name.ends_with(".json") {
        "claude"
    } else {
        return Err(Complaint::usage(format!(
            "{}: the name does not say which tool the file is of",
            shown(file)
        ))
        .help("name it: palisade policy import codex|claude|srt FILE"));
    };
    named(&OsString::from(kind))
}

fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    let limit = u64::try_from(MAX_IMPORT_BYTES).unwrap_or(u64::MAX);
    let limit = limit.saturating_add(1);
    let mut bytes = Vec::new();
    match file.as_os_str() == "-" {
        true => std::io::stdin().take(limit).read_to_end(&mut bytes)?,
        false => std::fs::File::open(file)?
            .take(limit)
            .read_to_end(&mut bytes)?,
    };
    Ok(bytes)
}
