//! The `orchestrator` preset, case by case, and that nothing but an agreement leaves the sandbox.

use palisade_exec_policy::{
    ApprovalPurpose, AskForApproval, ExecApprovalRequirement, Placement, Refusal, RejectConfig,
    ReviewDecision, SandboxDecision, SandboxOverride, SandboxablePreference, orchestrator,
    wants_no_sandbox_approval,
};
use palisade_policy::{NetworkAccess, SandboxMode, SandboxPolicy, SandboxType};

use crate::support::{answers, approvals, backends, grant, landlock};

const fn skip(bypass_sandbox: bool) -> ExecApprovalRequirement {
    ExecApprovalRequirement::Skip {
        bypass_sandbox,
        proposed_execpolicy_amendment: None,
    }
}

const fn ask(purpose: ApprovalPurpose) -> ExecApprovalRequirement {
    ExecApprovalRequirement::NeedsApproval {
        reason: None,
        proposed_execpolicy_amendment: None,
        purpose,
    }
}

fn forbidden() -> ExecApprovalRequirement {
    ExecApprovalRequirement::Forbidden {
        reason: "no".to_owned(),
    }
}

/// Read-only, with a sandbox that works, under `OnFailure`.
fn placement<'a>(
    requirement: &'a ExecApprovalRequirement,
    answer: Option<&'a ReviewDecision>,
) -> Placement<'a> {
    Placement {
        requirement,
        answer,
        first_attempt: SandboxOverride::NoOverride,
        preference: SandboxablePreference::Auto,
        sandbox: SandboxPolicy::default(),
        backend: landlock(),
        escalate_on_failure: true,
        approval: AskForApproval::OnFailure,
    }
}

fn sandbox(placement: &Placement<'_>) -> Result<SandboxType, Refusal> {
    orchestrator(placement).map(|placed| placed.initial_sandbox)
}

/// Each cell: the requirement, the answer, and where it runs with and without a working sandbox.
#[test]
fn what_each_requirement_and_answer_come_to() {
    const SANDBOX: Result<SandboxType, Refusal> = Ok(SandboxType::LinuxLandlock);
    const NONE: Result<SandboxType, Refusal> = Ok(SandboxType::None);
    const MISSING: Result<SandboxType, Refusal> = Err(Refusal::NoWorkingSandbox);
    let no = || Err(Refusal::Denied { note: None });
    let forbid = || {
        Err(Refusal::Forbidden {
            reason: "no".to_owned(),
        })
    };
    let approved = ReviewDecision::Approved;
    let session = ReviewDecision::ApprovedForSession;
    let grant = grant();
    let denied = ReviewDecision::Denied;
    let (run, leave) = (ApprovalPurpose::Run, ApprovalPurpose::RunUnsandboxed);
    let cells = [
        ("runs contained", skip(false), None, SANDBOX, MISSING),
        (
            "approval adds nothing to a run",
            skip(false),
            Some(&approved),
            SANDBOX,
            MISSING,
        ),
        (
            "rules leave a sandbox that works",
            skip(true),
            None,
            NONE,
            MISSING,
        ),
        (
            "denied without a question",
            skip(true),
            Some(&denied),
            no(),
            no(),
        ),
        (
            "approved run stays",
            ask(run),
            Some(&approved),
            SANDBOX,
            MISSING,
        ),
        (
            "run approved for the session stays",
            ask(run),
            Some(&session),
            SANDBOX,
            MISSING,
        ),
        (
            "run with a grant stays",
            ask(run),
            Some(&grant),
            SANDBOX,
            MISSING,
        ),
        ("denied run", ask(run), Some(&denied), no(), no()),
        (
            "run without answer",
            ask(run),
            None,
            Err(Refusal::Unanswered),
            Err(Refusal::Unanswered),
        ),
        ("approved to leave", ask(leave), Some(&approved), NONE, NONE),
        (
            "approved to leave for the session",
            ask(leave),
            Some(&session),
            NONE,
            NONE,
        ),
        (
            "a grant instead of leaving",
            ask(leave),
            Some(&grant),
            SANDBOX,
            MISSING,
        ),
        (
            "not approved to leave",
            ask(leave),
            Some(&denied),
            no(),
            no(),
        ),
        (
            "leaving without answer",
            ask(leave),
            None,
            Err(Refusal::Unanswered),
            Err(Refusal::Unanswered),
        ),
        ("forbidden", forbidden(), None, forbid(), forbid()),
        (
            "forbidden and approved",
            forbidden(),
            Some(&approved),
            forbid(),
            forbid(),
        ),
    ];
    for (name, requirement, answer, works, none_works) in cells {
        let mut placement = placement(&requirement, answer);
        assert_eq!(sandbox(&placement), works, "{name}");
        placement.backend = None;
        assert_eq!(sandbox(&placement), none_works, "{name}, none works");
    }
}

#[test]
fn an_abort_and_a_note_reach_the_caller() {
    let requirement = ask(ApprovalPurpose::Run);
    assert_eq!(
        sandbox(&placement(&requirement, Some(&ReviewDecision::Abort))),
        Err(Refusal::Aborted)
    );
    let note = "use `cargo add`".to_owned();
    let denied = ReviewDecision::DeniedWithNote { note: note.clone() };
    let refusal = sandbox(&placement(&requirement, Some(&denied))).unwrap_err();
    assert_eq!(refusal.to_string(), "rejected by the user: use `cargo add`");
    assert_eq!(refusal, Refusal::Denied { note: Some(note) });
}

