//! Rules that do nothing, allow too much, or say too little.

use std::fmt;

use super::options::is_known;
use super::words;
use super::workbench::Workbench;
use crate::approvals::is_wide;
use crate::decision::RuleDecision;
use crate::language::model::{Layer, Origin, Rule, SandboxGrants};

/// What is wrong with a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever shows findings must know every kind"
)]
pub enum Lint {
    /// A stricter rule speaks about everything that this one speaks about.
    Dead,
    /// A rule that asks, where another one always forbids.
    PromptNeverReached,
    /// Another rule says the same about more.
    Shadowed,
    /// An allow that runs anything.
    TooWide,
    /// It leaves the sandbox.
    Unsandboxed,
    /// An alternative that another rule speaks about already.
    DuplicateAlternative,
    /// A flag that no table of the program knows.
    UnknownOption,
    /// No `match`.
    MissingExamples,
    /// No `why`.
    MissingWhy,
}

impl Lint {
    /// The name that reports and settings use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dead => "dead",
            Self::PromptNeverReached => "prompt-never-reached",
            Self::Shadowed => "shadowed",
            Self::TooWide => "too-wide",
            Self::Unsandboxed => "unsandboxed",
            Self::DuplicateAlternative => "duplicate-alternative",
            Self::UnknownOption => "unknown-option",
            Self::MissingExamples => "missing-examples",
            Self::MissingWhy => "missing-why",
        }
    }

    /// How much it matters.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::TooWide => Severity::Error,
            Self::Dead | Self::PromptNeverReached | Self::UnknownOption | Self::Unsandboxed => {
                Severity::Warning
            }
            Self::Shadowed
            | Self::DuplicateAlternative
            | Self::MissingExamples
            | Self::MissingWhy => Severity::Note,
        }
    }
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no fourth")]
pub enum Severity {
    /// Worth a look.
    Note,
    /// Probably not what was meant.
    Warning,
    /// Dangerous.
    Error,
}

impl Severity {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What kind.
    pub lint: Lint,
    /// The rule.
    pub rule: String,
    /// Where it stands.
    pub origin: Origin,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub suggestion: String,
}

/// Every finding, the gravest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LintReport {
    /// The findings.
    pub findings: Vec<Finding>,
}

impl LintReport {
    /// Whether there is a finding of at least this severity.
    #[must_use]
    pub fn has(&self, severity: Severity) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.lint.severity() >= severity)
    }
}

/// Looks at every rule of the authors; built-in rules are looked at only as what others may collide with.
#[must_use]
pub fn lint(bench: &Workbench<'_>) -> LintReport {
    let rules = bench.policy().rules();
    let unconditional: Vec<(usize, &Rule)> = rules
        .iter()
        .enumerate()
        .filter(|(_, rule)| is_unconditional(rule))
        .collect();
    let mut findings = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        if rule.origin.layer == Layer::BuiltIn {
            continue;
        }
        let mut linter = Linter {
            rule,
            findings: &mut findings,
        };
        linter.collisions(index, &unconditional);
        linter.width();
        linter.alternatives(index, &unconditional);
        linter.options(bench);
        linter.words();
    }
    findings.sort_by(|one, other| {
        let rank = |finding: &Finding| std::cmp::Reverse(finding.lint.severity());
        (rank(one), &one.origin, one.lint).cmp(&(rank(other), &other.origin, other.lint))
    });
    LintReport { findings }
}

/// Whether a rule speaks about everything that begins like it.
pub(super) fn is_unconditional(rule: &Rule) -> bool {
    rule.when_flags.is_empty()
        && rule.flags.is_none()
        && rule.except.is_empty()
        && rule.args.is_none()
}

/// Whether every command that begins like `longer` begins like `shorter`.
fn covers(shorter: &[Vec<String>], longer: &[Vec<String>]) -> bool {
    shorter.len() <= longer.len()
        && shorter
            .iter()
            .zip(longer)
            .all(|(some, other)| other.iter().all(|word| some.contains(word)))
}

struct Linter<'a> {
    rule: &'a Rule,
    findings: &'a mut Vec<Finding>,
}

