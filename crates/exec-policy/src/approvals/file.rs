//! Reading the approvals file: `version = 1` and `[[approval]]` entries, nothing else.

use palisade_policy::AbsolutePath;
use toml_edit::{Document, Item, Table, Value};

use super::error::{ApprovalError, ApprovalProblem};
use super::moment::Moment;
use super::stored::{Scope, StoredApproval};
use crate::decision::ExecPolicyAmendment;

/// The largest approvals file that is read.
pub const MAX_FILE_BYTES: usize = 4 << 20;

pub(super) const VERSION: i64 = 1;
pub(super) const ENTRIES: &str = "approval";

/// Every approval of the text, in order.
pub(super) fn parse(text: &str) -> Result<Vec<StoredApproval>, ApprovalError> {
    if text.len() > MAX_FILE_BYTES {
        let limit = MAX_FILE_BYTES;
        return Err(ApprovalError::new(1, ApprovalProblem::TooLarge { limit }));
    }
    if text.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    let lines = Lines(text);
    let document = Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        lines.error(at, ApprovalProblem::Syntax(error.message().to_owned()))
    })?;
    let root = document.as_table();
    // Nothing but comments.
    if root.is_empty() {
        return Ok(Vec::new());
    }
    for (key, item) in root {
        if !matches!(key, "version" | ENTRIES) {
            return Err(lines.error(start(item), ApprovalProblem::UnknownKey(key.to_owned())));
        }
    }
    let version = root.get("version");
    if version.and_then(Item::as_integer) != Some(VERSION) {
        return Err(lines.error(version.map_or(0, start), ApprovalProblem::Version));
    }
    let Some(item) = root.get(ENTRIES) else {
        return Ok(Vec::new());
    };
    let Some(entries) = item.as_array_of_tables() else {
        return Err(wrong(
            lines,
            item,
            ENTRIES,
            "written as [[approval]] entries",
        ));
    };
    entries.iter().map(|table| entry(lines, table)).collect()
}

fn entry(lines: Lines<'_>, table: &Table) -> Result<StoredApproval, ApprovalError> {
    let at = table.span().map_or(0, |span| span.start);
    for (key, item) in table {
        if !matches!(key, "rule" | "prefix" | "project" | "date" | "expires") {
            return Err(lines.error(start(item), ApprovalProblem::UnknownKey(key.to_owned())));
        }
    }
    let rule = text_of(lines, table, "rule")?.map(|(rule, _)| rule);
    if rule.as_deref().is_some_and(str::is_empty) {
        return Err(lines.error(at, ApprovalProblem::EmptyRule));
    }
    let scope = match text_of(lines, table, "project")? {
        Some((project, at)) => Scope::Project(
            AbsolutePath::new(project).map_err(|error| lines.error(at, error.into()))?,
        ),
        None => Scope::Global,
    };
    Ok(StoredApproval {
        rule,
        prefix: prefix(lines, table, at)?,
        scope,
        date: moment(lines, table, "date")?
            .ok_or_else(|| lines.error(at, ApprovalProblem::Missing("date")))?,
        expires: moment(lines, table, "expires")?,
    })
}

fn prefix(
    lines: Lines<'_>,
    table: &Table,
    at: usize,
) -> Result<ExecPolicyAmendment, ApprovalError> {
    let item = table
        .get("prefix")
        .ok_or_else(|| lines.error(at, ApprovalProblem::Missing("prefix")))?;
    let tokens: Option<Vec<String>> = item.as_array().and_then(|array| {
        array
            .iter()
            .map(|token| token.as_str().map(str::to_owned))
            .collect()
    });
    let tokens = tokens.ok_or_else(|| wrong(lines, item, "prefix", "a list of strings"))?;
    ExecPolicyAmendment::new(tokens).map_err(|error| lines.error(start(item), error.into()))
}

fn text_of(
    lines: Lines<'_>,
    table: &Table,
    key: &'static str,
) -> Result<Option<(String, usize)>, ApprovalError> {
    let Some(item) = table.get(key) else {
        return Ok(None);
    };
    match item.as_str() {
        Some(text) => Ok(Some((text.to_owned(), start(item)))),
        None => Err(wrong(lines, item, key, "a string")),
    }
}

fn moment(
    lines: Lines<'_>,
    table: &Table,
    key: &'static str,
) -> Result<Option<Moment>, ApprovalError> {
    let Some(item) = table.get(key) else {
        return Ok(None);
    };
    let Some(Value::Datetime(datetime)) = item.as_value() else {
        return Err(wrong(lines, item, key, "a date with time and offset"));
    };
    Moment::from_toml(datetime.value())
        .map(Some)
        .map_err(|error| lines.error(start(item), ApprovalProblem::Moment { key, error }))
}

fn wrong(
    lines: Lines<'_>,
    item: &Item,
    key: &'static str,
    expected: &'static str,
) -> ApprovalError {
    lines.error(start(item), ApprovalProblem::WrongType { key, expected })
}

fn start(item: &Item) -> usize {
    item.span().map_or(0, |span| span.start)
}

/// A text in which offsets have lines.
#[derive(Clone, Copy)]
struct Lines<'a>(&'a str);

impl Lines<'_> {
    fn error(self, at: usize, problem: ApprovalProblem) -> ApprovalError {
        let before = self.0.as_bytes().get(..at).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count();
        ApprovalError::new(line.saturating_add(1), problem)
    }
}