#[test]
fn a_required_sandbox_that_does_not_work_is_an_error_even_with_full_access() {
    let approved = ReviewDecision::Approved;
    for mode in SandboxMode::ALL {
        for requirement in [
            skip(false),
            skip(true),
            ask(ApprovalPurpose::Run),
            ask(ApprovalPurpose::RunUnsandboxed),
        ] {
            let placement = Placement {
                sandbox: SandboxPolicy::new(mode, NetworkAccess::Full),
                preference: SandboxablePreference::Require,
                backend: None,
                ..placement(&requirement, Some(&approved))
            };
            assert_eq!(
                sandbox(&placement),
                Err(Refusal::NoWorkingSandbox),
                "{mode:?}"
            );
            let works = Placement {
                backend: landlock(),
                ..placement
            };
            assert_eq!(sandbox(&works), Ok(SandboxType::LinuxLandlock), "{mode:?}");
        }
    }
}

#[test]
fn the_wish_of_a_tool_has_no_force_of_its_own() {
    let wish = |approval, preference| {
        sandbox(&Placement {
            first_attempt: SandboxOverride::BypassSandboxFirstAttempt,
            approval,
            preference,
            ..placement(&skip(false), None)
        })
    };
    let (auto, require) = (SandboxablePreference::Auto, SandboxablePreference::Require);
    for approval in approvals() {
        let dropped = matches!(approval, AskForApproval::Never | AskForApproval::OnFailure);
        let sandboxed = Ok(SandboxType::LinuxLandlock);
        let expected = if dropped {
            sandboxed.clone()
        } else {
            Err(Refusal::UnapprovedBypass)
        };
        assert_eq!(wish(approval, auto), expected, "{approval}");
        let expected = if dropped {
            sandboxed
        } else {
            Err(Refusal::Contradiction)
        };
        assert_eq!(wish(approval, require), expected, "{approval}");
    }
}

#[test]
fn where_nothing_of_ours_is_expected_there_is_no_sandbox_and_no_retry() {
    for mode in [SandboxMode::DangerFullAccess, SandboxMode::ExternalSandbox] {
        let placed = orchestrator(&Placement {
            sandbox: SandboxPolicy::new(mode, NetworkAccess::Restricted),
            ..placement(&skip(false), None)
        })
        .unwrap();
        assert_eq!(placed.initial_sandbox, SandboxType::None);
        assert!(!placed.escalate_on_failure);
    }
}

#[test]
fn a_denial_may_be_offered_again_if_tool_and_approval_policy_agree() {
    for approval in approvals() {
        for escalate_on_failure in [true, false] {
            let placed = orchestrator(&Placement {
                approval,
                escalate_on_failure,
                ..placement(&skip(false), None)
            });
            let expected = escalate_on_failure && wants_no_sandbox_approval(approval);
            assert_eq!(placed.unwrap().escalate_on_failure, expected, "{approval}");
        }
    }
    let reject = AskForApproval::Reject(RejectConfig::default());
    assert!(wants_no_sandbox_approval(reject));
}

#[test]
fn only_an_approval_for_the_session_is_recorded() {
    let requirement = ask(ApprovalPurpose::Run);
    for answer in answers() {
        if let Ok(placed) = orchestrator(&placement(&requirement, Some(&answer))) {
            let expected = answer == ReviewDecision::ApprovedForSession;
            assert_eq!(placed.record_session_approval, expected, "{answer:?}");
        }
    }
}

/// Also for requirements that no decision would make.
#[test]
fn nothing_but_an_agreement_leaves_an_expected_sandbox() {
    let requirements = [
        skip(false),
        skip(true),
        ask(ApprovalPurpose::Run),
        ask(ApprovalPurpose::RunUnsandboxed),
        forbidden(),
    ];
    let mut all: Vec<Option<ReviewDecision>> = answers().into_iter().map(Some).collect();
    all.push(None);
    let mut left = 0;
    for requirement in &requirements {
        for answer in &all {
            for preference in SandboxablePreference::ALL {
                for mode in SandboxMode::ALL {
                    for backend in backends() {
                        for first_attempt in [
                            SandboxOverride::NoOverride,
                            SandboxOverride::BypassSandboxFirstAttempt,
                        ] {
                            for approval in approvals() {
                                let placement = Placement {
                                    requirement,
                                    answer: answer.as_ref(),
                                    first_attempt,
                                    preference,
                                    sandbox: SandboxPolicy::new(mode, NetworkAccess::Full),
                                    backend,
                                    escalate_on_failure: true,
                                    approval,
                                };
                                left += u32::from(leaves(&placement, orchestrator(&placement)));
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(left > 100, "the law was hardly tested: {left}");
}

fn leaves(placement: &Placement<'_>, placed: Result<SandboxDecision, Refusal>) -> bool {
    let Ok(placed) = placed else { return false };
    if placed.initial_sandbox != SandboxType::None {
        return false;
    }
    assert_ne!(placement.preference, SandboxablePreference::Require);
    let expected = matches!(
        placement.sandbox.mode,
        SandboxMode::ReadOnly | SandboxMode::WorkspaceWrite
    );
    if !expected {
        return false;
    }
    let by_rules = *placement.requirement == skip(true) && placement.backend.is_some();
    let approved = matches!(
        placement.answer,
        Some(
            ReviewDecision::Approved
                | ReviewDecision::ApprovedForSession
                | ReviewDecision::ApprovedExecpolicyAmendment { .. }
        )
    );
    let by_approval = approved && *placement.requirement == ask(ApprovalPurpose::RunUnsandboxed);
    assert!(by_rules || by_approval, "{placement:?}");
    true
}
