//! The finite inputs of the decision, and every combination of them.
#![expect(
    clippy::exhaustive_enums,
    reason = "whoever enumerates the cases must say what a new one means"
)]

use palisade_policy::{NetworkAccess, SandboxMode, SandboxPermissions, SandboxPolicy, SandboxType};

use crate::approval::{AskForApproval, PromptCategory, RejectConfig};
use crate::containment::{SandboxablePreference, WorkingBackend};
use crate::decide::{Decision, decide};
use crate::question::{Command, Question};
use crate::reason::Reason;
use crate::requirement::{ApprovalPurpose, ExecApprovalRequirement};
use crate::risk::Risk;
use crate::verdict::{DefaultEntry, RuleRef, SegmentVerdict};

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
    let verdicts = VerdictKind::ALL.into_iter();
    verdicts
        .map(move |verdict| Case { verdict, ..start })
        .flat_map(|case| {
            let all = SandboxablePreference::ALL.into_iter();
            all.map(move |preference| Case { preference, ..case })
        })
        .flat_map(|case| {
            let all = [true, false].into_iter();
            all.map(move |backend_works| Case {
                backend_works,
                ..case
            })
        })
        .flat_map(|case| {
            let all = SandboxMode::ALL.into_iter();
            all.map(move |mode| Case { mode, ..case })
        })
        .flat_map(|case| {
            let all = Request::ALL.into_iter();
            all.map(move |request| Case { request, ..case })
        })
        .flat_map(|case| {
            let all = Risk::ALL.into_iter();
            all.map(move |risk| Case { risk, ..case })
        })
        .flat_map(|case| approvals().map(move |approval| Case { approval, ..case }))
        .flat_map(|case| {
            let all = NetworkAccess::ALL.into_iter();
            all.map(move |network| Case { network, ..case })
        })
}

/// What a decision comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It runs without a question.
    Skip,
    /// It runs without a question and without the sandbox.
    SkipBypass,
    /// A person is asked whether it may run.
    AskRun,
    /// A person is asked whether it may run without the sandbox.
    AskUnsandboxed,
    /// A rule forbids it.
    ForbiddenByRule,
    /// A sandbox is required, and there is none or it is to be left.
    ForbiddenRequired,
    /// A question of this category would have to be asked, and may not be.
    ForbiddenCategory(PromptCategory),
}

impl Outcome {
    /// What this decision comes to.
    #[must_use]
    pub fn of(decision: &Decision<'_>) -> Self {
        match &decision.requirement {
            ExecApprovalRequirement::Skip {
                bypass_sandbox: false,
                ..
            } => Self::Skip,
            ExecApprovalRequirement::Skip {
                bypass_sandbox: true,
                ..
            } => Self::SkipBypass,
            ExecApprovalRequirement::NeedsApproval { purpose, .. } => match purpose {
                ApprovalPurpose::Run => Self::AskRun,
                ApprovalPurpose::RunUnsandboxed => Self::AskUnsandboxed,
            },
            ExecApprovalRequirement::Forbidden { .. } => decision
                .reasons
                .iter()
                .find_map(|reason| match reason {
                    Reason::RequiredSandboxMissing | Reason::RequiredSandboxContradicted(_) => {
                        Some(Self::ForbiddenRequired)
                    }
                    Reason::CategoryRejected(category) => Some(Self::ForbiddenCategory(category)),
                    Reason::BypassUnderPolicy(_) => {
                        Some(Self::ForbiddenCategory(PromptCategory::SandboxApproval))
                    }
                    _ => None,
                })
                .unwrap_or(Self::ForbiddenByRule),
        }
    }
}
