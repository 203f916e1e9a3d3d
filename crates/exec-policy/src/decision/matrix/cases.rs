//! The finite inputs of the decision, and every combination of them.
#![expect(
    clippy::exhaustive_enums,
    reason = "whoever enumerates the cases must say what a new one means"
)]

use palisade_policy::{NetworkAccess, SandboxMode, SandboxPermissions, SandboxPolicy, SandboxType};

use crate::decision::approval::{AskForApproval, RejectConfig};
use crate::decision::containment::{SandboxablePreference, WorkingBackend};
use crate::decision::decide::{Decision, decide};
use crate::decision::question::{Command, Question};
use crate::decision::risk::Risk;
use crate::decision::verdict::{DefaultEntry, RuleRef, SegmentVerdict};

/// What the rules say about a command, as far as it makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VerdictKind {
    /// One segment, allowed, and let out of the sandbox.
    AllowUnsandboxed,
    /// One segment, allowed.
    Allow,
    /// Two segments, both allowed, one of them let out of the sandbox.
    AllowAndAllowUnsandboxed,
    /// One segment; a rule asks, and a stored approval answers.
    Answered,
    /// The same, where the rule also lets the segment out of the sandbox.
    AnsweredUnsandboxed,
    /// One segment that no rule matches.
    Unmatched,
    /// Two segments: one allowed, one that no rule matches.
    AllowAndUnmatched,
    /// Two segments: one allowed and let out of the sandbox, one that no rule matches.
    AllowUnsandboxedAndUnmatched,
    /// One segment that cannot be read.
    Opaque,
    /// No segment at all.
    Nothing,
    /// One segment; a rule asks, and lets the segment out of the sandbox.
    PromptUnsandboxed,
    /// Two segments: one allowed, one about which a rule asks; both are let out of the sandbox.
    AllowUnsandboxedAndPromptUnsandboxed,
    /// One segment; a rule asks.
    Prompt,
    /// One segment that no rule matches; a default that the author wrote asks.
    PromptByDefault,
    /// Two segments: one allowed, one about which a rule asks.
    AllowAndPrompt,
    /// One segment; a rule forbids it.
    Forbid,
    /// Two segments: one allowed and let out of the sandbox, one forbidden.
    AllowUnsandboxedAndForbid,
}

const RULE: RuleRef<'static> = RuleRef::new("rule", Some("a reason"));
const ALLOW: SegmentVerdict<'static> = SegmentVerdict::Allow {
    rule: RULE,
    unsandboxed: false,
};
const ALLOW_UNSANDBOXED: SegmentVerdict<'static> = SegmentVerdict::Allow {
    rule: RULE,
    unsandboxed: true,
};
const PROMPT_UNSANDBOXED: SegmentVerdict<'static> = SegmentVerdict::Prompt {
    rule: RULE,
    answered: false,
    unsandboxed: true,
};
const PROMPT: SegmentVerdict<'static> = SegmentVerdict::Prompt {
    rule: RULE,
    answered: false,
    unsandboxed: false,
};
const FORBID: SegmentVerdict<'static> = SegmentVerdict::Forbid { rule: RULE };

impl VerdictKind {
    /// Every kind, roughly from the loosest to the strictest.
    pub const ALL: [Self; 17] = [
        Self::AllowUnsandboxed,
        Self::Allow,
        Self::AllowAndAllowUnsandboxed,
        Self::Answered,
        Self::AnsweredUnsandboxed,
        Self::Unmatched,
        Self::AllowAndUnmatched,
        Self::AllowUnsandboxedAndUnmatched,
        Self::Opaque,
        Self::Nothing,
        Self::PromptUnsandboxed,
        Self::AllowUnsandboxedAndPromptUnsandboxed,
        Self::Prompt,
        Self::PromptByDefault,
        Self::AllowAndPrompt,
        Self::Forbid,
        Self::AllowUnsandboxedAndForbid,
    ];

