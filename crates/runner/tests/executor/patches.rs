//! Patches, applied by the helper in the sandbox.

use palisade_exec_policy::{AskForApproval, ReviewDecision};
use palisade_policy::SandboxType;
use palisade_runner::executor::{ApplyPatch, ExecutionRequest};

use crate::support::{Scripted, Stage, sandbox_of, text};

const PATCH: &str = "--- a/one\n+++ b/one\n@@ -1 +1 @@\n-old\n+new\n\
                     --- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+made\n";

fn request(stage: &Stage, patch: ApplyPatch) -> ExecutionRequest {
    ExecutionRequest::apply_patch(stage.params(&["apply_patch"]), patch)
}

#[tokio::test]
async fn a_patch_of_the_workspace_is_applied_in_the_sandbox_without_a_question() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    std::fs::write(stage.workspace.join("one"), "old\n").unwrap();
    let host = Scripted::default();
    let output = host
        .run(
            &executor,
            request(&stage, ApplyPatch::new(PATCH)),
            AskForApproval::OnRequest,
        )
        .await
        .unwrap();
    assert_eq!(output.exit_code, 0, "{output:?}");
    assert_eq!(output.stdout.text, "M one\nA made\n");
    assert_eq!(sandbox_of(&output), SandboxType::LinuxLandlock);
    assert_eq!(text(&stage.workspace.join("one")).as_deref(), Some("new\n"));
    assert_eq!(
        text(&stage.workspace.join("made")).as_deref(),
        Some("made\n")
    );
    assert!(host.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_patch_that_does_not_fit_changes_nothing_and_its_error_is_output() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    std::fs::write(stage.workspace.join("one"), "other\n").unwrap();
    let host = Scripted::default();
    let output = host
        .run(
            &executor,
            request(&stage, ApplyPatch::new(PATCH)),
            AskForApproval::OnFailure,
        )
        .await
        .unwrap();
    assert_eq!(output.exit_code, 1, "{output:?}");
    assert!(output.stderr.text.contains("one"), "{output:?}");
    assert_eq!(
        text(&stage.workspace.join("one")).as_deref(),
        Some("other\n")
    );
    assert!(!stage.workspace.join("made").exists());
}

#[tokio::test]
async fn a_protected_path_is_asked_about_and_an_approved_patch_is_applied_without_sandbox() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    std::fs::create_dir(stage.workspace.join(".git")).unwrap();
    let config = stage.workspace.join(".git/config");
    std::fs::write(&config, "old\n").unwrap();
    let patch = "--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-old\n+new\n";
    let host = Scripted::new([ReviewDecision::Denied, ReviewDecision::Approved]);
    let run = || {
        host.run(
            &executor,
            request(&stage, ApplyPatch::new(patch)),
            AskForApproval::OnRequest,
        )
    };
    let denied = run().await.unwrap_err();
    assert_eq!(denied.to_string(), "exec command rejected by user");
    assert_eq!(text(&config).as_deref(), Some("old\n"));
    let output = run().await.unwrap();
    assert_eq!(output.exit_code, 0, "{output:?}");
    assert_eq!(sandbox_of(&output), SandboxType::None);
    assert_eq!(text(&config).as_deref(), Some("new\n"));
}
