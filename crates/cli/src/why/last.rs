//! What the last run was refused, from the record of what ran.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use palisade::runner::approve::{visible, visible_command};
use palisade::runner::audit::{AuditRecord, EvidenceRecord, JsonLines, read};
use palisade::runner::host::Host;

use super::answer::NOT_YET;
use crate::complaint::Complaint;
use crate::exit::Code;
use crate::ground::inside;
use crate::lasting::once;
use crate::say::{Voice, shown};

/// How many files are looked through: the one that is written, and those that were put aside.
const MOST_FILES: u32 = 9;

/// Explains the last record of something that was denied or refused.
pub(super) fn explain(voice: &Voice) -> Result<ExitCode, Complaint> {
    let host = Host::look();
    let state = inside::state(&host)?;
    let file = JsonLines::default_path(state.directory());
    match last(&file)? {
        Some(record) => {
            voice.answer(&text(&record));
            Ok(Code::No.into())
        }
        None => {
            voice.answer("nothing was denied: the record has no such run\n");
            Ok(Code::Fine.into())
        }
    }
}

/// The newest record with a denial.
fn last(file: &Path) -> Result<Option<AuditRecord>, Complaint> {
    for number in 0..MOST_FILES {
        let mut name = file.as_os_str().to_owned();
        if number > 0 {
            name.push(format!(".{number}"));
        }
        let records = match read(Path::new(&name)) {
            Ok(records) => records,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(Complaint::usage(format!(
                    "the record {} cannot be read: {error}",
                    shown(&name)
                )));
            }
        };
        // A line that is torn or not ours says nothing about the others.
        let denied = records.flatten().filter(is_denied).last();
        if denied.is_some() {
            return Ok(denied);
        }
    }
    Ok(None)
}

fn is_denied(record: &AuditRecord) -> bool {
    !record.evidence.is_empty() || matches!(record.outcome.as_deref(), Some("denied" | "refused"))
}

fn text(record: &AuditRecord) -> String {
    let argv: Vec<OsString> = record.argv.iter().map(OsString::from).collect();
    let mut text = format!("no: {}\n", visible_command(&argv));
    let mut line = |name: &str, said: &str| {
        text.push_str(&format!("  {name:<7} {said}\n"));
    };
    line("when", &record.time.to_string());
    line("in", &visible(&record.cwd));
    if let Some(why) = &record.refusal {
        line("refused", &visible(why));
    }
    for evidence in &record.evidence {
        match evidence {
            EvidenceRecord::SystemCall => line(
                "denied",
                "it died by SIGSYS, as after a system call that the sandbox forbids",
            ),
            EvidenceRecord::Likely {
                resource,
                clause,
                grant,
            } => {
                line("denied", &visible(resource));
                line("clause", &visible(clause));
                match grant {
                    Some(grant) => {
                        line("grant", &visible(&grant.to_string()));
                        line("once", &once(grant, &argv));
                    }
                    None if resource.starts_with("create ") => line("grant", NOT_YET),
                    None => line("grant", "none: nothing opens it"),
                }
            }
            _ => line("denied", "something that this version does not know"),
        }
    }
    if record.refusal.is_some() {
        line(
            "more",
            &format!("palisade explain -- {}", visible_command(&argv)),
        );
    }
    text
}