    /// A command of this kind.
    #[must_use]
    pub const fn segments(self) -> &'static [SegmentVerdict<'static>] {
        match self {
            Self::AllowUnsandboxed => &[ALLOW_UNSANDBOXED],
            Self::Allow => &[ALLOW],
            Self::AllowAndAllowUnsandboxed => &[ALLOW, ALLOW_UNSANDBOXED],
            Self::Answered => &[SegmentVerdict::Prompt {
                rule: RULE,
                answered: true,
                unsandboxed: false,
            }],
            Self::AnsweredUnsandboxed => &[SegmentVerdict::Prompt {
                rule: RULE,
                answered: true,
                unsandboxed: true,
            }],
            Self::Unmatched => &[SegmentVerdict::Unmatched],
            Self::AllowAndUnmatched => &[ALLOW, SegmentVerdict::Unmatched],
            Self::AllowUnsandboxedAndUnmatched => &[ALLOW_UNSANDBOXED, SegmentVerdict::Unmatched],
            Self::Opaque => &[SegmentVerdict::Opaque {
                why: "a substitution",
            }],
            Self::Nothing => &[],
            Self::PromptUnsandboxed => &[PROMPT_UNSANDBOXED],
            Self::AllowUnsandboxedAndPromptUnsandboxed => &[ALLOW_UNSANDBOXED, PROMPT_UNSANDBOXED],
            Self::Prompt => &[PROMPT],
            Self::PromptByDefault => &[SegmentVerdict::PromptByDefault {
                entry: DefaultEntry::Unmatched,
            }],
            Self::AllowAndPrompt => &[ALLOW, PROMPT],
            Self::Forbid => &[FORBID],
            Self::AllowUnsandboxedAndForbid => &[ALLOW_UNSANDBOXED, FORBID],
        }
    }
}

/// What a command asks for beyond the policy; the decision looks at the kind of a request, not at its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Request {
    /// Nothing.
    Nothing,
    /// More permissions.
    Permissions,
    /// To run without the sandbox.
    Escalation,
    /// The host's own request to run without the sandbox.
    Bypass,
}

static MORE: SandboxPermissions = SandboxPermissions::WithAdditionalPermissions {
    fs_read: Vec::new(),
    fs_write: Vec::new(),
    network: Vec::new(),
};

impl Request {
    /// Every request.
    pub const ALL: [Self; 4] = [
        Self::Nothing,
        Self::Permissions,
        Self::Escalation,
        Self::Bypass,
    ];

    /// A request of this kind.
    #[must_use]
    pub fn permissions(self) -> &'static SandboxPermissions {
        match self {
            Self::Nothing => &SandboxPermissions::UseDefault,
            Self::Permissions => &MORE,
            Self::Escalation => &SandboxPermissions::RequireEscalated,
            Self::Bypass => &SandboxPermissions::BypassSandbox,
        }
    }
}

/// One combination of the finite inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever makes a case must fill in every input"
)]
pub struct Case {
    /// What the rules say.
    pub verdict: VerdictKind,
    /// What the tool wants of the sandbox.
    pub preference: SandboxablePreference,
    /// Whether a sandbox works.
    pub backend_works: bool,
    /// The mode of the sandbox.
    pub mode: SandboxMode,
    /// What the command asks for.
    pub request: Request,
    /// How risky it looks.
    pub risk: Risk,
    /// When a person is asked.
    pub approval: AskForApproval,
    /// What the network may be used for.
    pub network: NetworkAccess,
}

