//! Rules that people have been giving the answer to, over and over.

use std::collections::BTreeMap;
use std::fmt;

use super::toml_text::{rule, shell_words};
use super::words;
use crate::approvals::{may_offer, propose};

/// The answers that are needed before a rule is suggested.
const ENOUGH: usize = 3;
/// More words than any command of a log needs.
const MAX_WORDS: usize = 4096;

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever keeps a log must say what became of a command"
)]
pub enum LoggedAnswer {
    /// Somebody agreed.
    Approved,
    /// Somebody refused.
    Denied,
    /// The policy forbade it.
    Forbidden,
    /// It ran without a question.
    NotAsked,
}

/// One command of an audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever reads a log must fill in every part"
)]
pub struct LoggedCommand {
    /// Its words, wrappers removed.
    pub words: Vec<String>,
    /// The rule that asked; `None`: no rule did.
    pub rule: Option<String>,
    /// What became of it.
    pub answer: LoggedAnswer,
    /// How often.
    pub count: usize,
}

/// A rule worth writing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Suggestion {
    /// How the commands begin.
    pub prefix: Vec<String>,
    /// How often somebody agreed to one of them.
    pub approved: usize,
    /// Some of them.
    pub examples: Vec<String>,
}

/// Rules worth writing, the most frequent first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Suggestions {
    /// The suggestions.
    pub suggestions: Vec<Suggestion>,
}

/// Suggests allow rules for prefixes that were approved again and again and never denied.
///
/// Only questions that no rule asked count: the question of a rule is answered by a stored approval or by its author.
/// A prefix that would grant everything is never suggested.
#[must_use]
pub fn suggest(log: &[LoggedCommand]) -> Suggestions {
    let mut groups: BTreeMap<Vec<String>, Suggestion> = BTreeMap::new();
    for entry in log {
        if entry.answer != LoggedAnswer::Approved
            || entry.rule.is_some()
            || entry.words.len() > MAX_WORDS
        {
            continue;
        }
        let Some(amendment) = propose(&entry.words, |_| true) else {
            continue;
        };
        let prefix = amendment.prefix().to_vec();
        let group = groups.entry(prefix.clone()).or_insert_with(|| Suggestion {
            prefix,
            approved: 0,
            examples: Vec::new(),
        });
        group.approved = group.approved.saturating_add(entry.count);
        if let Some(example) = shell_words(&entry.words)
            && group.examples.len() < 3
            && !group.examples.contains(&example)
        {
            group.examples.push(example);
        }
    }
    let refused = |prefix: &[String]| {
        log.iter().any(|entry| {
            matches!(entry.answer, LoggedAnswer::Denied | LoggedAnswer::Forbidden)
                && entry.words.starts_with(prefix)
        })
    };
    let mut suggestions: Vec<Suggestion> = groups
        .into_values()
        .filter(|group| group.approved >= ENOUGH)
        .filter(|group| may_offer(&group.prefix).is_ok() && !refused(&group.prefix))
        .collect();
    suggestions.sort_by_key(|suggestion| std::cmp::Reverse(suggestion.approved));
    Suggestions { suggestions }
}

impl Suggestions {
    /// The rules, to be appended to a policy file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for suggestion in &self.suggestions {
            let id = format!("suggested-{}", suggestion.prefix.join("-"));
            let why = format!("Approved {} times", suggestion.approved);
            rule(&mut text, &id, &suggestion.prefix, "allow", Some(&why));
            if let Some(example) = shell_words(&suggestion.prefix) {
                text.push_str(&format!("match = {}\n", super::toml_text::list(&[example])));
            }
        }
        text
    }
}

/// What would be added, as a difference.
impl fmt::Display for Suggestions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.suggestions.is_empty() {
            return writeln!(f, "nothing to suggest");
        }
        for suggestion in &self.suggestions {
            writeln!(
                f,
                "# {} approvals, such as: {}",
                suggestion.approved,
                words::shown(&suggestion.examples.join("; "))
            )?;
        }
        for line in self.text().lines() {
            writeln!(f, "+{line}")?;
        }
        Ok(())
    }
}
