//! The prefix that an approval could keep.

use palisade_shell_analysis::PlainCommand;

use super::evaluation::{Outcome, Segment};
use crate::decision::ExecPolicyAmendment;

/// Longest prefix that is offered.
const MAX_WORDS: usize = 16;

/// The one prefix that would make every segment allowed, if there is one.
pub(crate) fn candidate(
    segments: &[Segment<'_>],
    commands: &[PlainCommand],
) -> Option<ExecPolicyAmendment> {
    let mut found: Option<Vec<String>> = None;
    for (index, segment) in segments.iter().enumerate() {
        let at_least = match &segment.outcome {
            Outcome::Allow { .. } | Outcome::Prompt { answered: true, .. } => continue,
            Outcome::Prompt { rule, .. } => rule.prefix.len(),
            Outcome::Default { .. } if segment.dangers.is_empty() => 1,
            Outcome::Forbid { .. } | Outcome::Default { .. } => return None,
        };
        if segment.held_back.is_some()
            || segment
                .matches
                .iter()
                .filter(|m| m.decision != crate::RuleDecision::Allow)
                .count()
                > 1
        {
            return None;
        }
        let prefix = prefix(commands.get(index)?, at_least)?;
        match &found {
            None => found = Some(prefix),
            Some(other) if *other == prefix => {}
            Some(_) => return None,
        }
    }
    ExecPolicyAmendment::new(found?).ok()
}

/// The program and its subcommand where there is one, else every word.
fn prefix(command: &PlainCommand, at_least: usize) -> Option<Vec<String>> {
    let words: Option<Vec<String>> = command
        .words
        .iter()
        .map(|word| Some(std::str::from_utf8(word.literal()?).ok()?.to_owned()))
        .collect();
    let words = words?;
    let subcommand = words.get(1).is_some_and(|word| {
        word.bytes().next().is_some_and(|b| b.is_ascii_lowercase())
            && word
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    });
    let length = if subcommand {
        at_least.max(2)
    } else {
        words.len()
    };
    (length <= MAX_WORDS).then(|| words.into_iter().take(length).collect())
}