impl Case {
    /// The question of this case.
    #[must_use]
    pub fn question(&self) -> Question<'static> {
        Question {
            approval: self.approval,
            sandbox: SandboxPolicy::new(self.mode, self.network),
            preference: self.preference,
            backend: self.backend(),
            command: Some(Command {
                segments: self.verdict.segments(),
                risk: self.risk,
                permissions: self.request.permissions(),
                amendment: None,
            }),
        }
    }

    /// The sandbox that works, if one does. Which one makes no difference to the decision.
    #[must_use]
    pub const fn backend(&self) -> Option<WorkingBackend> {
        if self.backend_works {
            WorkingBackend::new(SandboxType::LinuxLandlock)
        } else {
            None
        }
    }

    /// What is decided.
    pub fn decide(&self) -> Decision<'static> {
        decide(&self.question())
    }
}

/// Every approval policy: the four simple ones and all sixteen rejecting ones.
pub(super) fn approvals() -> impl Iterator<Item = AskForApproval> + Clone {
    let flags = [false, true];
    let rejecting = flags.into_iter().flat_map(move |sandbox_approval| {
        flags.into_iter().flat_map(move |rules| {
            flags.into_iter().flat_map(move |request_permissions| {
                flags.into_iter().map(move |mcp_elicitations| {
                    AskForApproval::Reject(RejectConfig {
                        sandbox_approval,
                        rules,
                        request_permissions,
                        mcp_elicitations,
                    })
                })
            })
        })
    });
    AskForApproval::SIMPLE.into_iter().chain(rejecting)
}

/// Every combination of the finite inputs, each once.
pub fn cases() -> impl Iterator<Item = Case> {
    Values::all().combinations()
}

/// Some values of each input.
#[derive(Clone, Debug)]
pub(super) struct Values {
    pub(super) verdicts: Vec<VerdictKind>,
    pub(super) preferences: Vec<SandboxablePreference>,
    pub(super) backends: Vec<bool>,
    pub(super) modes: Vec<SandboxMode>,
    pub(super) requests: Vec<Request>,
    pub(super) risks: Vec<Risk>,
    pub(super) approvals: Vec<AskForApproval>,
    pub(super) networks: Vec<NetworkAccess>,
}

impl Values {
    pub(super) fn all() -> Self {
        Self {
            verdicts: VerdictKind::ALL.to_vec(),
            preferences: SandboxablePreference::ALL.to_vec(),
            backends: vec![true, false],
            modes: SandboxMode::ALL.to_vec(),
            requests: Request::ALL.to_vec(),
            risks: Risk::ALL.to_vec(),
            approvals: approvals().collect(),
            networks: NetworkAccess::ALL.to_vec(),
        }
    }

    /// Every combination of these values.
    pub(super) fn combinations(self) -> impl Iterator<Item = Case> {
        let start = Case {
            verdict: VerdictKind::Nothing,
            preference: SandboxablePreference::Auto,
            backend_works: false,
            mode: SandboxMode::ReadOnly,
            request: Request::Nothing,
            risk: Risk::Unknown,
            approval: AskForApproval::Never,
            network: NetworkAccess::Restricted,
        };
        let cases = each(std::iter::once(start), self.verdicts, |case, verdict| {
            Case { verdict, ..case }
        });
        let cases = each(cases, self.preferences, |case, preference| Case {
            preference,
            ..case
        });
        let cases = each(cases, self.backends, |case, backend_works| Case {
            backend_works,
            ..case
        });
        let cases = each(cases, self.modes, |case, mode| Case { mode, ..case });
        let cases = each(cases, self.requests, |case, request| Case {
            request,
            ..case
        });
        let cases = each(cases, self.risks, |case, risk| Case { risk, ..case });
        let cases = each(cases, self.approvals, |case, approval| Case {
            approval,
            ..case
        });
        each(cases, self.networks, |case, network| Case {
            network,
            ..case
        })
    }
}

/// Each case with each value.
fn each<T: Copy>(
    cases: impl Iterator<Item = Case>,
    values: Vec<T>,
    with: impl Fn(Case, T) -> Case + Copy,
) -> impl Iterator<Item = Case> {
    cases.flat_map(move |case| {
        let changed: Vec<Case> = values.iter().map(|value| with(case, *value)).collect();
        changed
    })
}
