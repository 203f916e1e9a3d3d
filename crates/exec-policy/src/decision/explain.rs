//! Decisions and reasons as one readable sentence.

use std::fmt::{self, Write as _};

use crate::decision::approval::PromptCategory;
use crate::decision::decide::Decision;
use crate::decision::reason::{Escalation, Reason, Reasons};
use crate::decision::requirement::{ApprovalPurpose, ExecApprovalRequirement};
use crate::decision::verdict::{RuleRef, VerdictSource};

impl Decision<'_> {
    /// What was decided and why, as one sentence without a full stop.
    #[must_use]
    pub fn explain(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Decision<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.requirement {
            ExecApprovalRequirement::Skip {
                bypass_sandbox: false,
                ..
            } => f.write_str("runs without asking")?,
            ExecApprovalRequirement::Skip {
                bypass_sandbox: true,
                ..
            } => f.write_str("runs without asking and without a sandbox")?,
            ExecApprovalRequirement::NeedsApproval { purpose, .. } => {
                f.write_str(match purpose {
                    ApprovalPurpose::Run => "asks before running",
                    ApprovalPurpose::RunUnsandboxed => "asks before running without a sandbox",
                })?;
                f.write_str(" (")?;
                if self.reasons.questions().next().is_some() {
                    join(f, self.reasons.categories().map(PromptCategory::name), ", ")?;
                } else {
                    // A tool without a command has no reason of its own; its question is about the sandbox.
                    f.write_str(PromptCategory::SandboxApproval.name())?;
                }
                f.write_str(")")?;
            }
            ExecApprovalRequirement::Forbidden { .. } => f.write_str("refuses to run")?,
        }
        f.write_str(", because ")?;
        join(f, self.reasons.iter(), " and ")
    }
}

/// What a person is asked about, as a clause.
pub(crate) fn asked<'a>(reasons: &'a Reasons<'a>) -> impl fmt::Display + 'a {
    Asked(reasons)
}

struct Asked<'a>(&'a Reasons<'a>);

impl fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        join(f, self.0.questions(), " and ")
    }
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCommand(approval) => write!(
                f,
                "no command is run, so the approval policy `{approval}` and the sandbox alone decide"
            ),
            Self::Forbidden(source) => says(f, *source, "forbids this"),
            Self::RequiredSandboxMissing => {
                f.write_str("the tool requires a sandbox and none works here")
            }
            Self::BypassUnderPolicy(approval) => write!(
                f,
                "the host wants to bypass the sandbox, which the approval policy `{approval}` never asks about (sandbox_approval)"
            ),
            Self::RequiredSandboxContradicted(by) => write!(
                f,
                "the tool requires a sandbox, but the {} wants to run without one",
                who(*by)
            ),
            Self::RuleAsks(source) => says(f, *source, "asks"),
            Self::Dangerous => f.write_str("the command is dangerous"),
            Self::NotTrusted => {
                f.write_str("the command is neither allowed by rules nor known to be safe")
            }
            Self::EscalationRequested(by) => {
                write!(f, "the {} wants to run without the sandbox", who(*by))
            }
            Self::SandboxMissing => f.write_str("no sandbox works here"),
            Self::PermissionsRequested => f.write_str("the command wants more permissions"),
            Self::CategoryRejected(category) => write!(
                f,
                "the approval policy refuses {} questions",
                category.name()
            ),
            Self::StoredApproval(rule) => {
                write!(f, "a stored approval answers rule `{}`", Shown(rule.id))
            }
            Self::EscalationDropped(by) => write!(
                f,
                "the wish of the {} to run without the sandbox was dropped",
                who(*by)
            ),
            Self::PermissionsDropped => f.write_str("the additional permissions were dropped"),
            Self::EverySegmentAllowed(rule) => write!(
                f,
                "rules allow every part of it (the first is `{}`)",
                Shown(rule.id)
            ),
            Self::EverySegmentUnsandboxed(rule) => write!(
                f,
                "rules let every part of it leave the sandbox (the first is `{}`)",
                Shown(rule.id)
            ),
            Self::KnownSafe => f.write_str("the command is known to be safe"),
            Self::Confined => f.write_str("the sandbox confines it"),
            Self::NothingToConfine(mode) => {
                write!(f, "the mode `{}` has no sandbox of its own", mode.name())
            }
        }
    }
}

const fn who(escalation: Escalation) -> &'static str {
    match escalation {
        Escalation::Command => "command",
        Escalation::Host => "host",
        Escalation::Tool => "tool",
    }
}

/// A rule or a default, what it does, and why it exists.
fn says(f: &mut fmt::Formatter<'_>, source: VerdictSource<'_>, verb: &str) -> fmt::Result {
    match source {
        VerdictSource::Rule(RuleRef { id, why }) => {
            write!(f, "rule `{}` {verb}", Shown(id))?;
            match why.filter(|why| !why.is_empty()) {
                Some(why) => write!(f, " ({})", Shown(why)),
                None => Ok(()),
            }
        }
        VerdictSource::Default(entry) => write!(f, "the default for `{}` {verb}", entry.name()),
    }
}

/// Items as a list: commas, and `last` before the last one.
fn join<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: impl Iterator<Item = T>,
    last: &str,
) -> fmt::Result {
    let mut items = items.peekable();
    let mut separator = "";
    while let Some(item) = items.next() {
        if items.peek().is_none() && !separator.is_empty() {
            separator = last;
        }
        write!(f, "{separator}{item}")?;
        separator = ", ";
    }
    Ok(())
}

/// Text of a policy file, on one line and without characters that change how the rest is displayed.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '\'' | '"' | '\\' => f.write_char(character)?,
                _ => write!(f, "{}", character.escape_debug())?,
            }
        }
        Ok(())
    }
}
