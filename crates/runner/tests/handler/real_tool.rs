//! A tool that really runs commands in the sandbox that it is told.

use std::process::Command;
use std::sync::Arc;

use palisade_exec_policy::{ApprovalPurpose, AskForApproval, GrantScope, ReviewDecision};
use palisade_policy::{
    Clause, Grant, NetworkAccess, SandboxMode, SandboxPolicy, SandboxType, WorkspaceRoot,
};
use palisade_runner::approve::BoxFuture;
use palisade_runner::handler::{
    Approvable, ApprovalCtx, CommandSpec, Constrained, Denial, ExecEnv, ExecToolCallOutput,
    SandboxAttempt, SandboxTransformError, SandboxType as View, Sandboxable, ToolCtx, ToolError,
    ToolRuntime, TurnContext, run,
};
use palisade_runner::launch::Placed;
use palisade_runner::outcome::Evidence;
use palisade_runner::select::SandboxManager;

use crate::host::FakeHost;
use crate::stage::{Stage, helper};

/// Runs a script, and says what it wanted if it was denied.
struct ScriptTool {
    stage: Stage,
    names_what_it_wanted: bool,
    ran: Vec<SandboxType>,
}

fn spawn(env: ExecEnv) -> ExecToolCallOutput {
    let output = Command::new(env.program)
        .args(env.args)
        .current_dir(env.cwd)
        .env_clear()
        .envs(env.env)
        .output()
        .unwrap();
    ExecToolCallOutput {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        exit_code: output.status.code().unwrap_or(-1),
    }
}

impl Sandboxable for ScriptTool {}

impl Approvable<String> for ScriptTool {
    type ApprovalKey = String;

    fn approval_key(&self, script: &String) -> String {
        script.clone()
    }

    fn start_approval_async<'a>(
        &'a mut self,
        script: &'a String,
        ctx: ApprovalCtx<'a>,
    ) -> BoxFuture<'a, ReviewDecision> {
        let cwd = ctx.turn.cwd.path().as_path();
        ctx.ask(["sh", "-c", script], cwd)
    }
}

impl ToolRuntime<String, ExecToolCallOutput> for ScriptTool {
    async fn run(
        &mut self,
        script: &String,
        attempt: &SandboxAttempt,
        _: &ToolCtx,
    ) -> Result<ExecToolCallOutput, ToolError> {
        self.ran.push(attempt.sandbox);
        let env = attempt.env_for(command(&self.stage, script))?;
        let output = tokio::task::spawn_blocking(move || spawn(env))
            .await
            .map_err(ToolError::internal)?;
        if output.success() || attempt.sandbox == SandboxType::None {
            return Ok(output);
        }
        let wanted = self.stage.absolute("outside");
        Err(ToolError::denied(if self.names_what_it_wanted {
            Denial::proven(vec![Evidence::Likely {
                resource: format!("write {wanted}"),
                clause: Clause::OutsideRoots,
                smallest_grant: Some(Grant::Write(wanted)),
            }])
        } else {
            Denial::from(output.combined_output())
        }))
    }
}

fn command(stage: &Stage, script: &str) -> CommandSpec {
    CommandSpec {
        program: "/bin/sh".to_owned(),
        args: vec!["-c".into(), script.into()],
        cwd: stage.path("workspace"),
        env: stage.environment(),
        timeout_ms: Some(20_000),
    }
}

struct Played {
    tool: ScriptTool,
    host: Arc<FakeHost>,
    result: Result<ExecToolCallOutput, ToolError>,
}

/// Runs a command that writes outside of its workspace.
async fn play(names: bool, answers: &[ReviewDecision]) -> Option<Played> {
    let helper = helper()?;
    let stage = Stage::new();
    let host = FakeHost::new(SandboxManager::new(&stage.host()), answers);
    let policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, NetworkAccess::Restricted);
    let turn = TurnContext::new(stage.workspace())
        .with_sandbox_policy(Constrained::any(policy))
        .with_linux_sandbox_exe(helper);
    let turn = Arc::new(turn);
    let script = format!(
        "echo x > inside && echo y > {}",
        stage.path("outside/file").display()
    );
    let ctx = ToolCtx::new(host.clone(), Arc::clone(&turn), "call-1", "shell");
    let mut tool = ScriptTool {
        stage,
        names_what_it_wanted: names,
        ran: Vec::new(),
    };
    let result = run(&mut tool, &script, &ctx, &turn, AskForApproval::OnFailure).await;
    Some(Played { tool, host, result })
}

#[tokio::test]
async fn a_denied_command_runs_again_inside_with_what_was_granted() {
    let Some(played) = play(true, &[ReviewDecision::Approved]).await else {
        return;
    };
    assert!(played.result.unwrap().success());
    assert_eq!(
        played.tool.ran,
        [SandboxType::LinuxLandlock, SandboxType::LinuxLandlock]
    );
    assert!(played.tool.stage.path("outside/file").exists());
    let asked = &played.host.asked()[0];
    let wanted = Grant::Write(played.tool.stage.absolute("outside"));
    assert_eq!(asked.proposed_grant, Some(wanted));
    assert_eq!(asked.purpose, ApprovalPurpose::Run);
}

