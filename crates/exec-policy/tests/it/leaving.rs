//! The law of this project, on every combination of the finite inputs and every answer: no path leads from "a sandbox is
//! required" to "ran without one", except an approval to do that.

use palisade_exec_policy::matrix::{Case, cases};
use palisade_exec_policy::{
    ApprovalPurpose, ExecApprovalRequirement, Placement, Refusal, ReviewDecision, SandboxDecision,
    SandboxOverride, SandboxablePreference, orchestrator,
};
use palisade_policy::{NetworkAccess, SandboxPolicy, SandboxType};

use crate::support::{answers, contained};

#[test]
fn no_answer_leads_out_of_a_sandbox_but_an_approval_to_leave_it() {
    let mut answers: Vec<Option<ReviewDecision>> = answers().into_iter().map(Some).collect();
    answers.push(None);
    let mut left = 0;
    for case in cases().filter(|case| case.network == NetworkAccess::Restricted) {
        let decision = case.decide();
        for answer in &answers {
            for first_attempt in [
                SandboxOverride::NoOverride,
                SandboxOverride::BypassSandboxFirstAttempt,
            ] {
                let placed = orchestrator(&Placement {
                    requirement: &decision.requirement,
                    answer: answer.as_ref(),
                    first_attempt,
                    preference: case.preference,
                    sandbox: SandboxPolicy::new(case.mode, case.network),
                    backend: case.backend(),
                    escalate_on_failure: true,
                    approval: case.approval,
                });
                left += u32::from(check(&case, answer.as_ref(), &decision.requirement, placed));
            }
        }
    }
    assert!(left > 1000, "the law was hardly tested: {left}");
}

/// Whether the command left a sandbox that was expected; it may only for the reasons given here.
fn check(
    case: &Case,
    answer: Option<&ReviewDecision>,
    requirement: &ExecApprovalRequirement,
    placed: Result<SandboxDecision, Refusal>,
) -> bool {
    let Ok(placed) = placed else { return false };
    assert!(answer.is_none_or(ReviewDecision::is_approval), "{case:?}");
    let forbidden = matches!(requirement, ExecApprovalRequirement::Forbidden { .. });
    assert!(!forbidden, "a forbidden command ran: {case:?}");
    let left = contained(case) && placed.initial_sandbox == SandboxType::None;
    if left {
        assert_ne!(case.preference, SandboxablePreference::Require, "{case:?}");
        let approved = matches!(
            answer,
            Some(
                ReviewDecision::Approved
                    | ReviewDecision::ApprovedForSession
                    | ReviewDecision::ApprovedExecpolicyAmendment { .. }
            )
        );
        match requirement {
            ExecApprovalRequirement::NeedsApproval { purpose, .. } => {
                let leaves = ApprovalPurpose::RunUnsandboxed;
                assert!(approved && *purpose == leaves, "{case:?} {answer:?}");
            }
            ExecApprovalRequirement::Skip { bypass_sandbox, .. } => {
                assert!(*bypass_sandbox && case.backend_works, "{case:?}");
            }
            ExecApprovalRequirement::Forbidden { .. } => {}
        }
    }
    if placed.initial_sandbox == SandboxType::None || !contained(case) {
        assert!(!placed.escalate_on_failure, "{case:?}");
    }
    if case.preference == SandboxablePreference::Require {
        assert!(!placed.escalate_on_failure, "{case:?}");
    }
    left
}
