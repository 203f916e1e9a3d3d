//! The answer: what the rules say about a command, segment by segment.

use std::fmt;

use palisade_shell_analysis::{Analysis, Opaque};

use super::amend;
use super::rule::CompiledRule;
use crate::decision::ExecPolicyAmendment;
use crate::decision::Risk;
use crate::decision::{DefaultEntry, RuleDecision, SegmentVerdict, VerdictSource};
use crate::language::model::{DefaultDecision, LimitsSpec, SandboxGrants};

/// What the rules say about one command.
#[derive(Clone, Debug)]
pub struct Evaluation<'r> {
    pub(crate) segments: Vec<Segment<'r>>,
    pub(crate) risk: Risk,
}

/// What the rules say about one segment.
#[derive(Clone, Debug)]
pub struct Segment<'r> {
    pub(crate) place: SegmentPlace,
    pub(crate) outcome: Outcome<'r>,
    pub(crate) matches: Vec<Match<'r>>,
    pub(crate) near: Option<&'r CompiledRule>,
    pub(crate) held_back: Option<HeldBack>,
    pub(crate) dangers: Vec<&'r CompiledRule>,
}

/// Where a segment comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SegmentPlace {
    /// A command of a plain script, by its index.
    Command(usize),
    /// A command that is mentioned, by its index.
    Mention(usize),
    /// The whole of a script that could not be read.
    Script,
}

/// A rule that speaks about a segment, and what it says there.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Match<'r> {
    /// The rule.
    pub rule: &'r CompiledRule,
    /// What it says: its decision, or its `else`.
    pub decision: RuleDecision,
}

/// Why an allow does not hold although its rule matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeldBack {
    /// An earlier builtin changed what the command means.
    Tainted,
    /// It may run outside the project.
    Directory,
    /// It sets a variable that nobody allows.
    Variable,
    /// It redirects to or from where it may not.
    Redirect,
    /// An option before the subcommand leads outside the project.
    GlobalOption,
    /// Its operands arrive at run time.
    UnknownOperands,
    /// It reads from a command that is not a plain reader.
    Substitution,
    /// A glob stands where a rule looks for a word.
    Glob,
    /// A wrapper around it is not transparent.
    Wrapper,
    /// It is not certain which program runs.
    Program,
}

impl fmt::Display for HeldBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tainted => "an earlier command changed the shell",
            Self::Directory => "it may run outside the project",
            Self::Variable => "it sets a variable that is not known to be harmless",
            Self::Redirect => "a redirect leaves the project or reaches something protected",
            Self::GlobalOption => "an option before the subcommand leads outside the project",
            Self::UnknownOperands => "its operands are known only when it runs",
            Self::Substitution => "it reads from a command that does more than read",
            Self::Glob => "a glob stands where a rule looks for a word",
            Self::Wrapper => "a wrapper around it changes who or with what it runs",
            Self::Program => "it is not certain which program runs",
        })
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Outcome<'r> {
    Allow {
        rule: &'r CompiledRule,
    },
    Prompt {
        rule: &'r CompiledRule,
        answered: bool,
        unsandboxed: bool,
    },
    Forbid {
        rule: &'r CompiledRule,
    },
    Default {
        entry: DefaultEntry,
        decision: Option<DefaultDecision>,
        why: String,
    },
}

impl<'r> Evaluation<'r> {
    /// The verdicts, as [`decide`](crate::decide()) takes them.
    #[must_use]
    pub fn verdicts(&self) -> Vec<SegmentVerdict<'_>> {
        self.segments.iter().map(Segment::verdict).collect()
    }

    /// The segments: those of a plain script in order, then what is forbidden or asked about among the mentions.
    #[must_use]
    pub fn segments(&self) -> &[Segment<'r>] {
        &self.segments
    }

    /// How risky the command looks.
    #[must_use]
    pub const fn risk(&self) -> Risk {
        self.risk
    }

    /// What the rules say about the whole: the strictest segment; what no rule speaks about is a prompt.
    #[must_use]
    pub fn rule_decision(&self) -> RuleDecision {
        self.segments
            .iter()
            .map(|segment| segment.verdict().rule_decision())
            .max()
            .unwrap_or(RuleDecision::Prompt)
    }

    /// Where the decision on the whole comes from.
    #[must_use]
    pub fn source(&self) -> VerdictSource<'_> {
        let decision = self.rule_decision();
        let strictest = self
            .segments
            .iter()
            .find(|segment| segment.verdict().rule_decision() == decision);
        match strictest.map(|segment| (segment.verdict().source(), segment)) {
            // What no rule speaks about, but the danger table does, is asked for that reason.
            Some((VerdictSource::Default(DefaultEntry::Unmatched), segment))
                if !segment.dangers.is_empty() =>
            {
                VerdictSource::Default(DefaultEntry::Danger)
            }
            Some((source, _)) => source,
            None => VerdictSource::Default(DefaultEntry::Opaque),
        }
    }

    /// The prefix that would make the rules allow the whole command, if there is one. `analysis` is what was evaluated.
    ///
    /// Whether it may be offered is for the approvals to say: it may still be one that grants everything.
    #[must_use]
    pub fn amendment_candidate(&self, analysis: &Analysis) -> Option<ExecPolicyAmendment> {
        let plain = analysis.plain.as_ref().ok()?;
        let only_commands = self.segments.len() == plain.commands.len();
        if !only_commands || self.risk == Risk::Dangerous {
            return None;
        }
        amend::candidate(&self.segments, &plain.commands)
    }
}

