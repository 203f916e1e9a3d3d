//! The engine, with people and attempts that follow a script.

use std::collections::VecDeque;

use palisade_exec_policy::{
    ApprovalPurpose, ExecApprovalRequirement, ExecPolicyAmendment, Placement, RejectConfig,
    SandboxOverride, SandboxablePreference, WorkingBackend, orchestrator,
};
use palisade_policy::{
    AbsolutePath, Clause, NetworkAccess, NetworkScope, SandboxMode, SandboxPolicy,
};

use super::*;
use crate::supervise::block_on;

/// Answers and denials that come one after another, and what happened.
#[derive(Default)]
struct Script {
    denials: VecDeque<Vec<Evidence>>,
    answers: VecDeque<ReviewDecision>,
    seen: Vec<String>,
}

impl Attempting for Script {
    type Value = usize;

    fn attempt<'a>(&'a mut self, placed: &'a Placed) -> BoxFuture<'a, Tried<usize>> {
        let opened = match &placed.policy {
            CanonicalSandboxPolicy::WorkspaceWrite { paths, .. } => paths.reopened.len(),
            _ => 0,
        };
        self.seen.push(format!("{:?}+{opened}", placed.sandbox));
        let number = self.seen.len();
        Box::pin(async move {
            match self.denials.pop_front() {
                Some(evidence) => Tried::Denied {
                    value: number,
                    evidence,
                },
                None => Tried::Done(number),
            }
        })
    }

    fn ask<'a>(&'a mut self, question: &'a RetryQuestion) -> BoxFuture<'a, ReviewDecision> {
        self.seen.push(question.kind.to_string());
        let answer = self.answers.pop_front().unwrap_or_default();
        Box::pin(async move { answer })
    }

    fn notice<'a>(&'a mut self, notice: &'a Notice) -> BoxFuture<'a, ()> {
        let text = notice.to_string();
        self.seen
            .push(text.split(':').next().unwrap_or_default().to_owned());
        Box::pin(async {})
    }

    fn keep<'a>(
        &'a mut self,
        grant: &'a Grant,
        scope: GrantScope,
        _: Option<u64>,
    ) -> BoxFuture<'a, ()> {
        self.seen.push(format!("keep {grant} {scope:?}"));
        Box::pin(async {})
    }
}

fn attempts(approval: AskForApproval) -> Attempts {
    let requirement = ExecApprovalRequirement::NeedsApproval {
        reason: None,
        proposed_execpolicy_amendment: None,
        purpose: ApprovalPurpose::Run,
    };
    let sandbox = SandboxPolicy::new(SandboxMode::WorkspaceWrite, NetworkAccess::Restricted);
    let decision = orchestrator(&Placement {
        requirement: &requirement,
        answer: Some(&ReviewDecision::Approved),
        first_attempt: SandboxOverride::NoOverride,
        preference: SandboxablePreference::Auto,
        sandbox,
        backend: WorkingBackend::new(SandboxType::LinuxLandlock),
        escalate_on_failure: true,
        approval,
    })
    .unwrap();
    let cwd = WorkspaceRoot::new("/srv/app").unwrap();
    Attempts::new(decision, sandbox.to_canonical_policy(&cwd), cwd, approval)
}

fn write(path: &str) -> Grant {
    Grant::Write(AbsolutePath::new(path).unwrap())
}

fn likely(path: &str) -> Vec<Evidence> {
    vec![Evidence::Likely {
        resource: format!("write {path}"),
        clause: Clause::OutsideRoots,
        smallest_grant: Some(write(path)),
    }]
}

fn play(
    attempts: &Attempts,
    denials: &[Vec<Evidence>],
    answers: &[ReviewDecision],
) -> (Attempted<usize>, Vec<String>) {
    let mut script = Script {
        denials: denials.iter().cloned().collect(),
        answers: answers.iter().cloned().collect(),
        seen: Vec::new(),
    };
    let attempted = block_on(run(attempts, &mut script)).unwrap();
    (attempted, script.seen)
}

const LEAVE: &str = "command failed; retry without sandbox?";

#[test]
fn what_is_not_denied_is_tried_once() {
    let (attempted, seen) = play(&attempts(AskForApproval::OnFailure), &[], &[]);
    assert_eq!(seen, ["LinuxLandlock+0"]);
    assert_eq!(attempted.retry, Retry::NotNeeded);
}

#[test]
fn the_smaller_thing_is_asked_first_and_stays_in_the_sandbox() {
    let (attempted, seen) = play(
        &attempts(AskForApproval::OnFailure),
        &[likely("/srv/out")],
        &[ReviewDecision::Approved],
    );
    assert_eq!(
        seen,
        [
            "LinuxLandlock+0",
            "Execution failed",
            "command failed; retry with a grant to write /srv/out?",
            "retrying command with a grant to write /srv/out",
            "LinuxLandlock+1",
        ]
    );
    assert_eq!(attempted.retry, Retry::Narrower);
    assert_eq!(attempted.granted, [write("/srv/out")]);
}

