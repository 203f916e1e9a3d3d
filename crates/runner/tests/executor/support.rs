//! A stage, an executor on it, and a host that answers by a script and writes everything down.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use palisade_exec_policy::approvals::ApprovalEdit;
use palisade_exec_policy::language::{Layer, LoadContext, Source, parse};
use palisade_exec_policy::{AskForApproval, ReviewDecision, WorkingBackend};
use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, Environment, HostFacts, Os, SandboxType, WorkspaceRoot,
};
use palisade_runner::approve::BoxFuture;
use palisade_runner::executor::shell::UserShell;
use palisade_runner::executor::{
    CommandApproval, DecisionRecorder, ExecCommandContext, ExecError, ExecParams,
    ExecToolCallOutput, ExecutionRequest, Executor, ExecutorConfig, ExecutorSession, Foundation,
    ToolDecisionSource,
};
use palisade_runner::host::Host;
use palisade_runner::judge::{Judge, RuleBook};
use palisade_runner::select::SandboxManager;
use tempfile::TempDir;

/// The helper: where Cargo built it, or where whoever runs the tests as another user put it.
fn built_helper() -> PathBuf {
    std::env::var_os("PALISADE_TEST_RUNNER_HELPER").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_palisade-helper")),
        PathBuf::from,
    )
}

/// A workspace, a home, and a directory outside both.
pub(crate) struct Stage {
    /// Removed with everything in it when the stage is dropped.
    _base: TempDir,
    pub(crate) workspace: PathBuf,
    pub(crate) outside: PathBuf,
    pub(crate) helper: PathBuf,
    home: PathBuf,
}

impl Stage {
    pub(crate) fn new() -> Self {
        // Not in `/tmp` itself, which sandboxes replace.
        let base = tempfile::Builder::new()
            .prefix("palisade-executor-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let root = fs::canonicalize(base.path()).unwrap();
        let stage = Self {
            _base: base,
            workspace: root.join("workspace"),
            outside: root.join("outside"),
            helper: root.join("helper"),
            home: root.join("home"),
        };
        // A helper below `/tmp` could not be seen from inside, where it applies patches.
        fs::hard_link(built_helper(), &stage.helper)
            .or_else(|_| fs::copy(built_helper(), &stage.helper).map(drop))
            .unwrap();
        for directory in [&stage.workspace, &stage.outside, &stage.home] {
            fs::create_dir(directory).unwrap();
        }
        stage
    }

    pub(crate) fn host(&self) -> Host {
        let facts = HostFacts::new(Os::Linux)
            .with_home(AbsolutePath::new(&self.home).unwrap())
            .with_uid(rustix::process::getuid().as_raw());
        Host::new(facts)
    }

    pub(crate) fn root(&self) -> WorkspaceRoot {
        WorkspaceRoot::new(&self.workspace).unwrap()
    }

    pub(crate) fn policy(&self) -> CanonicalSandboxPolicy {
        CanonicalSandboxPolicy::workspace_write([self.root()])
    }

    /// An executor for the workspace; `None`, said why, where no sandbox works.
    pub(crate) fn executor(&self) -> Option<Executor> {
        self.executor_under("version = 1\n")
    }

    /// The same under a policy file of the system layer.
    pub(crate) fn executor_under(&self, system: &str) -> Option<Executor> {
        let host = self.host();
        let manager = SandboxManager::new(&host);
        let Some(backend) = manager.working_backend() else {
            skip(&format!("no sandbox works: {:?}", manager.availability()));
            return None;
        };
        Some(self.executor_on(host, Some(backend), system))
    }

    pub(crate) fn executor_on(
        &self,
        host: Host,
        backend: Option<WorkingBackend>,
        system: &str,
    ) -> Executor {
        let file = parse(&Source::new(Layer::System, "system.toml", system)).unwrap();
        let book = RuleBook::with_builtin(vec![file], LoadContext::new()).unwrap();
        let judge = Judge::new(book, self.root(), host.facts.clone()).unwrap();
        Executor::new(
            ExecutorConfig::new(self.policy(), self.root(), Some(self.helper.clone())),
            Foundation::new(Arc::new(host), Arc::new(judge), backend),
        )
    }

    pub(crate) fn params(&self, command: &[&str]) -> ExecParams {
        let env: Environment = [(
            OsString::from("PATH"),
            OsString::from("/usr/local/bin:/usr/bin:/bin"),
        )]
        .into();
        ExecParams::new(command.iter().copied(), &self.workspace).with_env(env)
    }

    pub(crate) fn script(&self, script: &str) -> ExecutionRequest {
        ExecutionRequest::shell(self.params(&["sh", "-c", script]))
    }

    /// A script in a file, into which rules do not look.
    pub(crate) fn script_in_a_file(&self, script: &str) -> ExecutionRequest {
        fs::write(self.workspace.join("run.sh"), script).unwrap();
        ExecutionRequest::shell(self.params(&["sh", "run.sh"]))
    }
}

#[expect(
    clippy::print_stderr,
    reason = "whoever reads a test's output wants to know"
)]
fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