impl<'r> Segment<'r> {
    /// The verdict.
    #[must_use]
    pub fn verdict(&self) -> SegmentVerdict<'_> {
        match &self.outcome {
            Outcome::Allow { rule } => SegmentVerdict::Allow {
                rule: rule.as_ref(),
                unsandboxed: rule.unsandboxed,
            },
            Outcome::Prompt {
                rule,
                answered,
                unsandboxed,
            } => SegmentVerdict::Prompt {
                rule: rule.as_ref(),
                answered: *answered,
                unsandboxed: *unsandboxed,
            },
            Outcome::Forbid { rule } => SegmentVerdict::Forbid {
                rule: rule.as_ref(),
            },
            Outcome::Default {
                entry,
                decision,
                why,
            } => match (decision, entry) {
                (Some(DefaultDecision::Prompt), entry) => {
                    SegmentVerdict::PromptByDefault { entry: *entry }
                }
                (Some(DefaultDecision::Forbid), entry) => {
                    SegmentVerdict::ForbidByDefault { entry: *entry }
                }
                (None, DefaultEntry::Opaque) => SegmentVerdict::Opaque { why },
                (None, DefaultEntry::Unmatched | DefaultEntry::Danger) => SegmentVerdict::Unmatched,
            },
        }
    }

    /// Where it comes from.
    #[must_use]
    pub const fn place(&self) -> SegmentPlace {
        self.place
    }

    /// Every rule that speaks about it.
    #[must_use]
    pub fn matches(&self) -> &[Match<'r>] {
        &self.matches
    }

    /// The rule that came closest among those that begin like it and do not speak about it.
    #[must_use]
    pub const fn near(&self) -> Option<&'r CompiledRule> {
        self.near
    }

    /// Why an allow does not hold.
    #[must_use]
    pub const fn held_back(&self) -> Option<HeldBack> {
        self.held_back
    }

    /// Entries of the danger table that match it.
    #[must_use]
    pub fn dangers(&self) -> &[&'r CompiledRule] {
        &self.dangers
    }

    /// What the sandbox grants for it, limits apart ([`limits`](Self::limits)): of every matching rule that has the verdict's decision and is not forbidding.
    pub fn grants(&self) -> impl Iterator<Item = &'r SandboxGrants> {
        let decision = match &self.outcome {
            Outcome::Allow { .. } => Some(RuleDecision::Allow),
            Outcome::Prompt { .. } => Some(RuleDecision::Prompt),
            Outcome::Forbid { .. } | Outcome::Default { .. } => None,
        };
        self.matches
            .iter()
            .filter(move |found| Some(found.decision) == decision)
            .map(|found| &found.rule.sandbox)
    }

    /// What every matching rule limits, whatever it decides: the lowest of each counts, so that a stricter rule never
    /// lifts the limits of another.
    pub fn limits(&self) -> impl Iterator<Item = &'r LimitsSpec> {
        self.matches
            .iter()
            .filter_map(|found| found.rule.sandbox.limits.as_ref())
    }

    /// Whether a built-in rule for readers allows it.
    pub(crate) fn is_reader(&self) -> bool {
        matches!(&self.outcome, Outcome::Allow { rule } if rule.reader && !rule.unsandboxed)
    }

    pub(crate) fn is_allowed(&self) -> bool {
        matches!(&self.outcome, Outcome::Allow { .. })
    }

    pub(crate) fn opaque(why: &Opaque, decision: Option<DefaultDecision>) -> Self {
        Self {
            place: SegmentPlace::Script,
            outcome: Outcome::Default {
                entry: DefaultEntry::Opaque,
                decision,
                why: why.to_string(),
            },
            matches: Vec::new(),
            near: None,
            held_back: None,
            dangers: Vec::new(),
        }
    }
}
