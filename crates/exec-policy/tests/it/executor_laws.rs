//! The laws of the `executor` preset, on everything that it can be asked.

use palisade_exec_policy::executor::{Patch, ShellCommand, Step, patch, shell};
use palisade_exec_policy::{Refusal, Risk, SandboxDecision, SandboxablePreference};
use palisade_policy::SandboxType;

use crate::executor::columns;
use crate::support::{answers, approvals};

/// Everything that the step and the answers to it can come to.
fn outcomes(step: Step) -> Vec<Result<SandboxDecision, Refusal>> {
    match step {
        Step::Run(placed) => vec![Ok(placed)],
        Step::Ask(ask) => answers()
            .iter()
            .map(|answer| ask.answered(answer))
            .collect(),
        Step::Reject(refusal) => vec![Err(refusal)],
    }
}

#[test]
fn under_require_nothing_runs_without_a_sandbox() {
    let mut ran = 0;
    for approval in approvals() {
        for place in columns(approval, SandboxablePreference::Require) {
            let mut steps = Vec::new();
            for flags in 0..8_u8 {
                let [first, second, third] = [1, 2, 4].map(|bit| flags & bit != 0);
                steps.push(patch(
                    &place,
                    &Patch {
                        explicitly_approved: first,
                        is_empty: second,
                        every_path_writable: third,
                    },
                ));
                steps.extend(Risk::ALL.map(|risk| {
                    let command = ShellCommand {
                        risk,
                        session_approved: first,
                        escalation_requested: second,
                    };
                    shell(&place, &command)
                }));
            }
            for outcome in steps.into_iter().flat_map(outcomes) {
                match outcome {
                    Ok(placed) => {
                        assert_ne!(placed.initial_sandbox, SandboxType::None, "{place:?}");
                        assert!(!placed.escalate_on_failure, "{place:?}");
                        assert!(place.backend.is_some());
                        ran += 1;
                    }
                    Err(refusal) if place.backend.is_none() => {
                        assert_eq!(refusal, Refusal::NoWorkingSandbox);
                    }
                    Err(_) => {}
                }
            }
        }
    }
    assert!(ran > 100, "the law was hardly tested: {ran}");
}

#[test]
fn without_a_working_sandbox_only_a_person_lets_a_command_run() {
    for approval in approvals() {
        for preference in SandboxablePreference::ALL {
            let [_, none, ..] = columns(approval, preference);
            for risk in Risk::ALL {
                for escalation_requested in [true, false] {
                    let command = ShellCommand {
                        risk,
                        session_approved: false,
                        escalation_requested,
                    };
                    let step = shell(&none, &command);
                    assert!(!matches!(step, Step::Run(_)), "{none:?} {command:?}");
                }
            }
        }
    }
}
