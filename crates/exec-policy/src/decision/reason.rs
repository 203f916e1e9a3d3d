//! Why a decision was made, as data.
#![expect(
    clippy::exhaustive_enums,
    reason = "whoever shows or translates reasons must say what a new one means"
)]

use palisade_policy::SandboxMode;
use serde::{Serialize, Serializer};

use crate::decision::approval::{AskForApproval, PromptCategory};
use crate::decision::verdict::{RuleRef, VerdictSource};

/// Who wants to leave the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Escalation {
    /// The command: `RequireEscalated`.
    Command,
    /// The host program: `BypassSandbox`.
    Host,
    /// The tool: preference `Forbid`.
    Tool,
}

/// One step on the way to a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason<'a> {
    /// The tool runs no command, so the approval policy alone decides.
    NoCommand(AskForApproval),
    /// A segment is forbidden.
    Forbidden(VerdictSource<'a>),
    /// The tool requires a sandbox, and none works.
    RequiredSandboxMissing,
    /// The host wants to bypass the sandbox under a policy that does not ask before a run.
    BypassUnderPolicy(AskForApproval),
    /// Somebody wants to leave a sandbox that the tool requires.
    RequiredSandboxContradicted(Escalation),
    /// A rule or an author's default asks.
    RuleAsks(VerdictSource<'a>),
    /// The command is dangerous.
    Dangerous,
    /// The command is neither allowed by rules nor known to be safe, and the approval policy wants one of them.
    NotTrusted,
    /// Somebody wants to leave the sandbox.
    EscalationRequested(Escalation),
    /// A sandbox is needed, and none works.
    SandboxMissing,
    /// The command wants more permissions.
    PermissionsRequested,
    /// The approval policy refuses to ask a question of this category.
    CategoryRejected(PromptCategory),
    /// A stored approval answered what this rule asks.
    StoredApproval(RuleRef<'a>),
    /// A requested escalation was dropped.
    EscalationDropped(Escalation),
    /// Requested permissions were dropped.
    PermissionsDropped,
    /// Rules allow every segment; the first of them.
    EverySegmentAllowed(RuleRef<'a>),
    /// Rules let every segment leave the sandbox; the first of them.
    EverySegmentUnsandboxed(RuleRef<'a>),
    /// The command is known to be safe.
    KnownSafe,
    /// A sandbox confines it.
    Confined,
    /// The mode has no sandbox of ours.
    NothingToConfine(SandboxMode),
}

/// How many kinds of reason there are, so there is room for every reason that a decision can have. A question that found
/// no room would not be asked.
const KINDS: usize = 20;

impl Reason<'_> {
    /// The category of the question that this reason asks; `None` if it asks none.
    #[must_use]
    pub const fn category(&self) -> Option<PromptCategory> {
        match self {
            Self::RuleAsks(_) => Some(PromptCategory::Rules),
            Self::Dangerous
            | Self::NotTrusted
            | Self::EscalationRequested(_)
            | Self::SandboxMissing => Some(PromptCategory::SandboxApproval),
            Self::PermissionsRequested => Some(PromptCategory::RequestPermissions),
            Self::NoCommand(_)
            | Self::Forbidden(_)
            | Self::RequiredSandboxMissing
            | Self::BypassUnderPolicy(_)
            | Self::RequiredSandboxContradicted(_)
            | Self::CategoryRejected(_)
            | Self::StoredApproval(_)
            | Self::EscalationDropped(_)
            | Self::PermissionsDropped
            | Self::EverySegmentAllowed(_)
            | Self::EverySegmentUnsandboxed(_)
            | Self::KnownSafe
            | Self::Confined
            | Self::NothingToConfine(_) => None,
        }
    }

    /// Whether the question that this reason asks is about running without the sandbox.
    pub(crate) const fn is_about_leaving(&self) -> bool {
        matches!(self, Self::EscalationRequested(_) | Self::SandboxMissing)
    }

    /// The number of the kind, below [`KINDS`]: two reasons are of one kind if it is the same.
    const fn kind(&self) -> usize {
        match self {
            Self::NoCommand(_) => 0,
            Self::Forbidden(_) => 1,
            Self::RequiredSandboxMissing => 2,
            Self::BypassUnderPolicy(_) => 3,
            Self::RequiredSandboxContradicted(_) => 4,
            Self::RuleAsks(_) => 5,
            Self::Dangerous => 6,
            Self::NotTrusted => 7,
            Self::EscalationRequested(_) => 8,
            Self::SandboxMissing => 9,
            Self::PermissionsRequested => 10,
            Self::CategoryRejected(_) => 11,
            Self::StoredApproval(_) => 12,
            Self::EscalationDropped(_) => 13,
            Self::PermissionsDropped => 14,
            Self::EverySegmentAllowed(_) => 15,
            Self::EverySegmentUnsandboxed(_) => 16,
            Self::KnownSafe => 17,
            Self::Confined => 18,
            Self::NothingToConfine(_) => 19,
        }
    }
}

/// The chain of reasons behind a decision, in the order in which they were found.
///
/// Each kind of reason is there at most once: the first segment with a reason of a kind speaks for the others. The
/// chain lives inside the decision, so a decision that asks nothing allocates nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reasons<'a> {
    slots: [Option<Reason<'a>>; KINDS],
}

impl<'a> Reasons<'a> {
    pub(crate) const fn new() -> Self {
        Self {
            slots: [None; KINDS],
        }
    }

    /// Adds a reason, unless one of its kind is there already.
    pub(crate) fn push(&mut self, reason: Reason<'a>) {
        for slot in &mut self.slots {
            match slot {
                None => {
                    *slot = Some(reason);
                    return;
                }
                Some(present) if present.kind() == reason.kind() => return,
                Some(_) => {}
            }
        }
    }

    /// The reasons, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = Reason<'a>> + '_ {
        self.slots.iter().map_while(|slot| *slot)
    }

    /// The reasons that ask something.
    pub fn questions(&self) -> impl Iterator<Item = Reason<'a>> + '_ {
        self.iter().filter(|reason| reason.category().is_some())
    }

    /// The categories that are asked, each once, in the order of [`PromptCategory::ALL`].
    pub fn categories(&self) -> impl Iterator<Item = PromptCategory> + '_ {
        PromptCategory::ALL.into_iter().filter(|category| {
            self.questions()
                .any(|reason| reason.category() == Some(*category))
        })
    }
}

impl std::fmt::Debug for Reasons<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Reasons<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_every_kind() {
        let rule = RuleRef::new("rule", None);
        let source = VerdictSource::Rule(rule);
        let approval = AskForApproval::Never;
        let every = [
            Reason::NoCommand(approval),
            Reason::Forbidden(source),
            Reason::RequiredSandboxMissing,
            Reason::BypassUnderPolicy(approval),
            Reason::RequiredSandboxContradicted(Escalation::Tool),
            Reason::RuleAsks(source),
            Reason::Dangerous,
            Reason::NotTrusted,
            Reason::EscalationRequested(Escalation::Tool),
            Reason::SandboxMissing,
            Reason::PermissionsRequested,
            Reason::CategoryRejected(PromptCategory::Rules),
            Reason::StoredApproval(rule),
            Reason::EscalationDropped(Escalation::Tool),
            Reason::PermissionsDropped,
            Reason::EverySegmentAllowed(rule),
            Reason::EverySegmentUnsandboxed(rule),
            Reason::KnownSafe,
            Reason::Confined,
            Reason::NothingToConfine(SandboxMode::DangerFullAccess),
        ];
        let numbers: Vec<usize> = every.iter().map(Reason::kind).collect();
        assert_eq!(numbers, (0..KINDS).collect::<Vec<_>>());
        let mut reasons = Reasons::new();
        for reason in every.into_iter().chain(every) {
            reasons.push(reason);
        }
        assert!(reasons.iter().eq(every));
    }

    #[test]
    fn the_first_of_a_kind_speaks_for_the_others() {
        let asks = |id| Reason::RuleAsks(VerdictSource::Rule(RuleRef::new(id, None)));
        let mut reasons = Reasons::new();
        reasons.push(asks("first"));
        reasons.push(asks("second"));
        assert!(reasons.iter().eq([asks("first")]));
    }
}
