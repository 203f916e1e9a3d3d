//! The vocabulary of the executor, from outside.

use std::any::TypeId;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use palisade_runner::approve::BoxFuture;
use palisade_runner::exec_policy::approvals::ApprovalEdit;
use palisade_runner::exec_policy::{self, AskForApproval, ReviewDecision, WorkingBackend};
use palisade_runner::executor::{
    ApplyPatch, CommandApproval, DecisionRecorder, EnvVarError, ExecCommandContext, ExecError,
    ExecParams, ExecToolCallOutput, ExecutionMode, ExecutionRequest, Executor, ExecutorConfig,
    ExecutorSession, Foundation, FunctionCallError, NoRecorder, RunError, SandboxErr, StdoutStream,
    StreamOutput, ToolDecisionSource, normalize_exec_result,
};
use palisade_runner::host::Host;
use palisade_runner::judge::{Judge, RuleBook};
use palisade_runner::policy::{
    self, AbsolutePath, CanonicalSandboxPolicy, Environment, HostFacts, Os, SandboxType,
    WorkspaceRoot,
};

fn root() -> WorkspaceRoot {
    WorkspaceRoot::new("/srv/app").unwrap()
}

fn executor(root: WorkspaceRoot) -> Executor {
    let home = AbsolutePath::new("/home/dev").unwrap();
    let facts = HostFacts::new(Os::Linux).with_home(home);
    let judge = Judge::new(RuleBook::builtin().unwrap(), root.clone(), facts.clone()).unwrap();
    Executor::new(
        ExecutorConfig::new(
            CanonicalSandboxPolicy::workspace_write([root.clone()]),
            root,
            Some(PathBuf::from("/opt/helper")),
        ),
        Foundation::new(
            Arc::new(Host::new(facts)),
            Arc::new(judge),
            WorkingBackend::new(SandboxType::LinuxLandlock),
        ),
    )
}

/// A host whose every question is dropped.
struct Gone;

impl ExecutorSession for Gone {
    fn notify_background_event<'a>(&'a self, _: &'a str, _: String) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn request_command_approval(
        &self,
        _: CommandApproval,
    ) -> BoxFuture<'_, Option<ReviewDecision>> {
        Box::pin(async { None })
    }

    fn persist_amendment(&self, _: ApprovalEdit) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }
}

/// What was recorded.
#[derive(Default)]
struct Records(Mutex<Vec<String>>);

impl DecisionRecorder for Records {
    fn record(
        &self,
        tool: &str,
        call_id: &str,
        decision: &ReviewDecision,
        source: ToolDecisionSource,
    ) {
        let line = format!("{tool} {call_id} {decision:?} {source:?}");
        self.0.lock().unwrap().push(line);
    }
}

#[test]
fn a_configuration_shows_policy_and_directory_and_keeps_its_helper() {
    let config = ExecutorConfig::new(
        CanonicalSandboxPolicy::read_only(),
        root(),
        Some(PathBuf::from("/opt/helper")),
    );
    assert_eq!(config.sandbox_policy, CanonicalSandboxPolicy::read_only());
    assert_eq!(config.sandbox_cwd, root());
    assert_eq!(config.linux_sandbox_exe(), Some(Path::new("/opt/helper")));
}

#[test]
fn a_request_has_parameters_a_command_to_show_a_mode_a_stream_and_a_profile() {
    let env = Environment::from([("LANG".into(), "C".into())]);
    let params = ExecParams::new(["make", "all"], "/srv/app")
        .with_env(env.clone())
        .with_timeout_ms(9)
        .asking_to_escalate("it needs the network");
    assert_eq!(params.command, ["make", "all"]);
    assert_eq!(params.cwd, Path::new("/srv/app"));
    assert_eq!((params.timeout_ms, &params.env), (Some(9), &env));
    assert!(params.with_escalated_permissions);
    assert_eq!(
        params.justification.as_deref(),
        Some("it needs the network")
    );

    let plain = ExecutionRequest::shell(params.clone());
    assert_eq!(plain.approval_command, params.command);
    assert!(plain.stdout_stream.is_none() && !plain.use_shell_profile);
    let request = plain
        .shown_as(["build", "it"])
        .streaming_to(StdoutStream::call("turn-1", "call-1", |_| ()))
        .with_shell_profile();
    assert_eq!(request.approval_command, ["build", "it"]);
    assert_eq!(request.params, params, "what is shown is not what runs");
    assert!(request.stdout_stream.is_some() && request.use_shell_profile);
    assert!(matches!(request.mode, ExecutionMode::Shell));
    let patch = ExecutionRequest::apply_patch(params, ApplyPatch::new("--- a\n"));
    assert!(matches!(patch.mode, ExecutionMode::ApplyPatch(_)));
}

