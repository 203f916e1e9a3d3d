//! What is planned for patches, without anything being run.

use palisade_exec_policy::executor::{Patch, patch};

use super::*;
use crate::executor::ApplyPatch;

fn diff(path: &str) -> String {
    format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-old\n+new\n")
}

fn plan_patch(
    executor: &Executor,
    patch: ApplyPatch,
    approval: AskForApproval,
) -> Result<ExecPlan, ExecError> {
    let params = ExecParams::new(["apply_patch"], "/srv/app");
    let request = ExecutionRequest::apply_patch(params, patch);
    executor.plan(request, &Silent::default(), approval)
}

/// A diff, whether it is empty, and whether the policy lets all of it be written.
fn diffs() -> [(String, bool, bool); 3] {
    [
        (diff("src/lib.rs"), false, true),
        (diff(".git/config"), false, false),
        (String::new(), true, false),
    ]
}

#[test]
fn every_row_of_the_patch_table_is_planned_as_exec_policy_places_it() {
    let foundation = executor(SandboxMode::ReadOnly, true).foundation;
    let modes = [SandboxMode::WorkspaceWrite, SandboxMode::DangerFullAccess];
    let mut seen = (0, 0, 0);
    for (mode, works) in modes.into_iter().flat_map(|m| [(m, true), (m, false)]) {
        for (diff, is_empty, writable) in diffs() {
            for approval in approvals() {
                for explicitly_approved in [false, true] {
                    let backend = foundation.backend.filter(|_| works);
                    let foundation = Foundation {
                        backend,
                        ..foundation.clone()
                    };
                    let helper = Some("/opt/helper".into());
                    let config = ExecutorConfig::new(policy(mode), project(), helper);
                    let executor = Executor::new(config, foundation);
                    let full = mode == SandboxMode::DangerFullAccess;
                    let expected = patch(
                        &Surroundings {
                            approval,
                            sandbox: SandboxPolicy::new(mode, NetworkAccess::Restricted),
                            preference: SandboxablePreference::Auto,
                            backend,
                        },
                        &Patch {
                            explicitly_approved: explicitly_approved && !is_empty,
                            is_empty,
                            every_path_writable: (writable || full) && !is_empty,
                        },
                    );
                    let mut request = ApplyPatch::new(diff.clone());
                    request.explicitly_approved = explicitly_approved;
                    let planned = plan_patch(&executor, request, approval);
                    let what = format!("{mode:?} {works} {approval} {diff:?}: {planned:?}");
                    match (planned, expected) {
                        (Ok(plan), Step::Run(decision)) => {
                            let place = plan.initial_sandbox();
                            assert_eq!(place, Some(decision.initial_sandbox), "{what}");
                            seen.0 += 1;
                        }
                        (Ok(plan), Step::Ask(_)) => {
                            assert!(plan.asks().is_some(), "{what}");
                            seen.1 += 1;
                        }
                        (Err(error), Step::Reject(refusal)) => {
                            assert_eq!(error.to_string(), refusal.to_string(), "{what}");
                            seen.2 += 1;
                        }
                        (_, expected) => panic!("{what} instead of {expected:?}"),
                    }
                }
            }
        }
    }
    assert!(seen.0 > 20 && seen.1 > 5 && seen.2 > 20, "{seen:?}");
}

#[test]
fn an_empty_patch_is_rejected_whoever_approved_it() {
    let executor = executor(SandboxMode::WorkspaceWrite, true);
    for patch in [
        ApplyPatch::new(""),
        ApplyPatch::new("nothing here\n").approved(),
    ] {
        for approval in approvals() {
            let error = plan_patch(&executor, patch.clone(), approval).unwrap_err();
            assert_eq!(error.to_string(), "the patch is empty");
        }
    }
}

#[test]
fn a_damaged_patch_is_refused_before_anything_runs() {
    let executor = executor(SandboxMode::WorkspaceWrite, true);
    let patch = ApplyPatch::new(diff("../outside")).approved();
    let error = plan_patch(&executor, patch, AskForApproval::OnFailure).unwrap_err();
    assert!(matches!(error, ExecError::Function(_)), "{error:?}");
}

#[test]
fn a_session_approval_is_for_one_patch_and_not_for_all_of_them() {
    let executor = executor(SandboxMode::WorkspaceWrite, true);
    let approval = AskForApproval::UnlessTrusted;
    let one = || plan_patch(&executor, ApplyPatch::new(diff("a")), approval).unwrap();
    let key = one();
    let key = key
        .prepared
        .key_for(&key.key, ApprovalPurpose::RunUnsandboxed);
    assert!(one().asks().is_some());
    executor.approvals.insert(key);
    assert!(one().asks().is_none());
    let other = plan_patch(&executor, ApplyPatch::new(diff("b")), approval).unwrap();
    assert!(other.asks().is_some());
}

#[test]
fn a_patch_is_not_rewritten_for_a_shell_and_does_not_stream() {
    let session = Silent {
        shell: Some(UserShell::PowerShell(ShellProgram::new("pwsh"))),
    };
    let params = ExecParams::new(["apply_patch"], "/srv/app");
    let request = ExecutionRequest::apply_patch(params, ApplyPatch::new(diff("a")))
        .streaming_to(crate::executor::StdoutStream::call("t", "c", |_| {}))
        .with_shell_profile();
    let plan = executor(SandboxMode::WorkspaceWrite, true)
        .plan(request, &session, AskForApproval::OnFailure)
        .unwrap();
    assert_eq!(plan.command()[0], "/opt/helper");
    assert!(plan.stream.is_none());
}

#[cfg(unix)]
#[test]
fn a_path_behind_a_link_that_leads_out_is_not_writable() {
    let stage = tempfile::tempdir_in("/var/tmp").unwrap();
    let root = stage.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("workspace")).unwrap();
    std::os::unix::fs::symlink(&root, root.join("workspace/out")).unwrap();
    std::os::unix::fs::symlink("/nowhere/at/all", root.join("workspace/gone")).unwrap();
    let workspace = WorkspaceRoot::new(root.join("workspace")).unwrap();
    let policy = CanonicalSandboxPolicy::workspace_write([workspace.clone()]);
    let config = ExecutorConfig::new(policy, workspace.clone(), None);
    let foundation = executor(SandboxMode::WorkspaceWrite, true).foundation;
    for (path, expected) in [
        ("file", true),
        ("new/file", true),
        ("out/x", false),
        ("gone", false),
    ] {
        let patch = ApplyPatch::new(diff(path)).read().unwrap().unwrap();
        let writable = every_path_writable(&patch, workspace.path(), &foundation, &config).unwrap();
        assert_eq!(writable, expected, "{path}");
    }
}
