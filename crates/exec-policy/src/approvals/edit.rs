//! Keeping and removing approvals, as edits of the file's text.
//!
//! An edit changes the entry it is about and nothing else: comments, order and layout of the rest stay. A file that
//! cannot be read is left alone and the edit fails.

use palisade_policy::AbsolutePath;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, value};

use super::error::{ApprovalError, ApprovalProblem, EditError};
use super::file::{ENTRIES, VERSION, parse};
use super::moment::Moment;
use super::offering::may_offer;
use super::stored::{Scope, StoredApproval};
use crate::decision::ExecPolicyAmendment;
use crate::decision::SegmentVerdict;

/// What asked, so that the answer is kept as what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever keeps an answer must say what asked"
)]
pub enum AmendmentSource<'a> {
    /// The rule with this id: the answer is an approval of its question.
    RulePrompt(&'a str),
    /// No rule: the answer is an allow rule.
    Unmatched,
}

impl<'a> AmendmentSource<'a> {
    /// What asked about a segment with this verdict.
    ///
    /// # Errors
    /// Nothing asked, or nothing that an approval could answer: a forbid, an allow, an opaque script.
    pub const fn of(verdict: &SegmentVerdict<'a>) -> Result<Self, EditError> {
        match verdict {
            SegmentVerdict::Prompt { rule, .. } => Ok(Self::RulePrompt(rule.id)),
            SegmentVerdict::Unmatched => Ok(Self::Unmatched),
            SegmentVerdict::PromptByDefault {
                entry: crate::DefaultEntry::Unmatched,
            } => Ok(Self::Unmatched),
            SegmentVerdict::PromptByDefault { .. }
            | SegmentVerdict::Allow { .. }
            | SegmentVerdict::Forbid { .. }
            | SegmentVerdict::ForbidByDefault { .. }
            | SegmentVerdict::Opaque { .. } => Err(EditError::NothingToAnswer),
        }
    }
}

/// Where and for how long an approval is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keep {
    /// Where it holds.
    pub scope: Scope,
    /// Now.
    pub date: Moment,
    /// From when on it no longer answers.
    pub expires: Option<Moment>,
}

impl Keep {
    /// In this project, until it is removed. The root is canonical: links resolved by whoever knows the disk.
    #[must_use]
    pub const fn for_project(root: AbsolutePath, date: Moment) -> Self {
        Self {
            scope: Scope::Project(root),
            date,
            expires: None,
        }
    }

    /// Everywhere, until it is removed; only because somebody said so.
    #[must_use]
    pub const fn everywhere(date: Moment) -> Self {
        Self {
            scope: Scope::Global,
            date,
            expires: None,
        }
    }

    /// The same, but only until then.
    #[must_use]
    pub const fn until(mut self, expires: Moment) -> Self {
        self.expires = Some(expires);
        self
    }
}

/// One change of an approvals file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever writes the file must know every change"
)]
pub enum ApprovalEdit {
    /// Adds it, or renews the dates of the one that is about the same.
    Keep(StoredApproval),
    /// Removes every one that is about the same, whatever the dates.
    Remove(StoredApproval),
}

/// What to store when somebody accepts a proposed prefix.
///
/// # Errors
/// The prefix would grant everything, the rule has no id, the project cannot be named in a file, or the approval would
/// expire before it begins.
pub fn edit_for(
    amendment: &ExecPolicyAmendment,
    source: AmendmentSource<'_>,
    keep: &Keep,
) -> Result<ApprovalEdit, EditError> {
    may_offer(amendment.prefix())?;
    let rule = match source {
        AmendmentSource::RulePrompt("") => return Err(EditError::EmptyRule),
        AmendmentSource::RulePrompt(id) => Some(id.to_owned()),
        AmendmentSource::Unmatched => None,
    };
    project_text(&keep.scope)?;
    if keep.expires.is_some_and(|expires| expires <= keep.date) {
        return Err(EditError::ExpiresBeforeDate);
    }
    Ok(ApprovalEdit::Keep(StoredApproval {
        rule,
        prefix: amendment.clone(),
        scope: keep.scope.clone(),
        date: keep.date,
        expires: keep.expires,
    }))
}

/// The text after an edit. Applying it twice is applying it once, and the result reads back.
///
/// # Errors
/// The text is no approvals file, or the edit cannot be written.
pub fn apply(text: &str, edit: &ApprovalEdit) -> Result<String, EditError> {
    let present = parse(text)?;
    let mut document = document(text)?;
    if document.is_empty() {
        document = begun(text)?;
    }
    let edited = match edit {
        ApprovalEdit::Keep(approval) => {
            if present.contains(approval) && same_once(&present, approval) {
                return Ok(text.to_owned());
            }
            keep(&mut document, &present, approval)?;
            document.to_string()
        }
        ApprovalEdit::Remove(approval) => {
            if !present
                .iter()
                .any(|other| other.is_about_the_same(approval))
            {
                return Ok(text.to_owned());
            }
            remove(&mut document, &present, approval);
            document.to_string()
        }
    };
    // What is written must be what was meant; a file is never replaced by something that reads otherwise.
    let expected = expected(&present, edit);
    if parse(&edited)? == expected {
        Ok(edited)
    } else {
        Err(EditError::NotFaithful)
    }
}

