//! A policy that is being imported: rules, lists and doubts, collected before they become text.

use std::collections::BTreeMap;

use super::report::{Carried, NotCarried};
use crate::decision::RuleDecision;
use crate::language::model::DefaultDecision;

/// One position of a prefix, with its alternatives.
pub(crate) type Position = Vec<String>;

/// A rule to be.
#[derive(Clone, Debug)]
pub(crate) struct DraftRule {
    pub(crate) line: usize,
    pub(crate) what: String,
    pub(crate) prefix: Vec<Position>,
    pub(crate) decision: RuleDecision,
    pub(crate) when_flags: Vec<String>,
    /// The original allowed these words and no others, so that a further flag is a question.
    pub(crate) exact: bool,
    /// The original allowed part of this: the rest of the file decides what the question is about.
    pub(crate) from_allow: bool,
    /// How the next word begins that a denial is about; empty: any next word.
    pub(crate) partial: String,
    /// Longer prefixes that the rule does not speak about.
    pub(crate) except: Vec<Vec<Position>>,
    pub(crate) why: Option<String>,
    pub(crate) matches: Vec<String>,
    pub(crate) not_matches: Vec<String>,
    pub(crate) notes: Vec<String>,
    /// Its example is ours.
    pub(crate) generated: bool,
}

impl DraftRule {
    pub(crate) fn new(
        line: usize,
        what: impl Into<String>,
        prefix: Vec<Position>,
        decision: RuleDecision,
    ) -> Self {
        Self {
            line,
            what: what.into(),
            prefix,
            decision,
            when_flags: Vec::new(),
            exact: false,
            from_allow: false,
            partial: String::new(),
            except: Vec::new(),
            why: None,
            matches: Vec::new(),
            not_matches: Vec::new(),
            notes: Vec::new(),
            generated: false,
        }
    }

    /// A denial that ends in one flag holds wherever the flag stands: that is what its author meant.
    pub(crate) fn flag_anywhere(&mut self) {
        let tightens = self.decision != RuleDecision::Allow;
        let Some(last) = self.prefix.last() else {
            return;
        };
        if tightens && self.prefix.len() > 1 && last.iter().all(|flag| is_one_flag(flag)) {
            self.when_flags.clone_from(last);
            self.prefix.pop();
            self.notes.push("holds wherever the flag stands".to_owned());
        }
    }

    /// The first alternative of each position.
    pub(crate) fn sample(&self) -> Vec<&str> {
        self.prefix
            .iter()
            .filter_map(|position| position.first().map(String::as_str))
            .collect()
    }

    /// Whether every command of another prefix is one of this rule's.
    pub(crate) fn covers(&self, prefix: &[Position]) -> bool {
        covers(&self.prefix, prefix)
    }
}

/// Whether every command that begins like `longer` also begins like `shorter`.
pub(crate) fn covers(shorter: &[Position], longer: &[Position]) -> bool {
    shorter.len() <= longer.len()
        && shorter
            .iter()
            .zip(longer)
            .all(|(some, other)| other.iter().all(|word| some.contains(word)))
}

/// `--force` or `-f`, but not `-rf` and not `--x=y`.
fn is_one_flag(word: &str) -> bool {
    let name = |rest: &str| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    match word.strip_prefix("--") {
        Some(rest) => name(rest) && !rest.starts_with('-'),
        None => word
            .strip_prefix('-')
            .is_some_and(|rest| rest.len() == 1 && name(rest) && rest != "-"),
    }
}

/// A denial that could not be expressed: these allows become questions.
#[derive(Clone, Debug)]
pub(crate) struct Doubt {
    pub(crate) line: usize,
    /// How the program's name begins; empty: any program.
    pub(crate) program: String,
}

/// `write` of `[filesystem]`.
#[derive(Clone, Debug, Default)]
pub(crate) enum Write {
    /// Not spoken about.
    #[default]
    Unsaid,
    /// Exactly these; empty is none.
    Only(Vec<String>),
}

/// A policy that is being imported.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) rules: Vec<DraftRule>,
    pub(crate) doubts: Vec<Doubt>,
    /// The original denied every command.
    pub(crate) deny_all: bool,
    pub(crate) unmatched: Option<DefaultDecision>,
    pub(crate) write: Write,
    /// The lines of writable places.
    pub(crate) write_lines: BTreeMap<String, usize>,
    pub(crate) deny: Vec<String>,
    pub(crate) read_only: Vec<String>,
    /// `Some`: exactly these hosts.
    pub(crate) hosts: Option<Vec<String>>,
    pub(crate) programs: Vec<(String, Vec<String>)>,
    pub(crate) carried: Vec<Carried>,
    pub(crate) not_carried: Vec<NotCarried>,
}

impl Draft {
    pub(crate) fn carry(&mut self, line: usize, what: impl Into<String>, note: impl Into<String>) {
        self.carried.push(Carried {
            line,
            what: what.into(),
            note: note.into(),
        });
    }

    pub(crate) fn leave(&mut self, line: usize, what: impl Into<String>, why: impl Into<String>) {
        self.leave_out(line, what, why, false);
    }

    /// Leaves out something that denied.
    pub(crate) fn leave_denial(
        &mut self,
        line: usize,
        what: impl Into<String>,
        why: impl Into<String>,
    ) {
        self.leave_out(line, what, why, true);
    }

    fn leave_out(
        &mut self,
        line: usize,
        what: impl Into<String>,
        why: impl Into<String>,
        weakens: bool,
    ) {
        self.not_carried.push(NotCarried {
            line,
            what: what.into(),
            why: why.into(),
            weakens,
        });
    }

    pub(crate) fn doubt(&mut self, line: usize, program: impl Into<String>) {
        let program = program.into();
        self.doubts.push(Doubt { line, program });
    }

    /// Turns allows that an inexpressible denial could touch into questions.
    pub(crate) fn settle_doubts(&mut self) {
        for rule in &mut self.rules {
            if rule.decision != RuleDecision::Allow {
                continue;
            }
            let programs = rule.prefix.first().map(Vec::as_slice).unwrap_or_default();
            let touched = self.doubts.iter().find(|doubt| {
                programs
                    .iter()
                    .any(|program| program.starts_with(&doubt.program))
            });
            if let Some(doubt) = touched {
                rule.decision = RuleDecision::Prompt;
                rule.exact = false;
                rule.notes.push(format!(
                    "asks instead of allowing, because the denial of line {} could not be carried over",
                    doubt.line
                ));
            }
        }
    }
}