/// A host that gives answers one after another; where there is none left, its prompt is dropped.
#[derive(Default)]
pub(crate) struct Scripted {
    pub(crate) answers: Mutex<VecDeque<ReviewDecision>>,
    /// Whether every prefix that is offered is kept.
    pub(crate) keeps_offers: bool,
    /// Whether asking fails in the worst way.
    pub(crate) panics: bool,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
    pub(crate) asked: Mutex<Vec<CommandApproval>>,
    pub(crate) shell: Option<UserShell>,
}

impl Scripted {
    pub(crate) fn new(answers: impl IntoIterator<Item = ReviewDecision>) -> Self {
        Self {
            answers: Mutex::new(answers.into_iter().collect()),
            ..Self::default()
        }
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    fn note(&self, line: String) {
        self.log.lock().unwrap().push(line);
    }

    pub(crate) fn context(&self) -> ExecCommandContext {
        let recorder = Arc::new(Recorder(Arc::clone(&self.log)));
        ExecCommandContext::new("turn-1", "call-1", "shell", recorder)
    }

    pub(crate) async fn run(
        &self,
        executor: &Executor,
        request: ExecutionRequest,
        approval: AskForApproval,
    ) -> Result<ExecToolCallOutput, ExecError> {
        executor.run(request, self, approval, &self.context()).await
    }
}

struct Recorder(Arc<Mutex<Vec<String>>>);

impl DecisionRecorder for Recorder {
    fn record(&self, tool: &str, id: &str, decision: &ReviewDecision, by: ToolDecisionSource) {
        let line = format!("record {tool} {id} {decision:?} {by:?}");
        self.0.lock().unwrap().push(line);
    }
}

impl ExecutorSession for Scripted {
    fn user_shell(&self) -> Option<UserShell> {
        self.shell.clone()
    }

    fn notify_background_event<'a>(
        &'a self,
        sub_id: &'a str,
        message: String,
    ) -> BoxFuture<'a, ()> {
        // The evidence names paths of the stage, which differ each time.
        let text = message.split(": ").next().unwrap_or_default();
        self.note(format!("notice {sub_id} {text}"));
        Box::pin(async {})
    }

    fn request_command_approval(
        &self,
        question: CommandApproval,
    ) -> BoxFuture<'_, Option<ReviewDecision>> {
        let reason = question.reason.clone().unwrap_or_default();
        self.note(format!("ask {:?} {reason}", question.purpose));
        let offered = question.proposed_execpolicy_amendment.clone();
        self.asked.lock().unwrap().push(question);
        assert!(!self.panics, "the prompt is broken");
        if let Some(proposed_execpolicy_amendment) = offered.filter(|_| self.keeps_offers) {
            let kept = ReviewDecision::ApprovedExecpolicyAmendment {
                proposed_execpolicy_amendment,
            };
            return Box::pin(async { Some(kept) });
        }
        Box::pin(async { self.answers.lock().unwrap().pop_front() })
    }

    fn persist_amendment(&self, edit: ApprovalEdit) -> BoxFuture<'_, Result<(), String>> {
        self.note(format!("persist {edit:?}"));
        Box::pin(async { Ok(()) })
    }
}

/// The sandbox that a run really had.
pub(crate) fn sandbox_of(output: &ExecToolCallOutput) -> SandboxType {
    output.finished.as_ref().unwrap().sandbox
}

/// Waits until a condition holds, without guessing how long that takes.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..2_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("never happened: {what}");
}

pub(crate) fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}