fn document(text: &str) -> Result<DocumentMut, ApprovalError> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        ApprovalError::new(1, ApprovalProblem::Syntax(error.message().to_owned()))
    })
}

/// A file that holds nothing but comments, with its version behind them.
fn begun(comments: &str) -> Result<DocumentMut, ApprovalError> {
    let end = if comments.is_empty() || comments.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    document(&format!("{comments}{end}version = {VERSION}\n"))
}

fn same_once(present: &[StoredApproval], approval: &StoredApproval) -> bool {
    present
        .iter()
        .filter(|other| other.is_about_the_same(approval))
        .count()
        == 1
}

/// What the file must read as afterwards.
fn expected(present: &[StoredApproval], edit: &ApprovalEdit) -> Vec<StoredApproval> {
    match edit {
        ApprovalEdit::Keep(approval) => {
            let mut seen = false;
            let mut entries: Vec<StoredApproval> = Vec::with_capacity(present.len());
            for other in present {
                if !other.is_about_the_same(approval) {
                    entries.push(other.clone());
                } else if !seen {
                    seen = true;
                    entries.push(approval.clone());
                }
            }
            if !seen {
                entries.push(approval.clone());
            }
            entries
        }
        ApprovalEdit::Remove(approval) => present
            .iter()
            .filter(|other| !other.is_about_the_same(approval))
            .cloned()
            .collect(),
    }
}

fn keep(
    document: &mut DocumentMut,
    present: &[StoredApproval],
    approval: &StoredApproval,
) -> Result<(), EditError> {
    let entries = document
        .entry(ENTRIES)
        .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let Some(entries) = entries.as_array_of_tables_mut() else {
        return Err(EditError::NotFaithful);
    };
    let first = present
        .iter()
        .position(|other| other.is_about_the_same(approval));
    let Some(first) = first else {
        entries.push(table(approval)?);
        return Ok(());
    };
    if let Some(table) = entries.get_mut(first) {
        set(table, "date", approval.date)?;
        match approval.expires {
            Some(expires) => set(table, "expires", expires)?,
            None => drop(table.remove("expires")),
        }
    }
    // One that was written twice by hand is there once afterwards.
    for index in (first.saturating_add(1)..present.len()).rev() {
        if present
            .get(index)
            .is_some_and(|other| other.is_about_the_same(approval))
        {
            entries.remove(index);
        }
    }
    Ok(())
}

fn remove(document: &mut DocumentMut, present: &[StoredApproval], approval: &StoredApproval) {
    let Some(entries) = document
        .get_mut(ENTRIES)
        .and_then(Item::as_array_of_tables_mut)
    else {
        return;
    };
    for (index, other) in present.iter().enumerate().rev() {
        if other.is_about_the_same(approval) {
            entries.remove(index);
        }
    }
}

fn table(approval: &StoredApproval) -> Result<Table, EditError> {
    let mut table = Table::new();
    table.decor_mut().set_prefix("\n");
    if let Some(rule) = &approval.rule {
        table.insert("rule", value(rule.as_str()));
    }
    let prefix: Array = approval
        .prefix
        .prefix()
        .iter()
        .map(String::as_str)
        .collect();
    table.insert("prefix", value(prefix));
    if let Some(project) = project_text(&approval.scope)? {
        table.insert("project", value(project));
    }
    set(&mut table, "date", approval.date)?;
    if let Some(expires) = approval.expires {
        set(&mut table, "expires", expires)?;
    }
    Ok(table)
}

/// Sets a time, keeping the comment behind the old one.
fn set(table: &mut Table, key: &str, moment: Moment) -> Result<(), EditError> {
    let mut new = toml_edit::Value::from(moment.to_toml()?);
    if let Some(old) = table.get(key).and_then(Item::as_value) {
        *new.decor_mut() = old.decor().clone();
    }
    table.insert(key, Item::Value(new));
    Ok(())
}

fn project_text(scope: &Scope) -> Result<Option<&str>, EditError> {
    match scope {
        Scope::Global => Ok(None),
        Scope::Project(root) => match root.as_path().to_str() {
            Some(text) => Ok(Some(text)),
            None => Err(EditError::ProjectNotUnicode),
        },
    }
}
