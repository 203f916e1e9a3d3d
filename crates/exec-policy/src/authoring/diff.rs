//! What an edit of a policy changes: every prefix whose verdict moved, and what the sandbox newly grants.
//!
//! Rules speak about prefixes, so a verdict can only change where a prefix of either policy ends, or where a flag that
//! either names is added. Asking both policies about a witness for each of these finds every such change; nothing is
//! solved. What a predicate says about operands is seen through the rules' own examples.

use std::collections::BTreeSet;
use std::fmt;

use super::settings_diff;
use super::witness::{is_exhaustive, witnesses};
use super::words;
use super::workbench::Workbench;
use crate::decision::SegmentVerdict;
use crate::language::model::Rule;
use crate::matching::{CommandFacts, Evaluation};

/// What a policy does with a command, the loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever shows a difference must know every verdict"
)]
pub enum DiffVerdict {
    /// Allowed, and leaves the sandbox.
    AllowUnsandboxed,
    /// Allowed inside the sandbox.
    Allow,
    /// No rule speaks, and nothing is asked: it runs inside the sandbox.
    Unmatched,
    /// Somebody is asked, and it leaves the sandbox then.
    PromptUnsandboxed,
    /// Somebody is asked.
    Prompt,
    /// It does not run.
    Forbid,
}

impl DiffVerdict {
    fn of(evaluation: &Evaluation<'_>) -> Self {
        evaluation
            .verdicts()
            .iter()
            .map(|verdict| match verdict {
                SegmentVerdict::Allow {
                    unsandboxed: true, ..
                } => Self::AllowUnsandboxed,
                SegmentVerdict::Allow { .. } => Self::Allow,
                SegmentVerdict::Unmatched | SegmentVerdict::Opaque { .. } => Self::Unmatched,
                SegmentVerdict::Prompt {
                    unsandboxed: true, ..
                } => Self::PromptUnsandboxed,
                SegmentVerdict::Prompt { .. } | SegmentVerdict::PromptByDefault { .. } => {
                    Self::Prompt
                }
                SegmentVerdict::Forbid { .. } | SegmentVerdict::ForbidByDefault { .. } => {
                    Self::Forbid
                }
            })
            .max()
            .unwrap_or(Self::Unmatched)
    }

    /// What becomes of a command then, as the end of "it now ...".
    const fn becomes(self) -> &'static str {
        match self {
            Self::AllowUnsandboxed => "runs without a sandbox, unasked",
            Self::Allow => "runs in its sandbox, unasked",
            Self::Unmatched => "is left to the approval policy, because no rule speaks about it",
            Self::PromptUnsandboxed => "runs without a sandbox, once somebody agrees",
            Self::Prompt => "runs in its sandbox, once somebody agrees",
            Self::Forbid => "is forbidden",
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllowUnsandboxed => "allow, without a sandbox",
            Self::Allow => "allow",
            Self::Unmatched => "no rule",
            Self::PromptUnsandboxed => "prompt, then without a sandbox",
            Self::Prompt => "prompt",
            Self::Forbid => "forbid",
        }
    }
}

/// Which way something moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum Direction {
    /// More is possible than before.
    Looser,
    /// Less is possible than before.
    Stricter,
}

impl Direction {
    /// The other way.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Looser => Self::Stricter,
            Self::Stricter => Self::Looser,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Looser => "looser",
            Self::Stricter => "stricter",
        }
    }
}

/// A prefix whose verdict moved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moved {
    /// The prefix.
    pub prefix: Vec<String>,
    /// A command that shows it.
    pub witness: String,
    /// What was said before.
    pub from: DiffVerdict,
    /// What is said now.
    pub to: DiffVerdict,
    /// The rules that say so now, with their places; empty if none does.
    pub because: Vec<String>,
}

impl Moved {
    /// Which way it moved.
    #[must_use]
    pub fn direction(&self) -> Direction {
        if self.to < self.from {
            Direction::Looser
        } else {
            Direction::Stricter
        }
    }
}

/// A setting, a grant or a limit that changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct SettingChange {
    /// Which way it moved.
    pub direction: Direction,
    /// What changed, in words.
    pub what: String,
}

/// The difference between two policies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a difference that nobody looks at protects nothing"]
pub struct PolicyDiff {
    /// Prefixes whose verdict moved, looser ones first.
    pub moved: Vec<Moved>,
    /// What the sandbox grants differently, looser first.
    pub settings: Vec<SettingChange>,
    /// Rules that changed in a way that no witness shows, by id.
    pub unseen: Vec<String>,
}

impl PolicyDiff {
    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.moved.is_empty() && self.settings.is_empty() && self.unseen.is_empty()
    }

    /// Whether anything is possible that was not before, or might be.
    #[must_use]
    pub fn is_loosening(&self) -> bool {
        let moved = self
            .moved
            .iter()
            .any(|moved| moved.direction() == Direction::Looser);
        let set = self
            .settings
            .iter()
            .any(|change| change.direction == Direction::Looser);
        moved || set || !self.unseen.is_empty()
    }
}

