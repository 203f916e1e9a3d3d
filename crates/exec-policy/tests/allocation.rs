//! A decision that asks nothing allocates nothing. This is a binary of its own, because counting replaces the allocator.

use palisade_exec_policy::matrix::{Outcome, cases};
use palisade_exec_policy::{
    AskForApproval, ExecApprovalRequirement, ExecPolicyAmendment, Question, SandboxablePreference,
    decide, default_exec_approval_requirement,
};
use palisade_policy::{SandboxMode, SandboxPolicy};

fn allocations(run: impl FnOnce()) -> u64 {
    allocation_counter::measure(run).count_total
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

#[test]
fn running_without_a_question_allocates_nothing() {
    let amendment = ExecPolicyAmendment::new(["cargo", "test"]).expect("a prefix");
    let mut seen = 0;
    for case in cases().step_by(7) {
        let mut question = case.question();
        if let Some(command) = &mut question.command {
            command.amendment = Some(&amendment);
        }
        let outcome = Outcome::of(&decide(&question));
        if matches!(outcome, Outcome::Skip | Outcome::SkipBypass) {
            let count = allocations(|| drop(std::hint::black_box(decide(&question))));
            assert_eq!(count, 0, "{case:?}");
            seen += 1;
        }
    }
    assert!(seen > 1000, "only {seen} cases ran without a question");
}

#[test]
fn the_default_table_allocates_nothing_where_it_skips() {
    let mut seen = 0;
    for approval in AskForApproval::SIMPLE {
        for mode in SandboxMode::ALL {
            let sandbox = SandboxPolicy {
                mode,
                ..SandboxPolicy::default()
            };
            let question = Question {
                approval,
                sandbox,
                preference: SandboxablePreference::Auto,
                backend: None,
                command: None,
            };
            let requirement = default_exec_approval_requirement(approval, &sandbox);
            if matches!(requirement, ExecApprovalRequirement::Skip { .. }) {
                let count = allocations(|| {
                    drop(std::hint::black_box(default_exec_approval_requirement(
                        approval, &sandbox,
                    )));
                    drop(std::hint::black_box(decide(&question)));
                });
                assert_eq!(count, 0, "{approval:?} {mode:?}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 10);
}
