//! The decision: rules, risk, approval policy and sandbox in every combination keep the laws on which everything else
//! relies. What is forbidden stays forbidden, `Never` never asks, what cannot be read is never allowed, and only rules
//! of every segment, or a person, let a command leave its sandbox.

mod rules;

use arbitrary::Arbitrary;
use palisade_exec_policy::{
    ApprovalPurpose, AskForApproval, Command, Decision, DefaultEntry, ExecApprovalRequirement,
    Placement, Question, RejectConfig, ReviewDecision, Risk, RuleRef, SandboxOverride,
    SandboxablePreference, SegmentVerdict, WorkingBackend, decide, orchestrator,
};
use palisade_policy::{NetworkAccess, SandboxMode, SandboxPermissions, SandboxPolicy, SandboxType};

#[derive(Arbitrary, Debug)]
struct Case {
    verdicts: Vec<u8>,
    risk: u8,
    setting: Setting,
    answer: u8,
    wants_out_first: bool,
    escalates: bool,
    rules: rules::Case,
}

/// Everything but the command.
#[derive(Arbitrary, Debug)]
pub(crate) struct Setting {
    approval: u8,
    mode: u8,
    preference: u8,
    works: bool,
    request: u8,
}

/// Decides a random case by verdicts, and another by rules and a script.
pub fn run(data: &[u8]) {
    let Some(case) = crate::structured::<Case>(data) else {
        return;
    };
    let verdicts: Vec<SegmentVerdict<'_>> = case
        .verdicts
        .iter()
        .take(6)
        .map(|kind| verdict(*kind))
        .collect();
    let risk = [Risk::KnownSafe, Risk::Unknown, Risk::Dangerous][usize::from(case.risk % 3)];
    let decision = case.setting.decide(&verdicts, risk);
    case.setting.hold(&verdicts, &decision);
    if let Some((_, rest)) = verdicts.split_last()
        && !rest.is_empty()
    {
        let fewer = case.setting.decide(rest, risk);
        assert!(
            strictness(&decision) >= strictness(&fewer),
            "one segment more loosens: {verdicts:?}"
        );
    }
    case.place(&decision);
    case.rules.run(&case.setting);
}

fn verdict(kind: u8) -> SegmentVerdict<'static> {
    let rule = RuleRef::new("rule", None);
    let entries = [
        DefaultEntry::Unmatched,
        DefaultEntry::Opaque,
        DefaultEntry::Danger,
    ];
    let entry = entries[usize::from(kind / 16) % entries.len()];
    let (answered, unsandboxed) = (kind & 16 != 0, kind & 32 != 0);
    match kind % 8 {
        0 | 1 => SegmentVerdict::Allow { rule, unsandboxed },
        2 | 3 => SegmentVerdict::Prompt {
            rule,
            answered,
            unsandboxed,
        },
        4 => SegmentVerdict::PromptByDefault { entry },
        5 if answered => SegmentVerdict::Forbid { rule },
        5 => SegmentVerdict::ForbidByDefault { entry },
        6 => SegmentVerdict::Unmatched,
        _ => SegmentVerdict::Opaque { why: "unread" },
    }
}

impl Setting {
    fn approval(&self) -> AskForApproval {
        let bit = |at: u8| self.approval >> at & 1 != 0;
        match self.approval % 5 {
            4 => AskForApproval::Reject(RejectConfig {
                sandbox_approval: bit(3),
                rules: bit(4),
                request_permissions: bit(5),
                mcp_elicitations: bit(6),
            }),
            simple => AskForApproval::SIMPLE[usize::from(simple)],
        }
    }

    fn sandbox(&self) -> SandboxPolicy {
        let mode = SandboxMode::ALL[usize::from(self.mode) % SandboxMode::ALL.len()];
        SandboxPolicy::new(mode, NetworkAccess::Restricted)
    }

    fn preference(&self) -> SandboxablePreference {
        let all = [
            SandboxablePreference::Auto,
            SandboxablePreference::Require,
            SandboxablePreference::Forbid,
        ];
        all[usize::from(self.preference) % all.len()]
    }

    fn backend(&self) -> Option<WorkingBackend> {
        self.works
            .then(|| WorkingBackend::new(SandboxType::LinuxLandlock))
            .flatten()
    }

    /// Whether a sandbox of ours is expected, said by the inputs.
    fn contained(&self) -> bool {
        self.preference() == SandboxablePreference::Require
            || matches!(
                self.sandbox().mode,
                SandboxMode::ReadOnly | SandboxMode::WorkspaceWrite
            )
    }