#[tokio::test]
async fn a_grant_for_the_session_is_there_from_the_start_the_next_time() {
    let answers = [ReviewDecision::ApprovedForSession];
    let Some(mut played) = play(true, &answers).await else {
        return;
    };
    played.result.unwrap();
    assert_eq!(played.host.grants.lock().unwrap().len(), 1);
    std::fs::remove_file(played.tool.stage.path("outside/file")).unwrap();
    played.tool.ran.clear();
    let policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, NetworkAccess::Restricted);
    let turn = TurnContext::new(played.tool.stage.workspace())
        .with_sandbox_policy(Constrained::any(policy))
        .with_linux_sandbox_exe(helper().unwrap());
    let turn = Arc::new(turn);
    let ctx = ToolCtx::new(played.host.clone(), Arc::clone(&turn), "call-2", "shell");
    let script = format!(
        "echo y > {}",
        played.tool.stage.path("outside/file").display()
    );
    let again = run(
        &mut played.tool,
        &script,
        &ctx,
        &turn,
        AskForApproval::OnFailure,
    )
    .await;
    assert!(again.unwrap().success());
    assert_eq!(played.tool.ran, [SandboxType::LinuxLandlock]);
    assert_eq!(played.host.asked().len(), 1);
    assert!(played.tool.stage.path("outside/file").exists());
}

#[tokio::test]
async fn a_denied_command_that_names_nothing_runs_again_without_the_sandbox_if_approved() {
    let Some(played) = play(false, &[ReviewDecision::Approved]).await else {
        return;
    };
    assert!(played.result.unwrap().success());
    assert_eq!(
        played.tool.ran,
        [SandboxType::LinuxLandlock, SandboxType::None]
    );
    assert!(played.tool.stage.path("outside/file").exists());
    assert_eq!(
        played.host.asked()[0].purpose,
        ApprovalPurpose::RunUnsandboxed
    );
}

#[tokio::test]
async fn a_denied_command_that_nobody_approves_again_changed_nothing_outside() {
    for names in [true, false] {
        for answers in [&[][..], &[ReviewDecision::Abort]] {
            let Some(played) = play(names, answers).await else {
                return;
            };
            assert!(matches!(played.result, Err(ToolError::Rejected(_))));
            assert_eq!(played.tool.ran, [SandboxType::LinuxLandlock]);
            assert!(played.tool.stage.path("workspace/inside").exists());
            assert!(!played.tool.stage.path("outside/file").exists());
        }
    }
}

#[tokio::test]
async fn a_grant_of_something_else_does_not_open_what_was_denied() {
    let stage = Stage::new();
    let other = ReviewDecision::ApprovedWithGrant {
        grant: Grant::Write(stage.absolute("other-home")),
        scope: GrantScope::Run,
        expires: None,
    };
    let Some(played) = play(false, &[other]).await else {
        return;
    };
    assert!(played.result.is_err());
    assert!(!played.tool.ran.contains(&SandboxType::None));
    assert!(!played.tool.stage.path("outside/file").exists());
}

fn attempt(stage: &Stage, sandbox: SandboxType) -> SandboxAttempt {
    let policy = palisade_policy::CanonicalSandboxPolicy::workspace_write([stage.workspace()]);
    let placed = Placed::new(sandbox, policy, stage.workspace());
    let helper = helper().map(ToOwned::to_owned);
    SandboxAttempt::new(&placed, helper, SandboxManager::new(&stage.host()))
}

#[test]
fn env_for_without_a_sandbox_is_the_command_itself() {
    let stage = Stage::new();
    let attempt = attempt(&stage, SandboxType::None);
    assert_eq!(
        attempt.linux_sandbox_exe, None,
        "no helper without a sandbox"
    );
    let spec = command(&stage, "true");
    let env = attempt.env_for(spec.clone()).unwrap();
    assert_eq!((env.program, env.args), (spec.program, spec.args));
    assert_eq!(env.sandbox, View::None);
    assert_eq!(env.timeout_ms, Some(20_000));
}

#[test]
fn env_for_a_sandbox_is_wrapped_and_carries_directory_environment_and_time() {
    let Some(helper) = helper() else { return };
    let stage = Stage::new();
    let attempt = attempt(&stage, SandboxType::LinuxLandlock);
    assert_eq!(attempt.sandbox, SandboxType::LinuxLandlock);
    assert_eq!(attempt.sandbox_cwd, stage.workspace());
    assert_eq!(attempt.linux_sandbox_exe.as_deref(), Some(helper));
    let spec = command(&stage, "true");
    let env = attempt.env_for(spec.clone()).unwrap();
    assert_eq!(env.program, helper.to_str().unwrap());
    assert_eq!(env.args[env.args.len() - 3..], ["/bin/sh", "-c", "true"]);
    assert_eq!(env.args[1], stage.path("workspace"));
    assert_eq!((env.cwd, env.env), (spec.cwd, spec.env));
    assert_eq!(env.timeout_ms, Some(20_000));
    assert_eq!(env.sandbox, View::LinuxSandbox);
}

#[test]
fn env_for_another_systems_sandbox_or_without_a_helper_is_an_error() {
    let stage = Stage::new();
    for sandbox in [
        SandboxType::MacosSeatbelt,
        SandboxType::WindowsRestrictedToken,
    ] {
        assert_eq!(
            attempt(&stage, sandbox).env_for(command(&stage, "true")),
            Err(SandboxTransformError::SandboxUnavailable)
        );
    }
    let policy = palisade_policy::CanonicalSandboxPolicy::read_only();
    let root: WorkspaceRoot = stage.workspace();
    let placed = Placed::new(SandboxType::LinuxLandlock, policy, root);
    let helpless = SandboxAttempt::new(&placed, None, SandboxManager::new(&stage.host()));
    assert_eq!(
        helpless.env_for(command(&stage, "true")),
        Err(SandboxTransformError::MissingSandboxExecutable)
    );
}
