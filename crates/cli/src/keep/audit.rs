//! `audit`: the record of what ran, for people and for programs.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use palisade::runner::approve::{visible, visible_command};
use palisade::runner::audit::{
    AuditRecord, ConnectionAudit, EvidenceRecord, JsonLines, ReadError, read,
};
use palisade::runner::exec_policy::approvals::Moment;
use palisade::runner::host::Host;

use super::when;
use crate::complaint::Complaint;
use crate::exit::Code;
use crate::ground::{inside, now};
use crate::say::{Tone, Voice, shown};

/// How many files there are at most: the one that is written, and those that were put aside.
const MOST_FILES: u32 = 64;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  palisade audit --since 2h --denied      what was denied or refused in the last two hours
  palisade audit --last 1 --json          the last record, for programs

T is a time ago (90s, 5m, 2h, 7d), a day (2026-11-16, in UTC) or a moment (2026-11-16T08:30:00+01:00).")]
pub(crate) struct AuditArgs {
    /// Only what ran since then
    #[arg(long, value_name = "T")]
    since: Option<String>,
    /// Only what was denied or refused
    #[arg(long)]
    denied: bool,
    /// Print the records as they are, one JSON object on a line each
    #[arg(long)]
    json: bool,
    /// Only the last N of them
    #[arg(long, value_name = "N")]
    last: Option<usize>,
}

pub(crate) fn audit(args: &AuditArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let state = inside::state(&Host::look())?;
    let since = match &args.since {
        Some(text) => Some(when::since(text, now()).ok_or_else(|| {
            Complaint::usage(format!("--since {}: this is no time", text.escape_debug())).help(
                "give a time ago such as 2h, a day such as 2026-11-16, or a moment as in RFC 3339",
            )
        })?),
        None => None,
    };
    let mut found = Found::default();
    for file in files(&JsonLines::default_path(state.directory())) {
        found.read(&file, args, since)?;
    }
    let mut text = String::new();
    for record in &found.records {
        text.push_str(&match args.json {
            true => serde_json::to_string(record).map_err(Complaint::failed)? + "\n",
            false => lines(record, voice),
        });
    }
    match args.json {
        true => voice.answer_json(&text),
        false => voice.answer(&text),
    }
    if found.records.is_empty() && !args.json {
        voice.answer("no such record\n");
    }
    if found.bad > 0 {
        voice.tell(&format!(
            "{} lines are no records, and were passed over",
            found.bad
        ));
    }
    Ok(Code::Fine.into())
}

/// The files, the oldest first.
fn files(newest: &Path) -> Vec<PathBuf> {
    let aside = (1..MOST_FILES).rev().map(|number| {
        let mut name = newest.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    });
    aside.chain([newest.to_owned()]).collect()
}

#[derive(Default)]
struct Found {
    records: VecDeque<AuditRecord>,
    bad: u64,
}

impl Found {
    fn read(
        &mut self,
        file: &Path,
        args: &AuditArgs,
        since: Option<Moment>,
    ) -> Result<(), Complaint> {
        let failed = |error: &dyn std::fmt::Display| {
            Complaint::failed(format!(
                "the record {} cannot be read: {error}",
                shown(file)
            ))
        };
        let records = match read(file) {
            Ok(records) => records,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed(&error)),
        };
        for record in records {
            let record = match record {
                Ok(record) => record,
                Err(ReadError::Io { source, .. }) => return Err(failed(&source)),
                // Torn, or not ours: it says nothing about the others.
                Err(_) => {
                    self.bad += 1;
                    continue;
                }
            };
            let late = since.is_none_or(|since| {
                let since = u64::try_from(since.unix()).unwrap_or(0);
                record.time.millis() >= since.saturating_mul(1000)
            });
            if late && (!args.denied || is_denied(&record)) {
                self.records.push_back(record);
                if args.last.is_some_and(|last| self.records.len() > last) {
                    self.records.pop_front();
                }
            }
        }
        Ok(())
    }
}

fn is_denied(record: &AuditRecord) -> bool {
    record.refusal.is_some()
        || !record.evidence.is_empty()
        || matches!(record.outcome.as_deref(), Some("denied" | "refused"))
}

/// A record for people: a line, and one for each thing that stood in its way. Nothing in it can move the cursor or hide.
fn lines(record: &AuditRecord, voice: &Voice) -> String {
    let words: Vec<OsString> = record.argv.iter().map(Into::into).collect();
    let outcome = visible(record.outcome.as_deref().unwrap_or("unknown"));
    let outcome = match record.exit_code {
        Some(code) if code != 0 => format!("{outcome} {code}"),
        _ => outcome,
    };
    let tone = match is_denied(record) {
        true => Tone::Bad,
        false => Tone::Good,
    };
    let padded = voice.out_tone(tone, &format!("{outcome:<12}"));
    let sandbox = visible(record.sandbox.as_deref().unwrap_or("-"));
    let what = match &record.connection {
        Some(connection) => spoken(connection, record.rule.as_deref()),
        None => visible_command(&words),
    };
    let mut text = format!("{}  {padded}  {sandbox:<8}  {what}\n", record.time);
    // Writing to a string cannot fail.
    if let Some(refusal) = &record.refusal {
        let _ = writeln!(text, "    refused: {}", visible(refusal));
    }
    for evidence in &record.evidence {
        let _ = match evidence {
            EvidenceRecord::Likely {
                resource, clause, ..
            } => writeln!(
                text,
                "    denied: {}: {}",
                visible(resource),
                visible(clause)
            ),
            _ => writeln!(text, "    denied: a system call"),
        };
    }
    if let Some(escalation) = &record.escalation {
        let _ = writeln!(text, "    tried again: {}", visible(escalation));
    }
    text
}

/// A connection on one line: to whom, by which entry of the policy, and how much went through.
fn spoken(connection: &ConnectionAudit, rule: Option<&str>) -> String {
    let host = visible(connection.host.as_deref().unwrap_or("nobody"));
    let port = connection.port.map(|port| format!(":{port}"));
    let mut text = format!("connect to {host}{}", port.unwrap_or_default());
    // Writing to a string cannot fail.
    if let Some(rule) = rule {
        let _ = write!(text, " (listed as {})", visible(rule));
    }
    let _ = write!(
        text,
        ", {} bytes sent, {} received",
        connection.sent, connection.received
    );
    if connection.credential {
        text.push_str(", with a secret");
    }
    if !connection.perhaps_by.is_empty() {
        let calls = visible(&connection.perhaps_by.join(" or "));
        let _ = write!(text, "; by {calls}, or something left running");
    }
    text
}
