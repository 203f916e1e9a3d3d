//! The seam to the rules: what they say about each segment of a command.
//!
//! A command line is one segment or, for a script such as `cd a && git push`, several. Whoever matches rules hands
//! one [`SegmentVerdict`] for each to the decision, the strictest of all the rules that match. Nothing else about
//! rules reaches it.
#![expect(
    clippy::exhaustive_enums,
    reason = "the decision must say what a new verdict means"
)]

use serde::Serialize;

/// A rule, as explanations name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever matches rules must fill in both parts"
)]
pub struct RuleRef<'a> {
    /// Its id.
    pub id: &'a str,
    /// Why it exists, in its author's words.
    pub why: Option<&'a str>,
}

impl<'a> RuleRef<'a> {
    /// A rule that says why it exists.
    #[must_use]
    pub const fn new(id: &'a str, why: Option<&'a str>) -> Self {
        Self { id, why }
    }
}

/// What a `[defaults]` entry of a policy file speaks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DefaultEntry {
    /// Segments that no rule matches.
    Unmatched,
    /// Scripts that cannot be read with certainty.
    Opaque,
    /// Commands of the danger table.
    Danger,
}

impl DefaultEntry {
    /// The name of the entry.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unmatched => "unmatched",
            Self::Opaque => "opaque",
            Self::Danger => "danger",
        }
    }
}

/// Where a verdict comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictSource<'a> {
    /// A rule matched.
    Rule(RuleRef<'a>),
    /// No rule matched, or what ran could not be read, or it is in the danger table.
    Default(DefaultEntry),
}

/// What the rules say about one segment of a command.
///
/// `unsandboxed` is the property of a rule that lets what it matches leave the sandbox. Only rules have it, and only
/// a rule's question can be answered by a stored approval: a default names no rule that an approval could name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SegmentVerdict<'a> {
    /// A rule allows it: inside the sandbox, unless the rule says `unsandboxed`.
    Allow {
        /// The rule.
        rule: RuleRef<'a>,
        /// Whether the rule lets it leave the sandbox.
        unsandboxed: bool,
    },
    /// A rule asks.
    Prompt {
        /// The rule.
        rule: RuleRef<'a>,
        /// Whether a stored approval of this rule's question covers this segment.
        answered: bool,
        /// Whether the rule lets it leave the sandbox, once somebody agreed.
        unsandboxed: bool,
    },
    /// A default that the policy's author wrote asks.
    PromptByDefault {
        /// Which one.
        entry: DefaultEntry,
    },
    /// A rule forbids it.
    Forbid {
        /// The rule; its `why` is what the command is told.
        rule: RuleRef<'a>,
    },
    /// A default that the policy's author wrote forbids it.
    ForbidByDefault {
        /// Which one.
        entry: DefaultEntry,
    },
    /// No rule matches, and no author wrote what that means.
    Unmatched,
    /// It cannot be read with certainty, and no author wrote what that means.
    Opaque {
        /// What is in the way.
        why: &'a str,
    },
}

/// What rules alone say, asked without an approval policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleDecision {
    /// It may run inside the sandbox.
    Allow,
    /// A person decides.
    Prompt,
    /// It may not run.
    Forbid,
}

impl<'a> SegmentVerdict<'a> {
    /// What the rules say about it, read without an approval policy: what no rule allows or forbids is a prompt.
    #[must_use]
    pub const fn rule_decision(&self) -> RuleDecision {
        match self {
            Self::Allow { .. } => RuleDecision::Allow,
            Self::Prompt { .. }
            | Self::PromptByDefault { .. }
            | Self::Unmatched
            | Self::Opaque { .. } => RuleDecision::Prompt,
            Self::Forbid { .. } | Self::ForbidByDefault { .. } => RuleDecision::Forbid,
        }
    }

    /// Where the verdict comes from.
    #[must_use]
    pub const fn source(&self) -> VerdictSource<'a> {
        match *self {
            Self::Allow { rule, .. } | Self::Prompt { rule, .. } | Self::Forbid { rule } => {
                VerdictSource::Rule(rule)
            }
            Self::PromptByDefault { entry } | Self::ForbidByDefault { entry } => {
                VerdictSource::Default(entry)
            }
            Self::Unmatched => VerdictSource::Default(DefaultEntry::Unmatched),
            Self::Opaque { .. } => VerdictSource::Default(DefaultEntry::Opaque),
        }
    }

    /// Whether it cannot be read with certainty.
    pub(crate) const fn is_opaque(&self) -> bool {
        matches!(self.source(), VerdictSource::Default(DefaultEntry::Opaque))
    }
}
