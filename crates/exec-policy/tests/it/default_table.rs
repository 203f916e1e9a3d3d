//! The table for tools that run no command, cell by cell.

use palisade_exec_policy::{
    ApprovalPurpose, AskForApproval, ExecApprovalRequirement, Question, RejectConfig,
    SandboxablePreference, decide, default_exec_approval_requirement,
};
use palisade_policy::{NetworkAccess, SandboxMode, SandboxPolicy};

use crate::support::{approvals, backends};

const SKIP: ExecApprovalRequirement = ExecApprovalRequirement::Skip {
    bypass_sandbox: false,
    proposed_execpolicy_amendment: None,
};
const ASK: ExecApprovalRequirement = ExecApprovalRequirement::NeedsApproval {
    reason: None,
    proposed_execpolicy_amendment: None,
    purpose: ApprovalPurpose::Run,
};

fn requirement(approval: AskForApproval, mode: SandboxMode) -> ExecApprovalRequirement {
    let sandbox = SandboxPolicy::new(mode, NetworkAccess::Restricted);
    default_exec_approval_requirement(approval, &sandbox)
}

const fn reject(sandbox_approval: bool) -> AskForApproval {
    AskForApproval::Reject(RejectConfig {
        sandbox_approval,
        rules: false,
        request_permissions: false,
        mcp_elicitations: false,
    })
}

#[test]
fn external_sandbox_on_request_skips() {
    assert_eq!(
        requirement(AskForApproval::OnRequest, SandboxMode::ExternalSandbox),
        SKIP
    );
    assert_eq!(
        requirement(AskForApproval::OnRequest, SandboxMode::DangerFullAccess),
        SKIP
    );
}

#[test]
fn read_only_on_request_needs_approval() {
    assert_eq!(
        requirement(AskForApproval::OnRequest, SandboxMode::ReadOnly),
        ASK
    );
    assert_eq!(
        requirement(AskForApproval::OnRequest, SandboxMode::WorkspaceWrite),
        ASK
    );
}

#[test]
fn read_only_rejecting_sandbox_approval_is_forbidden() {
    for mode in [SandboxMode::ReadOnly, SandboxMode::WorkspaceWrite] {
        assert_eq!(
            requirement(reject(true), mode),
            ExecApprovalRequirement::Forbidden {
                reason: "approval policy rejected sandbox approval prompt".to_owned()
            }
        );
    }
}

#[test]
fn rejecting_sandbox_approval_skips_where_there_is_nothing_to_ask() {
    assert_eq!(
        requirement(reject(true), SandboxMode::DangerFullAccess),
        SKIP
    );
    assert_eq!(
        requirement(reject(true), SandboxMode::ExternalSandbox),
        SKIP
    );
}

#[test]
fn rejecting_something_else_asks() {
    assert_eq!(requirement(reject(false), SandboxMode::ReadOnly), ASK);
    assert_eq!(requirement(reject(false), SandboxMode::WorkspaceWrite), ASK);
    assert_eq!(
        requirement(reject(false), SandboxMode::DangerFullAccess),
        SKIP
    );
    assert_eq!(
        requirement(reject(false), SandboxMode::ExternalSandbox),
        SKIP
    );
}

#[test]
fn never_and_on_failure_skip_everywhere() {
    for mode in SandboxMode::ALL {
        assert_eq!(requirement(AskForApproval::Never, mode), SKIP);
        assert_eq!(requirement(AskForApproval::OnFailure, mode), SKIP);
    }
}

#[test]
fn unless_trusted_asks_everywhere_even_with_full_access() {
    for mode in SandboxMode::ALL {
        assert_eq!(requirement(AskForApproval::UnlessTrusted, mode), ASK);
    }
}

#[test]
fn a_tool_without_a_command_gets_the_table_whatever_else_holds() {
    for approval in approvals() {
        for mode in SandboxMode::ALL {
            for network in NetworkAccess::ALL {
                for backend in backends() {
                    for preference in SandboxablePreference::ALL {
                        let decision = decide(&Question {
                            approval,
                            sandbox: SandboxPolicy::new(mode, network),
                            preference,
                            backend,
                            command: None,
                        });
                        assert_eq!(decision.requirement, requirement(approval, mode));
                        let asked = decision.requirement != SKIP;
                        let named = decision.explain().contains("sandbox_approval");
                        assert!(named || !asked, "{}", decision.explain());
                    }
                }
            }
        }
    }
}