impl Linter<'_> {
    fn find(&mut self, lint: Lint, message: impl Into<String>, suggestion: impl Into<String>) {
        self.findings.push(Finding {
            lint,
            rule: self.rule.id.clone(),
            origin: self.rule.origin.clone(),
            message: message.into(),
            suggestion: suggestion.into(),
        });
    }

    fn collisions(&mut self, index: usize, others: &[(usize, &Rule)]) {
        let rule = self.rule;
        let above =
            |other: &&(usize, &Rule)| other.0 != index && covers(&other.1.prefix, &rule.prefix);
        let stricter = others
            .iter()
            .filter(above)
            .find(|(_, other)| other.decision > rule.decision);
        if let Some((_, other)) = stricter {
            let by = format!("`{}` ({})", words::shown(&other.id), other.origin);
            let decision = words::decision(other.decision);
            if rule.decision == RuleDecision::Prompt {
                self.find(
                    Lint::PromptNeverReached,
                    format!("it never asks: {by} always says {decision}"),
                    "remove it, or narrow the other rule with `when`, `flags` or `except`",
                );
            } else {
                self.find(
                    Lint::Dead,
                    format!("it never decides: {by} always says {decision}"),
                    "remove it, or narrow the other rule with `when`, `flags` or `except`",
                );
            }
            return;
        }
        let adds_nothing = rule.sandbox == SandboxGrants::default() && !rule.unsandboxed;
        let same = others.iter().filter(above).find(|(at, other)| {
            let twin = rule.prefix == other.prefix && is_unconditional(rule);
            other.decision == rule.decision && (*at < index || !twin)
        });
        let changes = rule
            .flags
            .as_ref()
            .is_some_and(|flags| flags.otherwise > rule.decision);
        if let Some((_, other)) = same.filter(|_| adds_nothing && !changes) {
            self.find(
                Lint::Shadowed,
                format!(
                    "`{}` ({}) says the same about all of it",
                    words::shown(&other.id),
                    other.origin
                ),
                "remove one of them",
            );
        }
    }

    fn width(&mut self) {
        let rule = self.rule;
        if rule.unsandboxed {
            self.find(
                Lint::Unsandboxed,
                "what it matches leaves the sandbox",
                "grant what the command needs with `sandbox.*` instead",
            );
        }
        if rule.decision != RuleDecision::Allow || rule.args.is_some() {
            return;
        }
        let rest: Vec<&str> = rule
            .prefix
            .iter()
            .skip(1)
            .filter_map(|position| position.first().map(String::as_str))
            .collect();
        let mut wide = Vec::new();
        for program in rule.prefix.first().into_iter().flatten() {
            let mut sample = vec![program.as_str()];
            sample.extend(&rest);
            wide.extend(is_wide(&sample));
        }
        // Alternatives in later places count, too: `npm test|run`.
        if let (Some(program), Some(last)) = (
            rule.prefix.first().and_then(|p| p.first()),
            rule.prefix.last(),
        ) && rule.prefix.len() > 1
        {
            let middle = rest.get(..rest.len().saturating_sub(1)).unwrap_or_default();
            for word in last.iter().skip(1) {
                let mut sample = vec![program.as_str()];
                sample.extend(middle);
                sample.push(word);
                wide.extend(is_wide(&sample));
            }
        }
        for reason in wide {
            self.find(
                Lint::TooWide,
                format!("it allows too much: {reason}"),
                "name a subcommand, or ask instead",
            );
        }
    }

    /// One of several alternatives that another rule speaks about already.
    fn alternatives(&mut self, index: usize, others: &[(usize, &Rule)]) {
        let rule = self.rule;
        for (position, alternatives) in rule.prefix.iter().enumerate() {
            if alternatives.len() < 2 {
                continue;
            }
            for word in alternatives {
                let mut one = rule.prefix.clone();
                if let Some(place) = one.get_mut(position) {
                    *place = vec![word.clone()];
                }
                let other = others.iter().find(|(at, other)| {
                    *at != index
                        && other.decision == rule.decision
                        && covers(&other.prefix, &one)
                        && !covers(&other.prefix, &rule.prefix)
                });
                if let Some((_, other)) = other {
                    let message = format!(
                        "`{}` is spoken about by `{}` ({}) already",
                        words::shown(word),
                        words::shown(&other.id),
                        other.origin
                    );
                    self.find(
                        Lint::DuplicateAlternative,
                        message,
                        "remove it from one of them",
                    );
                }
            }
        }
    }

    fn options(&mut self, bench: &Workbench<'_>) {
        let rule = self.rule;
        let own = bench.policy().options();
        let flags = rule
            .flags
            .iter()
            .flat_map(|flags| flags.allow.iter().flatten().chain(&flags.forbid));
        let unknown: Vec<&String> = rule
            .when_flags
            .iter()
            .chain(flags)
            .filter(|flag| is_known(own, &rule.prefix, flag) == Some(false))
            .collect();
        for flag in unknown {
            self.find(
                Lint::UnknownOption,
                format!("no table of the program knows `{}`", words::shown(flag)),
                "check its spelling, or list it under `[options]`",
            );
        }
    }

    fn words(&mut self) {
        if self.rule.matches.is_empty() {
            self.find(
                Lint::MissingExamples,
                "it has no `match` example",
                "add a command that it must match, and one that it must not",
            );
        }
        let why = self.rule.why.as_deref().unwrap_or_default();
        if why.trim().is_empty() {
            self.find(
                Lint::MissingWhy,
                "it does not say why it exists",
                "add `why`: whoever is asked or refused reads it",
            );
        }
    }
}

impl fmt::Display for LintReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.findings.is_empty() {
            return writeln!(f, "nothing found");
        }
        for finding in &self.findings {
            writeln!(
                f,
                "{} {}: {}: rule `{}`: {}\n  {}",
                finding.lint.severity().name(),
                finding.lint.name(),
                finding.origin,
                words::shown(&finding.rule),
                finding.message,
                finding.suggestion
            )?;
        }
        Ok(())
    }
}