/// What changes from one policy to another.
pub fn diff(before: &Workbench<'_>, after: &Workbench<'_>, facts: &CommandFacts<'_>) -> PolicyDiff {
    let changed = changed(before.policy().rules(), after.policy().rules());
    let both = before.policy().rules().iter().chain(after.policy().rules());
    let mut moved = Vec::new();
    let mut settings = settings_diff::settings(before.policy(), after.policy());
    let mut shown: BTreeSet<&str> = BTreeSet::new();
    for (witness, prefix) in witnesses(both) {
        let old = before.evaluate(&witness, facts);
        let new = after.evaluate(&witness, facts);
        let (from, to) = (DiffVerdict::of(&old), DiffVerdict::of(&new));
        let granted = settings_diff::grants(
            &prefix.join(" "),
            (before.policy(), &old),
            (after.policy(), &new),
        );
        if from == to && granted.is_empty() {
            continue;
        }
        for rule in changed
            .iter()
            .filter(|rule| speaks(rule, &old) || speaks(rule, &new))
        {
            shown.insert(&rule.id);
        }
        settings.extend(granted);
        if from != to {
            moved.push(Moved {
                prefix,
                witness,
                from,
                to,
                because: because(&new),
            });
        }
    }
    one_witness_each(&mut moved);
    moved.sort_by(|one, other| {
        (one.direction(), one.to, &one.witness).cmp(&(other.direction(), other.to, &other.witness))
    });
    settings.sort();
    settings.dedup();
    let unseen: BTreeSet<String> = changed
        .iter()
        .filter(|rule| !shown.contains(rule.id.as_str()) && may_hide(rule))
        .map(|rule| rule.id.clone())
        .collect();
    PolicyDiff {
        moved,
        settings,
        unseen: unseen.into_iter().collect(),
    }
}

/// Keeps the shortest witness of each prefix that moved in the same way.
fn one_witness_each(moved: &mut Vec<Moved>) {
    moved.sort_by(|one, other| {
        let key = |moved: &Moved| {
            (
                moved.prefix.clone(),
                moved.from,
                moved.to,
                moved.witness.len(),
            )
        };
        (key(one), &one.witness).cmp(&(key(other), &other.witness))
    });
    moved.dedup_by(|next, kept| {
        next.prefix == kept.prefix && next.from == kept.from && next.to == kept.to
    });
}

/// Rules of either list that the other does not have, whatever their place, words and examples.
fn changed<'r>(before: &'r [Rule], after: &'r [Rule]) -> Vec<&'r Rule> {
    let only = |some: &'r [Rule], other: &[Rule]| -> Vec<&'r Rule> {
        let known: BTreeSet<String> = other.iter().map(meaning).collect();
        some.iter()
            .filter(|rule| !known.contains(&meaning(rule)))
            .collect()
    };
    let mut changed = only(before, after);
    changed.extend(only(after, before));
    changed
}

/// Everything about a rule that a verdict depends on.
fn meaning(rule: &Rule) -> String {
    format!(
        "{:?}",
        (
            &rule.prefix,
            &rule.globals,
            rule.decision,
            &rule.when_flags,
            &rule.flags,
            &rule.except,
            rule.args,
            rule.unsandboxed,
            &rule.sandbox,
        )
    )
}

/// Whether a change of the rule may be one that no witness shows.
fn may_hide(rule: &Rule) -> bool {
    rule.args.is_some()
        || !is_exhaustive(&rule.prefix)
        || !rule.globals.flag.is_empty()
        || !rule.globals.value.is_empty()
        || !rule.globals.optional.is_empty()
}

fn speaks(rule: &Rule, evaluation: &Evaluation<'_>) -> bool {
    evaluation
        .segments()
        .iter()
        .flat_map(|segment| segment.matches())
        .any(|found| found.rule.id() == rule.id)
}

/// The rules behind the strictest segment.
fn because(evaluation: &Evaluation<'_>) -> Vec<String> {
    let decision = evaluation.rule_decision();
    let rules: BTreeSet<String> = evaluation
        .segments()
        .iter()
        .flat_map(|segment| segment.matches())
        .filter(|found| found.decision == decision)
        .map(|found| {
            format!(
                "`{}` ({})",
                words::shown(found.rule.id()),
                found.rule.origin()
            )
        })
        .collect();
    rules.into_iter().collect()
}

impl fmt::Display for PolicyDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return writeln!(f, "nothing changes");
        }
        for moved in &self.moved {
            writeln!(
                f,
                "{}: `{}` now {} (before: {})",
                moved.direction().name(),
                words::shown(&moved.prefix.join(" ")),
                moved.to.becomes(),
                moved.from.name(),
            )?;
            writeln!(f, "  for example: {}", words::shown(&moved.witness))?;
            for rule in &moved.because {
                writeln!(f, "  because of {rule}")?;
            }
        }
        for change in &self.settings {
            writeln!(
                f,
                "{}: {}",
                change.direction.name(),
                words::shown(&change.what)
            )?;
        }
        for rule in &self.unseen {
            writeln!(
                f,
                "changed: rule `{}`, in a way that no example shows; read it",
                words::shown(rule)
            )?;
        }
        Ok(())
    }
}