#[test]
fn an_output_has_code_texts_duration_and_whether_it_took_too_long() {
    let mut output = ExecToolCallOutput::default();
    output.exit_code = 2;
    output.stdout = StreamOutput::new("out".to_owned());
    output.stderr = StreamOutput::new("err".to_owned());
    output.aggregated_output = StreamOutput::new("outerr".to_owned());
    output.duration = Duration::from_secs(1);
    output.timed_out = true;
    let result = Ok(output);
    let shown = normalize_exec_result(&result);
    let shown = shown.event_output();
    assert_eq!(shown.exit_code, 2);
    assert_eq!(shown.aggregated_output.text, "outerr");
    assert_eq!(shown.stdout.truncated_after_lines, None);
    assert!(shown.timed_out && shown.duration == Duration::from_secs(1));
}

#[test]
fn errors_can_be_built_matched_and_told_apart() {
    let output = || Box::new(ExecToolCallOutput::default());
    for (error, carries) in [
        (SandboxErr::Denied { output: output() }, "denied"),
        (SandboxErr::Timeout { output: output() }, "timed out"),
        (
            SandboxErr::Signal {
                signal: 9,
                output: output(),
            },
            "signal 9",
        ),
    ] {
        let error = ExecError::from(error);
        assert!(error.to_string().contains(carries), "{error}");
        assert!(matches!(error, ExecError::Run(RunError::Sandbox(_))));
    }
    let missing = EnvVarError {
        var: "FOO".to_owned(),
        instructions: Some("set it".to_owned()),
    };
    assert_eq!(
        (missing.var.as_str(), missing.instructions.as_deref()),
        ("FOO", Some("set it"))
    );
    let told = ExecError::rejection("no");
    assert!(
        matches!(&told, ExecError::Function(FunctionCallError::RespondToModel(text)) if text == "no"),
        "{told:?}"
    );
}

/// One set of types: what the executor says about policies and decisions is what the other crates say.
#[test]
fn the_executor_has_no_second_set_of_types() {
    fn type_of<T: 'static>(_: &T) -> TypeId {
        TypeId::of::<T>()
    }
    let config = ExecutorConfig::new(CanonicalSandboxPolicy::read_only(), root(), None);
    assert_eq!(
        type_of(&config.sandbox_policy),
        TypeId::of::<palisade_policy::CanonicalSandboxPolicy>()
    );
    let params = ExecParams::new(["ls"], "/srv/app");
    assert_eq!(type_of(&params.env), TypeId::of::<policy::Environment>());
    let plan = executor(root())
        .plan(
            ExecutionRequest::shell(params),
            &Gone,
            AskForApproval::OnRequest,
        )
        .unwrap();
    let Some(sandbox) = plan.initial_sandbox() else {
        panic!("{plan:?}");
    };
    assert_eq!(
        type_of(&sandbox),
        TypeId::of::<palisade_policy::SandboxType>()
    );
    assert_eq!(
        type_of(&ReviewDecision::Denied),
        TypeId::of::<palisade_exec_policy::ReviewDecision>()
    );
    assert_eq!(
        type_of(&exec_policy::AskForApproval::Never),
        TypeId::of::<palisade_exec_policy::AskForApproval>()
    );
}

#[tokio::test]
async fn a_question_that_is_dropped_means_no_and_is_recorded_with_tool_call_and_source() {
    // It is looked for before anybody is asked.
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let root = WorkspaceRoot::new(directory.path()).unwrap();
    let records = Arc::new(Records::default());
    let context = ExecCommandContext::new("turn-1", "call-1", "shell", records.clone());
    let error = executor(root)
        .run(
            ExecutionRequest::shell(ExecParams::new(["frobnicate"], directory.path())),
            &Gone,
            AskForApproval::UnlessTrusted,
            &context,
        )
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "exec command rejected by user");
    assert_eq!(*records.0.lock().unwrap(), ["shell call-1 Denied User"]);
    assert!(Gone.user_shell().is_none());
}

#[test]
fn a_context_names_turn_call_and_tool_and_what_is_shown() {
    let context = ExecCommandContext::new("turn-1", "call-1", "shell", Arc::new(NoRecorder))
        .showing(vec![OsString::from("make")], "/srv/app")
        .with_patch("--- a\n");
    assert_eq!(
        (
            context.sub_id.as_str(),
            context.call_id.as_str(),
            context.tool_name.as_str()
        ),
        ("turn-1", "call-1", "shell")
    );
    assert_eq!(context.command_for_display, ["make"]);
    assert_eq!(context.cwd, Path::new("/srv/app"));
    assert_eq!(context.patch.as_deref(), Some("--- a\n"));
    assert_ne!(ToolDecisionSource::Config, ToolDecisionSource::User);
}