    pub(crate) fn decide<'a>(
        &self,
        segments: &'a [SegmentVerdict<'a>],
        risk: Risk,
    ) -> Decision<'a> {
        static REQUESTS: [SandboxPermissions; 4] = [
            SandboxPermissions::UseDefault,
            SandboxPermissions::RequireEscalated,
            SandboxPermissions::BypassSandbox,
            SandboxPermissions::WithAdditionalPermissions {
                fs_read: Vec::new(),
                fs_write: Vec::new(),
                network: Vec::new(),
            },
        ];
        decide(&Question {
            approval: self.approval(),
            sandbox: self.sandbox(),
            preference: self.preference(),
            backend: self.backend(),
            command: Some(Command {
                segments,
                risk,
                permissions: &REQUESTS[usize::from(self.request) % REQUESTS.len()],
                amendment: None,
            }),
        })
    }

    /// The laws about one decision.
    pub(crate) fn hold(&self, verdicts: &[SegmentVerdict<'_>], decision: &Decision<'_>) {
        assert!(decision.explain().contains(", because "), "{decision:?}");
        let forbids = |verdict: &SegmentVerdict<'_>| {
            matches!(
                verdict,
                SegmentVerdict::Forbid { .. } | SegmentVerdict::ForbidByDefault { .. }
            )
        };
        let forbidden = matches!(
            decision.requirement,
            ExecApprovalRequirement::Forbidden { .. }
        );
        assert!(forbidden || !verdicts.iter().any(forbids), "{verdicts:?}");
        let leaves = |verdict: &SegmentVerdict<'_>| {
            matches!(
                verdict,
                SegmentVerdict::Allow {
                    unsandboxed: true,
                    ..
                }
            )
        };
        let asks_by_itself = |verdict: &SegmentVerdict<'_>| {
            matches!(
                verdict,
                SegmentVerdict::Prompt {
                    answered: false,
                    ..
                } | SegmentVerdict::PromptByDefault { .. }
            )
        };
        match &decision.requirement {
            ExecApprovalRequirement::Skip { bypass_sandbox, .. } => {
                assert!(!verdicts.iter().any(asks_by_itself), "{verdicts:?}");
                assert!(
                    !self.contained() || self.works,
                    "runs unasked without a sandbox"
                );
                if *bypass_sandbox {
                    assert!(
                        !verdicts.is_empty() && verdicts.iter().all(leaves),
                        "{verdicts:?}"
                    );
                    assert!(
                        self.contained() && self.preference() != SandboxablePreference::Require
                    );
                }
            }
            ExecApprovalRequirement::NeedsApproval { purpose, .. } => {
                assert_ne!(self.approval(), AskForApproval::Never);
                if *purpose == ApprovalPurpose::RunUnsandboxed {
                    assert!(
                        self.contained() && self.preference() != SandboxablePreference::Require
                    );
                }
            }
            ExecApprovalRequirement::Forbidden { reason } => assert!(!reason.is_empty()),
        }
    }
}

impl Case {
    /// Where a sandbox is expected, a command runs without one only if somebody agreed to exactly that.
    fn place(&self, decision: &Decision<'_>) {
        let answers = [
            None,
            Some(ReviewDecision::Approved),
            Some(ReviewDecision::ApprovedForSession),
            Some(ReviewDecision::Denied),
            Some(ReviewDecision::Abort),
        ];
        let answer = answers[usize::from(self.answer) % answers.len()].as_ref();
        let placed = orchestrator(&Placement {
            requirement: &decision.requirement,
            answer,
            first_attempt: if self.wants_out_first {
                SandboxOverride::BypassSandboxFirstAttempt
            } else {
                SandboxOverride::NoOverride
            },
            preference: self.setting.preference(),
            sandbox: self.setting.sandbox(),
            backend: self.setting.backend(),
            escalate_on_failure: self.escalates,
            approval: self.setting.approval(),
        });
        let Ok(placed) = placed else { return };
        assert!(
            !answer.is_some_and(ReviewDecision::is_denial),
            "a denied command runs"
        );
        let agreed = match &decision.requirement {
            ExecApprovalRequirement::Forbidden { reason } => {
                panic!("a forbidden command runs: {reason}")
            }
            ExecApprovalRequirement::Skip { bypass_sandbox, .. } => *bypass_sandbox,
            ExecApprovalRequirement::NeedsApproval { purpose, .. } => {
                assert!(
                    answer.is_some_and(ReviewDecision::is_approval),
                    "runs unanswered"
                );
                *purpose == ApprovalPurpose::RunUnsandboxed
            }
        };
        if placed.initial_sandbox == SandboxType::None {
            assert!(agreed || !self.setting.contained(), "{placed:?}");
            assert_ne!(self.setting.preference(), SandboxablePreference::Require);
            assert!(!placed.escalate_on_failure);
        }
    }
}

/// How strict a decision is. Running unsandboxed is looser than running contained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strictness {
    RunsUnsandboxed,
    Runs,
    Asks,
    Forbids,
}

pub(crate) fn strictness(decision: &Decision<'_>) -> Strictness {
    match &decision.requirement {
        ExecApprovalRequirement::Skip {
            bypass_sandbox: true,
            ..
        } => Strictness::RunsUnsandboxed,
        ExecApprovalRequirement::Skip { .. } => Strictness::Runs,
        ExecApprovalRequirement::NeedsApproval { .. } => Strictness::Asks,
        ExecApprovalRequirement::Forbidden { .. } => Strictness::Forbids,
    }
}
