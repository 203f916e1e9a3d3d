//! The small tables of the page: tools without a command, and the `executor` preset.

use std::fmt::Write as _;

use palisade_policy::{NetworkAccess, SandboxMode, SandboxPolicy, SandboxType};

use super::cases::approvals;
use super::describe::{approval_set, names_of};
use super::merge::{bit, members, merge};
use crate::decision::approval::AskForApproval;
use crate::decision::containment::{SandboxablePreference, WorkingBackend};
use crate::decision::executor::{Patch, ShellCommand, Step, Surroundings, patch, shell};
use crate::decision::placement::Refusal;
use crate::decision::requirement::{ExecApprovalRequirement, default_exec_approval_requirement};
use crate::decision::risk::Risk;

const FLAGS: [bool; 2] = [true, false];

/// What a tool needs that runs no command.
pub(super) fn default_table() -> String {
    let cell = |approval, mode| {
        let policy = SandboxPolicy::new(mode, NetworkAccess::Restricted);
        match default_exec_approval_requirement(approval, &policy) {
            ExecApprovalRequirement::Skip { .. } => "**runs**".to_owned(),
            ExecApprovalRequirement::NeedsApproval { .. } => "asks: run".to_owned(),
            ExecApprovalRequirement::Forbidden { reason } => format!("forbidden: `{reason}`"),
        }
    };
    let boxes = approvals().map(|approval| {
        let cells = SandboxMode::ALL.map(|mode| cell(approval, mode));
        ([bit(approvals(), approval)], cells)
    });
    let mut table = "| approval policy |".to_owned();
    for mode in SandboxMode::ALL {
        let _ = write!(table, " {} |", mode.name());
    }
    table.push_str("\n|---|---|---|---|---|\n");
    for ([set], cells) in merge(boxes.collect(), [0]) {
        let policies = approval_set(&members(approvals(), set));
        let _ = writeln!(table, "| {policies} | {} |", cells.join(" | "));
    }
    table
}

/// The columns of the `executor` tables.
const COLUMNS: [(&str, SandboxMode, bool); 4] = [
    ("a sandbox works", SandboxMode::WorkspaceWrite, true),
    ("none works", SandboxMode::WorkspaceWrite, false),
    (
        "full access, a sandbox works",
        SandboxMode::DangerFullAccess,
        true,
    ),
    (
        "full access, none works",
        SandboxMode::DangerFullAccess,
        false,
    ),
];

fn cells(
    approval: AskForApproval,
    preference: SandboxablePreference,
    step: impl Fn(&Surroundings) -> Step,
) -> [String; COLUMNS.len()] {
    COLUMNS.map(|(_, mode, backend_works)| {
        let backend = backend_works
            .then(|| WorkingBackend::new(SandboxType::LinuxLandlock))
            .flatten();
        describe(&step(&Surroundings {
            approval,
            sandbox: SandboxPolicy::new(mode, NetworkAccess::Restricted),
            preference,
            backend,
        }))
    })
}

fn describe(step: &Step) -> String {
    match step {
        Step::Run(decision) => {
            let place = match decision.initial_sandbox {
                SandboxType::None => "**runs**, none",
                SandboxType::MacosSeatbelt
                | SandboxType::LinuxLandlock
                | SandboxType::WindowsRestrictedToken => "**runs sandboxed**",
            };
            let retry = if decision.escalate_on_failure {
                ", then may ask"
            } else {
                ""
            };
            format!("{place}{retry}")
        }
        Step::Ask(_) => "asks".to_owned(),
        Step::Reject(Refusal::MayNotAsk(category)) => format!("rejects: {}", category.name()),
        Step::Reject(Refusal::NoWorkingSandbox) => "rejects: none works".to_owned(),
        Step::Reject(Refusal::Contradiction) => "rejects: required".to_owned(),
        Step::Reject(Refusal::EmptyPatch) => "rejects: empty".to_owned(),
        Step::Reject(refusal) => format!("rejects: {refusal}"),
    }
}

fn yes_no(set: u32) -> String {
    let names: Vec<&str> = members(["yes", "no"], set);
    names_of(&names, &["yes", "no"])
}

fn preferences(set: u32) -> String {
    let all = SandboxablePreference::ALL.map(SandboxablePreference::name);
    names_of(&members(all, set), &all)
}

fn heading(inputs: &[&str]) -> String {
    let mut table = "|".to_owned();
    for name in inputs.iter().chain(COLUMNS.iter().map(|(name, _, _)| name)) {
        let _ = write!(table, " {name} |");
    }
    let _ = writeln!(table, "\n|{}", "---|".repeat(inputs.len() + COLUMNS.len()));
    table
}

/// The shell table of the `executor` preset.
pub(super) fn shell_table() -> String {
    let mut boxes = Vec::new();
    for preference in SandboxablePreference::ALL {
        for session_approved in FLAGS {
            for risk in Risk::ALL {
                for escalation_requested in FLAGS {
                    let command = ShellCommand {
                        risk,
                        session_approved,
                        escalation_requested,
                    };
                    boxes.extend(approvals().map(|approval| {
                        let sets = [
                            bit(SandboxablePreference::ALL, preference),
                            bit(FLAGS, session_approved),
                            bit(Risk::ALL, risk),
                            bit(FLAGS, escalation_requested),
                            bit(approvals(), approval),
                        ];
                        let cells = cells(approval, preference, |place| shell(place, &command));
                        (sets, cells)
                    }));
                }
            }
        }
    }
    let mut table = heading(&[
        "preference",
        "approved in this session",
        "risk",
        "asks to escalate",
        "approval policy",
    ]);
    for ([preference, session, risk, escalation, approval], cells) in merge(boxes, [3, 4, 2, 0, 1])
    {
        let all_risks = Risk::ALL.map(Risk::name);
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} | {} |",
            preferences(preference),
            yes_no(session),
            names_of(&members(all_risks, risk), &all_risks),
            yes_no(escalation),
            approval_set(&members(approvals(), approval)),
            cells.join(" | "),
        );
    }
    table
}

/// The patch table of the `executor` preset.
pub(super) fn patch_table() -> String {
    let mut boxes = Vec::new();
    for preference in SandboxablePreference::ALL {
        for explicitly_approved in FLAGS {
            for is_empty in FLAGS {
                for every_path_writable in FLAGS {
                    let change = Patch {
                        explicitly_approved,
                        is_empty,
                        every_path_writable,
                    };
                    boxes.extend(approvals().map(|approval| {
                        let sets = [
                            bit(SandboxablePreference::ALL, preference),
                            bit(FLAGS, explicitly_approved),
                            bit(FLAGS, is_empty),
                            bit(FLAGS, every_path_writable),
                            bit(approvals(), approval),
                        ];
                        let cells = cells(approval, preference, |place| patch(place, &change));
                        (sets, cells)
                    }));
                }
            }
        }
    }
    let mut table = heading(&[
        "preference",
        "approved",
        "empty",
        "every path writable",
        "approval policy",
    ]);
    for ([preference, approved, empty, writable, approval], cells) in merge(boxes, [4, 3, 2, 0, 1])
    {
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} | {} |",
            preferences(preference),
            yes_no(approved),
            yes_no(empty),
            yes_no(writable),
            approval_set(&members(approvals(), approval)),
            cells.join(" | "),
        );
    }
    table
}
