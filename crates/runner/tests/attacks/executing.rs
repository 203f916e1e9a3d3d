//! The same attacks on the executor, where a yes runs a command without its sandbox.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use palisade_exec_policy::approvals::ApprovalEdit;
use palisade_exec_policy::{AskForApproval, GrantScope, ReviewDecision};
use palisade_policy::{CanonicalSandboxPolicy, Environment, Grant, WorkspaceRoot};
use palisade_runner::approve::BoxFuture;
use palisade_runner::executor::{
    CommandApproval, DecisionRecorder, ExecCommandContext, ExecError, ExecParams,
    ExecToolCallOutput, ExecutionRequest, Executor, ExecutorConfig, ExecutorSession, Foundation,
    ToolDecisionSource,
};
use palisade_runner::judge::{Judge, RuleBook};
use palisade_runner::select::SandboxManager;

use crate::support::Stage;

type Meanwhile = Box<dyn Fn() + Send + Sync>;

/// A person who answers in order, and lets something happen before each answer.
#[derive(Default)]
struct Person {
    answers: Mutex<VecDeque<ReviewDecision>>,
    asked: Mutex<Vec<CommandApproval>>,
    told: Mutex<Vec<String>>,
    meanwhile: Option<Meanwhile>,
}

impl ExecutorSession for Person {
    fn notify_background_event<'a>(&'a self, _: &'a str, message: String) -> BoxFuture<'a, ()> {
        self.told.lock().unwrap().push(message);
        Box::pin(async {})
    }

    fn request_command_approval(
        &self,
        question: CommandApproval,
    ) -> BoxFuture<'_, Option<ReviewDecision>> {
        self.asked.lock().unwrap().push(question);
        if let Some(meanwhile) = &self.meanwhile {
            meanwhile();
        }
        let answer = self.answers.lock().unwrap().pop_front();
        Box::pin(async move { answer })
    }

    fn persist_amendment(&self, _: ApprovalEdit) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }

    fn persist_grant(
        &self,
        _: Grant,
        _: GrantScope,
        _: Option<u64>,
    ) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }
}

struct Unrecorded;

impl DecisionRecorder for Unrecorded {
    fn record(&self, _: &str, _: &str, _: &ReviewDecision, _: ToolDecisionSource) {}
}

impl Person {
    fn new(answers: &[ReviewDecision]) -> Self {
        Self {
            answers: Mutex::new(answers.iter().cloned().collect()),
            ..Self::default()
        }
    }

    async fn run(
        &self,
        executor: &Executor,
        params: ExecParams,
        approval: AskForApproval,
    ) -> Result<ExecToolCallOutput, ExecError> {
        let context = ExecCommandContext::new("turn", "call", "shell", Arc::new(Unrecorded));
        let request = ExecutionRequest::shell(params);
        executor.run(request, self, approval, &context).await
    }
}

fn executor(stage: &Stage) -> Executor {
    let host = stage.host();
    let root = WorkspaceRoot::new(stage.path("workspace").canonicalize().unwrap()).unwrap();
    let backend = SandboxManager::new(&host).working_backend();
    let judge = Judge::new(
        RuleBook::builtin().unwrap(),
        root.clone(),
        host.facts.clone(),
    );
    let policy = CanonicalSandboxPolicy::workspace_write([root.clone()]);
    Executor::new(
        ExecutorConfig::new(policy, root, host.helper.clone()),
        Foundation::new(Arc::new(host), Arc::new(judge.unwrap()), backend),
    )
}

fn params(stage: &Stage, variables: &[(&str, &str)]) -> ExecParams {
    let mut env = Environment::new();
    for (name, value) in [("PATH", "/usr/bin:/bin")].iter().chain(variables) {
        env.insert(name.into(), value.into());
    }
    let program = stage.path("workspace/program");
    ExecParams::new([program], stage.path("workspace"))
        .with_env(env)
        .asking_to_escalate("it must\u{1b}[8m")
}

#[tokio::test]
async fn an_approval_for_the_session_is_for_what_was_seen() {
    let stage = Stage::new();
    let proof = stage.path("outside/proof");
    let program = stage.script("workspace/program", "true");
    let text = format!("touch {}", proof.display());
    let evil = stage.script("workspace/evil", &text);
    let person = Person::new(&[ReviewDecision::ApprovedForSession]);
    let executor = executor(&stage);
    let ask = AskForApproval::OnRequest;
    for _ in 0..2 {
        let run = person.run(&executor, params(&stage, &[]), ask).await;
        assert_eq!(run.unwrap().exit_code, 0);
    }
    assert_eq!(person.asked.lock().unwrap().len(), 1);

    let loading = params(&stage, &[("BASH_ENV", evil.to_str().unwrap())]);
    let run = person.run(&executor, loading, ask).await;
    assert!(run.is_err() && !proof.exists(), "{run:?}");
    {
        let asked = person.asked.lock().unwrap();
        assert_eq!(asked.len(), 2);
        let shown = palisade_runner::approve::visible_command(&asked[1].command);
        assert!(shown.contains("BASH_ENV="), "{shown}");
        let why = asked[1].justification.clone().unwrap();
        assert!(!why.contains('\u{1b}'), "{why:?}");
    }

    std::fs::copy(&evil, &program).unwrap();
    let run = person.run(&executor, params(&stage, &[]), ask).await;
    assert!(run.is_err() && !proof.exists(), "{run:?}");
}

#[tokio::test]
async fn a_program_that_is_replaced_while_a_person_thinks_does_not_run() {
    let stage = Stage::new();
    let proof = stage.path("outside/proof");
    let program = stage.script("workspace/program", "true");
    let evil = stage.script("workspace/evil", &format!("touch {}", proof.display()));
    let person = Person {
        meanwhile: Some(Box::new(move || {
            std::fs::rename(&evil, &program).unwrap();
        })),
        ..Person::new(&[ReviewDecision::Approved])
    };
    let run = person
        .run(
            &executor(&stage),
            params(&stage, &[]),
            AskForApproval::OnRequest,
        )
        .await;
    assert!(run.is_err() && !proof.exists(), "{run:?}");
}

#[tokio::test]
async fn a_claim_that_would_draw_on_the_question_is_none() {
    let stage = Stage::new();
    let path = stage.path("outside/a\u{1b}[2K\u{202e}b");
    let claim = format!(
        "touch: cannot touch '{}': Read-only file system\n",
        path.display()
    );
    std::fs::write(stage.path("workspace/claim"), claim).unwrap();
    stage.script("workspace/program", "cat claim >&2; exit 1");
    let person = Person::new(&[]);
    let mut params = params(&stage, &[]);
    params.with_escalated_permissions = false;
    let run = person
        .run(&executor(&stage), params, AskForApproval::OnFailure)
        .await;
    assert_eq!(run.unwrap().exit_code, 1);
    assert!(person.asked.lock().unwrap().is_empty());
    assert!(person.told.lock().unwrap().is_empty());
}
