//! What is forbidden anywhere in a script, however it is wrapped.

use palisade_shell_analysis::{Construct, Mention};

use super::args::{self, Arg};
use super::download;
use super::evaluation::{Outcome, Segment, SegmentPlace};
use super::judge::{Findings, Judge};
use super::predicates::{Download, View};
use super::redirect;
use crate::decision::RuleDecision;

impl<'r> Judge<'r, '_> {
    /// What is forbidden anywhere, and, in a script that could not be read, what rules ask about.
    pub(super) fn mentions(
        &self,
        mentions: &[Mention],
        opaque: bool,
        segments: &mut Vec<Segment<'r>>,
    ) {
        let cwds = std::slice::from_ref(&self.facts.place.cwd);
        let mut words = Vec::new();
        let download = if opaque {
            download::among(mentions)
        } else {
            Download::default()
        };
        for (index, mention) in mentions.iter().enumerate() {
            args::of_mention(mention, &mut words);
            let view = View {
                words: &words,
                cwds,
                place: self.facts.place,
                harmless_change: false,
                download,
            };
            let mut findings = Findings::default();
            self.strict(&view, &mut findings);
            for (kind, target) in &mention.redirects {
                if let Some(program) = redirect::pseudo_program(*kind) {
                    let words = [Arg::Known(program), args::of_mention_word(target)];
                    self.strict(
                        &View {
                            words: &words,
                            ..view
                        },
                        &mut findings,
                    );
                }
            }
            for (name, _) in &mention.assignments {
                if let Some(rule) = self
                    .variable(name)
                    .filter(|rule| rule.decision != RuleDecision::Allow)
                {
                    findings.add(rule, rule.decision);
                }
            }
            let guessed = mention.found.iter().any(|construct| {
                matches!(
                    construct,
                    Construct::Guess | Construct::TextScan | Construct::PipedIntoShell
                )
            });
            let outcome = match findings.strictest() {
                Some(RuleDecision::Forbid) => findings
                    .named(RuleDecision::Forbid)
                    .map(|rule| Outcome::Forbid { rule }),
                Some(RuleDecision::Prompt) if opaque && !guessed => findings
                    .named(RuleDecision::Prompt)
                    .map(|rule| Outcome::Prompt {
                        rule,
                        answered: false,
                        unsandboxed: false,
                    }),
                _ => None,
            };
            match outcome {
                Some(outcome) if !is_listed(segments, &outcome) => segments.push(Segment {
                    place: SegmentPlace::Mention(index),
                    outcome,
                    matches: findings.matches,
                    near: None,
                    held_back: None,
                    dangers: findings.dangers,
                }),
                // Nothing new to say, but what was found to be dangerous stays so.
                _ => {
                    if let Some(first) = segments.first_mut() {
                        first.dangers.extend(findings.dangers);
                    }
                }
            }
        }
    }
}

/// Whether a segment already says this, on account of the same rule.
fn is_listed(segments: &[Segment<'_>], outcome: &Outcome<'_>) -> bool {
    segments
        .iter()
        .any(|segment| match (&segment.outcome, outcome) {
            (Outcome::Forbid { rule: a }, Outcome::Forbid { rule: b })
            | (Outcome::Prompt { rule: a, .. }, Outcome::Prompt { rule: b, .. }) => {
                std::ptr::eq(*a, *b)
            }
            _ => false,
        })
}