#[test]
fn who_refuses_the_smaller_thing_is_not_asked_for_everything() {
    let (attempted, seen) = play(
        &attempts(AskForApproval::OnFailure),
        &[likely("/srv/out")],
        &[ReviewDecision::Denied],
    );
    assert!(!seen.iter().any(|line| line == LEAVE), "{seen:?}");
    assert_eq!(
        attempted.retry,
        Retry::Declined(Refusal::Denied { note: None })
    );
    assert_eq!(attempted.value, 1, "the first attempt's own result is kept");
    assert!(!attempted.evidence.is_empty());
}

#[test]
fn what_grants_do_not_help_can_be_left_if_somebody_says_so() {
    let no_grant = vec![Evidence::SystemCall];
    let (attempted, seen) = play(
        &attempts(AskForApproval::UnlessTrusted),
        &[likely("/srv/out"), no_grant],
        &[ReviewDecision::Approved, ReviewDecision::ApprovedForSession],
    );
    assert_eq!(seen.last().unwrap(), "None+0");
    assert_eq!(
        attempted.placed.policy,
        CanonicalSandboxPolicy::full_access()
    );
    assert_eq!(attempted.retry, Retry::Unsandboxed { for_session: true });
}

#[test]
fn nobody_is_asked_where_the_approval_policy_says_so() {
    let no_sandbox = RejectConfig {
        sandbox_approval: true,
        ..RejectConfig::default()
    };
    for approval in [
        AskForApproval::Never,
        AskForApproval::OnRequest,
        AskForApproval::Reject(no_sandbox),
    ] {
        let (attempted, seen) = play(&attempts(approval), &[likely("/srv/out")], &[]);
        assert_eq!(seen, ["LinuxLandlock+0"], "{approval}");
        assert_eq!(attempted.retry, Retry::NotOffered);
    }
}

#[test]
fn a_floor_keeps_everything_in_the_sandbox() {
    let mut floor = attempts(AskForApproval::OnFailure);
    floor.may_leave = false;
    let (attempted, seen) = play(
        &floor,
        &[vec![Evidence::SystemCall]],
        &[ReviewDecision::Approved],
    );
    assert_eq!(seen, ["LinuxLandlock+0"]);
    assert_eq!(attempted.retry, Retry::NotOffered);
}

#[test]
fn where_grants_may_not_be_asked_the_larger_question_is_the_only_one() {
    let no_permissions = RejectConfig {
        request_permissions: true,
        ..RejectConfig::default()
    };
    let (_, seen) = play(
        &attempts(AskForApproval::Reject(no_permissions)),
        &[likely("/srv/out")],
        &[],
    );
    assert_eq!(seen.last().unwrap(), LEAVE);
}

#[test]
fn a_grant_answers_the_larger_question_inside_the_sandbox() {
    let answer = ReviewDecision::ApprovedWithGrant {
        grant: write("/srv/cache"),
        scope: GrantScope::Project,
        expires: None,
    };
    let (attempted, seen) = play(
        &attempts(AskForApproval::OnFailure),
        &[vec![Evidence::SystemCall]],
        std::slice::from_ref(&answer),
    );
    assert!(seen.contains(&"keep write /srv/cache Project".to_owned()));
    assert_eq!(attempted.placed.sandbox, SandboxType::LinuxLandlock);
}

#[test]
fn an_answer_that_adds_nothing_ends_it() {
    let answer = ReviewDecision::ApprovedWithGrant {
        grant: write("/srv/cache"),
        scope: GrantScope::Run,
        expires: None,
    };
    let denials = vec![vec![Evidence::SystemCall]; 64];
    let answers = vec![answer; 64];
    let (attempted, seen) = play(&attempts(AskForApproval::OnFailure), &denials, &answers);
    assert_eq!(attempted.granted.len(), 1);
    assert!(seen.len() < 12, "{seen:?}");
}

#[test]
fn endless_new_resources_are_not_asked_about_endlessly() {
    let denials: Vec<_> = (0..64).map(|n| likely(&format!("/srv/{n}"))).collect();
    let (attempted, _) = play(
        &attempts(AskForApproval::OnFailure),
        &denials,
        &vec![ReviewDecision::Approved; 64],
    );
    assert_eq!(attempted.granted.len(), MOST_GRANTS);
    assert_eq!(attempted.retry, Retry::Unsandboxed { for_session: false });
}

#[test]
fn a_kept_prefix_given_to_a_retry_approves_once() {
    let amendment = ReviewDecision::ApprovedExecpolicyAmendment {
        proposed_execpolicy_amendment: ExecPolicyAmendment::new(["cargo", "add"]).unwrap(),
    };
    let (attempted, _) = play(
        &attempts(AskForApproval::OnFailure),
        &[vec![Evidence::SystemCall]],
        &[amendment],
    );
    assert_eq!(attempted.retry, Retry::Unsandboxed { for_session: false });
}

#[test]
fn a_grant_never_lifts_what_it_does_not_name() {
    let (attempted, _) = play(
        &attempts(AskForApproval::OnFailure),
        &[likely("/srv/out")],
        &[ReviewDecision::Approved],
    );
    assert_eq!(attempted.placed.policy.network(), NetworkScope::Off);
    assert_eq!(
        attempted.placed.policy.rules().unwrap().0.git,
        palisade_policy::GitAccess::ReadOnly
    );
}
