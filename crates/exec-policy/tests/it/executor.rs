//! The `executor` preset: both tables, cell by cell.

use palisade_exec_policy::executor::{Patch, ShellCommand, Step, Surroundings, patch, shell};
use palisade_exec_policy::{
    AskForApproval, PromptCategory, Refusal, RejectConfig, ReviewDecision, Risk,
    SandboxablePreference,
};
use palisade_policy::{NetworkAccess, SandboxMode, SandboxPolicy, SandboxType};

use crate::support::{PAGE, answers, approvals, grant, landlock};

const NEVER: AskForApproval = AskForApproval::Never;
const ON_REQUEST: AskForApproval = AskForApproval::OnRequest;
const UNLESS_TRUSTED: AskForApproval = AskForApproval::UnlessTrusted;
const ON_FAILURE: AskForApproval = AskForApproval::OnFailure;
const REJECT_NOTHING: AskForApproval = AskForApproval::Reject(RejectConfig {
    sandbox_approval: false,
    rules: true,
    request_permissions: true,
    mcp_elicitations: true,
});
const REJECT: AskForApproval = AskForApproval::Reject(RejectConfig {
    sandbox_approval: true,
    rules: false,
    request_permissions: false,
    mcp_elicitations: false,
});

/// A cell of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Sandboxed,
    /// Sandboxed, and a denial may be offered again.
    SandboxedThenAsk,
    Unsandboxed,
    Ask,
    /// The question may not be asked.
    Reject,
    EmptyPatch,
}

use Cell::{Ask, EmptyPatch, Reject, Sandboxed, SandboxedThenAsk, Unsandboxed};

fn cell(step: &Step) -> Option<Cell> {
    match step {
        Step::Run(placed) => {
            let sandboxed = placed.initial_sandbox != SandboxType::None;
            match (sandboxed, placed.escalate_on_failure) {
                (true, true) => Some(SandboxedThenAsk),
                (true, false) => Some(Sandboxed),
                (false, false) => Some(Unsandboxed),
                (false, true) => None,
            }
        }
        Step::Ask(_) => Some(Ask),
        Step::Reject(Refusal::MayNotAsk(PromptCategory::SandboxApproval)) => Some(Reject),
        Step::Reject(Refusal::EmptyPatch) => Some(EmptyPatch),
        Step::Reject(_) => None,
    }
}

/// The columns: a sandbox works, none works, full access (twice), an external sandbox (twice).
pub(crate) fn columns(
    approval: AskForApproval,
    preference: SandboxablePreference,
) -> [Surroundings; 6] {
    let at = |mode, backend| Surroundings {
        approval,
        sandbox: SandboxPolicy::new(mode, NetworkAccess::Restricted),
        preference,
        backend,
    };
    [
        at(SandboxMode::WorkspaceWrite, landlock()),
        at(SandboxMode::WorkspaceWrite, None),
        at(SandboxMode::DangerFullAccess, landlock()),
        at(SandboxMode::DangerFullAccess, None),
        at(SandboxMode::ExternalSandbox, landlock()),
        at(SandboxMode::ExternalSandbox, None),
    ]
}

/// The three cells of a row; full access and an external sandbox must say the same, with and without a backend.
fn row(approval: AskForApproval, step: impl Fn(&Surroundings) -> Step) -> [Option<Cell>; 3] {
    let [works, none, full, rest @ ..] =
        columns(approval, SandboxablePreference::Auto).map(|place| cell(&step(&place)));
    assert_eq!(rest, [full; 3], "{approval}");
    [works, none, full]
}

fn check_shell(name: &str, approval: AskForApproval, command: ShellCommand, expected: [Cell; 3]) {
    let cells = row(approval, |place| shell(place, &command));
    assert_eq!(cells, expected.map(Some), "{name}, {approval}");
}

const UNKNOWN: ShellCommand = ShellCommand {
    risk: Risk::Unknown,
    session_approved: false,
    escalation_requested: false,
};
const ESCALATING: ShellCommand = ShellCommand {
    escalation_requested: true,
    ..UNKNOWN
};

#[test]
fn dangerous_commands_are_asked_about() {
    for escalation_requested in [true, false] {
        let command = ShellCommand {
            risk: Risk::Dangerous,
            escalation_requested,
            ..UNKNOWN
        };
        for approval in [ON_REQUEST, UNLESS_TRUSTED, ON_FAILURE, REJECT_NOTHING] {
            check_shell("dangerous", approval, command, [Ask; 3]);
        }
        for approval in [NEVER, REJECT] {
            check_shell("dangerous", approval, command, [Reject; 3]);
        }
    }
}

#[test]
fn session_approved_commands_run_without_sandbox_even_dangerous_ones() {
    for approval in approvals() {
        for risk in Risk::ALL {
            let command = ShellCommand {
                risk,
                session_approved: true,
                ..UNKNOWN
            };
            check_shell("session-approved", approval, command, [Unsandboxed; 3]);
        }
    }
}

#[test]
fn known_safe_commands_run_sandboxed_without_a_question() {
    for escalation_requested in [true, false] {
        let command = ShellCommand {
            risk: Risk::KnownSafe,
            escalation_requested,
            ..UNKNOWN
        };
        for approval in [UNLESS_TRUSTED, ON_FAILURE] {
            check_shell(
                "known-safe",
                approval,
                command,
                [SandboxedThenAsk, Ask, Unsandboxed],
            );
        }
        for approval in [ON_REQUEST, REJECT_NOTHING] {
            check_shell(
                "known-safe",
                approval,
                command,
                [Sandboxed, Ask, Unsandboxed],
            );
        }
        for approval in [NEVER, REJECT] {
            check_shell(
                "known-safe",
                approval,
                command,
                [Sandboxed, Reject, Unsandboxed],
            );
        }
    }
}

