//! `policy suggest`: rules for what people keep agreeing to, from the records of what ran.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use palisade::runner::audit::{self, AnswerSource, AuditRecord, DecisionWord, JsonLines, Rotation};
use palisade::runner::exec_policy::DefaultEntry;
use palisade::runner::exec_policy::authoring::{self, LoggedAnswer, LoggedCommand, Suggestions};
use palisade_shell_analysis::{Limits, Word, analyze_argv};

use crate::complaint::Complaint;
use crate::ground::Site;
use crate::say::{Voice, shown};

#[derive(Debug, clap::Args)]
pub(super) struct SuggestArgs {
    /// Records to read, instead of those that are kept here
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
}

pub(super) fn suggest(args: &SuggestArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let log = match &args.audit {
        Some(file) => {
            read(file).map_err(|error| Complaint::usage(format!("{}: {error}", shown(file))))?
        }
        None => kept()?,
    };
    let suggestions = authoring::suggest(&log);
    if suggestions.suggestions.is_empty() {
        voice.note(&format!(
            "nothing to suggest: of {} commands, none was agreed to three times without a rule",
            log.len()
        ));
        return Ok(ExitCode::SUCCESS);
    }
    voice.answer_file(&text(&suggestions));
    voice.note("append these to a policy file, and then `palisade policy test`");
    Ok(ExitCode::SUCCESS)
}

/// The rules as text that can be appended to a policy file as it is.
fn text(suggestions: &Suggestions) -> String {
    let mut text = String::new();
    for suggestion in &suggestions.suggestions {
        let examples = suggestion.examples.join("; ");
        text.push_str(&format!(
            "# {} approvals, such as: {}\n",
            suggestion.approved,
            examples.escape_debug()
        ));
    }
    text.push_str(&suggestions.text());
    text
}

/// The records that are kept here, those that were put aside included.
fn kept() -> Result<Vec<LoggedCommand>, Complaint> {
    let site = Site::here()?;
    let Some(state) = site.host.state_dir else {
        return Ok(Vec::new());
    };
    let newest = JsonLines::default_path(&state);
    let aside = (1..=Rotation::default().files).map(|number| {
        let mut name = newest.clone().into_os_string();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    });
    let mut log = Vec::new();
    for file in std::iter::once(newest.clone()).chain(aside) {
        match read(&file) {
            Ok(more) => log.extend(more),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Complaint::failed(format!("{}: {error}", shown(&file))));
            }
        }
    }
    Ok(log)
}

/// The commands of a file of records. What is no record is passed over: `palisade audit` says so.
fn read(file: &Path) -> std::io::Result<Vec<LoggedCommand>> {
    let records = audit::read(file)?;
    Ok(records
        .filter_map(Result::ok)
        .filter_map(|record| logged(&record))
        .collect())
}

/// A record as a command that somebody may have agreed to; `None` if it is not one command that can be read.
fn logged(record: &AuditRecord) -> Option<LoggedCommand> {
    let argv: Vec<OsString> = record.argv.iter().map(OsString::from).collect();
    let plain = analyze_argv(&argv, &Limits::default()).plain.ok()?;
    let [command] = plain.commands.as_slice() else {
        return None;
    };
    let literal = |word: &Word| {
        let bytes = word.literal()?;
        String::from_utf8(bytes.to_vec()).ok()
    };
    let words: Vec<String> = command.words.iter().map(literal).collect::<Option<_>>()?;
    // What is dangerous or cannot be read is asked about for a reason, as if a rule had asked.
    let unmatched = DefaultEntry::Unmatched.name();
    let rule = record.rule.as_ref().filter(|rule| *rule != unmatched);
    Some(LoggedCommand {
        words,
        rule: rule.cloned(),
        answer: answer(record),
        count: 1,
    })
}

fn answer(record: &AuditRecord) -> LoggedAnswer {
    match record.answer.as_deref() {
        Some(_) if record.answer_source == Some(AnswerSource::Config) => LoggedAnswer::NotAsked,
        Some(answer) if answer.starts_with("approved") => LoggedAnswer::Approved,
        Some(_) => LoggedAnswer::Denied,
        None if record.decision == Some(DecisionWord::Forbid) => LoggedAnswer::Forbidden,
        None => LoggedAnswer::NotAsked,
    }
}