#[test]
fn other_commands_follow_the_approval_policy() {
    check_shell("unless trusted", UNLESS_TRUSTED, UNKNOWN, [Ask; 3]);
    check_shell(
        "unless trusted, escalating",
        UNLESS_TRUSTED,
        ESCALATING,
        [Ask; 3],
    );
    check_shell(
        "on failure",
        ON_FAILURE,
        UNKNOWN,
        [SandboxedThenAsk, Ask, Unsandboxed],
    );
    check_shell(
        "on failure, escalating",
        ON_FAILURE,
        ESCALATING,
        [SandboxedThenAsk, Ask, Unsandboxed],
    );
    for approval in [ON_REQUEST, REJECT_NOTHING] {
        check_shell(
            "on request",
            approval,
            UNKNOWN,
            [Sandboxed, Ask, Unsandboxed],
        );
        check_shell(
            "on request, escalating",
            approval,
            ESCALATING,
            [Ask, Ask, Unsandboxed],
        );
    }
    check_shell("reject", REJECT, UNKNOWN, [Sandboxed, Reject, Unsandboxed]);
    check_shell(
        "reject, escalating",
        REJECT,
        ESCALATING,
        [Reject, Reject, Unsandboxed],
    );
    check_shell("never", NEVER, UNKNOWN, [Sandboxed, Reject, Unsandboxed]);
    check_shell(
        "never, escalating",
        NEVER,
        ESCALATING,
        [Sandboxed, Reject, Unsandboxed],
    );
}

#[test]
fn a_tool_that_wants_no_sandbox_is_judged_like_requested_escalation() {
    for approval in approvals() {
        let auto = columns(approval, SandboxablePreference::Auto);
        let forbid = columns(approval, SandboxablePreference::Forbid);
        for (auto, forbid) in auto.iter().zip(&forbid) {
            let escalating = cell(&shell(auto, &ESCALATING));
            assert_eq!(cell(&shell(forbid, &UNKNOWN)), escalating, "{approval}");
        }
    }
}

const CHANGE: Patch = Patch {
    explicitly_approved: false,
    is_empty: false,
    every_path_writable: false,
};

fn check_patch(name: &str, approval: AskForApproval, change: Patch, expected: [Cell; 3]) {
    let cells = row(approval, |place| patch(place, &change));
    assert_eq!(cells, expected.map(Some), "{name}, {approval}");
}

#[test]
fn patches_cell_by_cell() {
    let approved = Patch {
        explicitly_approved: true,
        ..CHANGE
    };
    let empty = Patch {
        is_empty: true,
        ..CHANGE
    };
    let writable = Patch {
        every_path_writable: true,
        ..CHANGE
    };
    for approval in approvals() {
        check_patch("approved", approval, approved, [Unsandboxed; 3]);
        check_patch("empty", approval, empty, [EmptyPatch; 3]);
    }
    for change in [writable, CHANGE] {
        check_patch("unless trusted", UNLESS_TRUSTED, change, [Ask; 3]);
        check_patch(
            "on failure",
            ON_FAILURE,
            change,
            [SandboxedThenAsk, Ask, Unsandboxed],
        );
    }
    for approval in [ON_REQUEST, REJECT_NOTHING] {
        check_patch(
            "writable",
            approval,
            writable,
            [Sandboxed, Ask, Unsandboxed],
        );
        check_patch("elsewhere", approval, CHANGE, [Ask; 3]);
    }
    for approval in [NEVER, REJECT] {
        check_patch(
            "writable",
            approval,
            writable,
            [Sandboxed, Reject, Unsandboxed],
        );
        check_patch("elsewhere", approval, CHANGE, [Reject; 3]);
    }
}

#[test]
fn an_approved_question_runs_without_sandbox_and_does_not_escalate() {
    for approval in [ON_REQUEST, UNLESS_TRUSTED, ON_FAILURE, REJECT_NOTHING] {
        for place in columns(approval, SandboxablePreference::Auto) {
            let dangerous = ShellCommand {
                risk: Risk::Dangerous,
                ..UNKNOWN
            };
            let Step::Ask(ask) = shell(&place, &dangerous) else {
                panic!("a dangerous command is asked about");
            };
            for answer in answers().iter().filter(|answer| **answer != grant()) {
                let placed = ask.answered(answer);
                assert_eq!(placed.is_ok(), answer.is_approval(), "{answer:?}");
                if let Ok(placed) = placed {
                    assert_eq!(placed.initial_sandbox, SandboxType::None);
                    assert!(!placed.escalate_on_failure);
                    let expected = *answer == ReviewDecision::ApprovedForSession;
                    assert_eq!(placed.record_session_approval, expected);
                }
            }
        }
    }
}

#[test]
fn a_grant_stays_in_the_sandbox() {
    let [works, none, ..] = columns(UNLESS_TRUSTED, SandboxablePreference::Auto);
    let (Step::Ask(works), Step::Ask(none)) = (shell(&works, &UNKNOWN), shell(&none, &UNKNOWN))
    else {
        panic!("an unknown command is asked about");
    };
    let placed = works.answered(&grant()).unwrap();
    assert_eq!(placed.initial_sandbox, SandboxType::LinuxLandlock);
    assert_eq!(none.answered(&grant()), Err(Refusal::NoWorkingSandbox));
}

#[test]
fn the_tables_read_like_this() {
    let tables = PAGE.split("## The `executor` preset").nth(1);
    insta::assert_snapshot!(tables.expect("the preset's part of the page"));
}
