//! What is planned, without anything being run.

use std::sync::Arc;

use palisade_exec_policy::executor::{ShellCommand, Surroundings, shell};
use palisade_exec_policy::language::{Layer, LoadContext, Source, parse};
use palisade_exec_policy::{RejectConfig, Risk, WorkingBackend};
use palisade_policy::{
    AbsolutePath, HostFacts, NetworkAccess, Os, SandboxMode, SandboxPolicy, SandboxType,
};

use super::*;
use crate::approve::BoxFuture;
use crate::executor::request::ExecParams;
use crate::executor::session::CommandApproval;
use crate::executor::shell::{ShellProgram, UserShell};
use crate::host::Host;
use crate::judge::{Judge, RuleBook};

/// A session that nobody should need while something is only planned.
#[derive(Default)]
struct Silent {
    shell: Option<UserShell>,
}

impl ExecutorSession for Silent {
    fn user_shell(&self) -> Option<UserShell> {
        self.shell.clone()
    }

    fn notify_background_event<'a>(&'a self, _: &'a str, _: String) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn request_command_approval(
        &self,
        _: CommandApproval,
    ) -> BoxFuture<'_, Option<ReviewDecision>> {
        Box::pin(async { None })
    }

    fn persist_amendment(
        &self,
        _: palisade_exec_policy::approvals::ApprovalEdit,
    ) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }
}

fn facts() -> HostFacts {
    HostFacts::new(Os::Linux).with_home(AbsolutePath::new("/home/dev").unwrap())
}

fn project() -> WorkspaceRoot {
    WorkspaceRoot::new("/srv/app").unwrap()
}

fn policy(mode: SandboxMode) -> CanonicalSandboxPolicy {
    SandboxPolicy::new(mode, NetworkAccess::Restricted).to_canonical_policy(&project())
}

fn book(layer: Layer, text: &str) -> RuleBook {
    let file = parse(&Source::new(layer, "rules.toml", text)).unwrap();
    RuleBook::with_builtin(vec![file], LoadContext::new()).unwrap()
}

fn executor_with(mode: SandboxMode, backend: bool, book: RuleBook) -> Executor {
    let judge = Judge::new(book, project(), facts()).unwrap();
    let backend = WorkingBackend::new(SandboxType::LinuxLandlock).filter(|_| backend);
    Executor::new(
        ExecutorConfig::new(policy(mode), project(), Some("/opt/helper".into())),
        Foundation::new(Arc::new(Host::new(facts())), Arc::new(judge), backend),
    )
}

fn executor(mode: SandboxMode, backend: bool) -> Executor {
    executor_with(mode, backend, RuleBook::builtin().unwrap())
}

fn request(command: &[&str]) -> ExecutionRequest {
    ExecutionRequest::shell(ExecParams::new(command.iter().copied(), "/srv/app"))
}

fn plan(
    executor: &Executor,
    command: &[&str],
    approval: AskForApproval,
) -> Result<ExecPlan, ExecError> {
    executor.plan(request(command), &Silent::default(), approval)
}

fn approvals() -> Vec<AskForApproval> {
    let rejecting = RejectConfig {
        sandbox_approval: true,
        ..RejectConfig::default()
    };
    let mut all = AskForApproval::SIMPLE.to_vec();
    all.push(AskForApproval::Reject(RejectConfig::default()));
    all.push(AskForApproval::Reject(rejecting));
    all
}

/// Commands of each risk, as the built-in rules see them.
const BY_RISK: [(Risk, &[&str]); 3] = [
    (Risk::KnownSafe, &["ls", "-l"]),
    (Risk::Unknown, &["frob", "--all"]),
    (Risk::Dangerous, &["rm", "-rf", "build"]),
];

/// The file of a program, as approvals to leave the sandbox know it.
fn identity(command: &[&str]) -> String {
    let program = command.first().copied().unwrap_or_default();
    let spec = palisade_policy::CommandSpec::new(program).with_cwd("/srv/app");
    crate::program::Seen::look(&spec).program_identity()
}

/// Every row and column of the preset's table: what is planned is what `exec-policy` says.
#[test]
fn every_row_and_column_of_the_shell_table_is_planned_as_exec_policy_places_it() {
    // Rules are checked against all their examples when they are loaded: once is enough.
    let foundation = executor(SandboxMode::ReadOnly, true).foundation;
    let mut seen = (0, 0, 0);
    let modes = [
        SandboxMode::ReadOnly,
        SandboxMode::WorkspaceWrite,
        SandboxMode::DangerFullAccess,
    ];
    for (mode, backend) in modes.into_iter().flat_map(|m| [(m, true), (m, false)]) {
        for (risk, command) in BY_RISK {
            for approval in approvals() {
                for (session_approved, escalate) in
                    [(false, false), (false, true), (true, false), (true, true)]
                {
                    let backend = foundation.backend.filter(|_| backend);
                    let executor = Executor::new(
                        ExecutorConfig::new(policy(mode), project(), None),
                        Foundation {
                            backend,
                            ..foundation.clone()
                        },
                    );
                    let mut request = request(command);
                    request.params.with_escalated_permissions = escalate;
                    if session_approved {
                        let key = ApprovalKey::new(
                            ApprovalPurpose::RunUnsandboxed,
                            command.iter().copied(),
                            "/srv/app",
                            &policy(mode),
                        );
                        executor
                            .approvals
                            .insert(key.with_details(identity(command)));
                    }
                    let expected = shell(
                        &Surroundings {
                            approval,
                            sandbox: SandboxPolicy::new(mode, NetworkAccess::Restricted),
                            preference: SandboxablePreference::Auto,
                            backend,
                        },
                        &ShellCommand {
                            risk,
                            session_approved,
                            escalation_requested: escalate,
                        },
                    );
                    let planned = executor.plan(request, &Silent::default(), approval);
                    let what = format!(
                        "{mode:?} {backend:?} {risk:?} {approval} approved={session_approved} escalate={escalate}: \
                         {planned:?} instead of {expected:?}"
                    );
                    match (&planned, expected) {
                        (Ok(plan), Step::Run(decision)) => {
                            // Where the rules still have a question, it is asked first; it never widens the place.
                            if plan.asks() == Some(ApprovalPurpose::Run) {
                                continue;
                            }
                            let place = (plan.initial_sandbox(), plan.escalates_on_failure());
                            let decided = (decision.initial_sandbox, decision.escalate_on_failure);
                            assert_eq!(place, (Some(decided.0), Some(decided.1)), "{what}");
                            seen.0 += 1;
                        }
                        (Ok(plan), Step::Ask(_)) => {
                            let purpose = ApprovalPurpose::RunUnsandboxed;
                            assert_eq!(plan.asks(), Some(purpose), "{what}");
                            seen.1 += 1;
                        }
                        (Err(error), Step::Reject(refusal)) => {
                            assert_eq!(error.to_string(), refusal.to_string(), "{what}");
                            seen.2 += 1;
                        }
                        // What the decision forbids never runs, whatever the table says.
                        (Err(error), _) => {
                            assert!(
                                error.to_string().starts_with("approval policy rejected"),
                                "{what}"
                            );
                        }
                        (Ok(_), Step::Reject(_)) => panic!("{what}"),
                    }
                }
            }
        }
    }
    assert!(seen.0 > 50 && seen.1 > 50 && seen.2 > 20, "{seen:?}");
}

#[test]
fn a_session_approval_of_a_run_does_not_leave_the_sandbox() {
    let executor = executor(SandboxMode::WorkspaceWrite, true);
    let key = |purpose| {
        ApprovalKey::new(
            purpose,
            ["frob"],
            "/srv/app",
            &policy(SandboxMode::WorkspaceWrite),
        )
    };
    executor.approvals.insert(key(ApprovalPurpose::Run));
    let approval = AskForApproval::UnlessTrusted;
    let asked = plan(&executor, &["frob"], approval).unwrap();
    assert_eq!(asked.asks(), Some(ApprovalPurpose::RunUnsandboxed));
    executor
        .approvals
        .insert(key(ApprovalPurpose::RunUnsandboxed));
    let approved = plan(&executor, &["frob"], approval).unwrap();
    assert_eq!(approved.initial_sandbox(), Some(SandboxType::None));
    let other = plan(&executor, &["frob", "--more"], approval).unwrap();
    assert!(other.asks().is_some(), "another command was not approved");
}

#[test]
fn a_changed_policy_voids_session_approvals() {
    let executor = executor(SandboxMode::WorkspaceWrite, true);
    let policy = policy(SandboxMode::WorkspaceWrite);
    let purpose = ApprovalPurpose::RunUnsandboxed;
    executor
        .approvals
        .insert(ApprovalKey::new(purpose, ["frob"], "/srv/app", &policy));
    executor.update_environment(CanonicalSandboxPolicy::read_only(), project());
    let asked = plan(&executor, &["frob"], AskForApproval::UnlessTrusted).unwrap();
    assert!(asked.asks().is_some());
}

const RULES: &str = r#"
version = 1
[[rule]]
id = "no-release"
prefix = ["cargo", "publish"]
decision = "forbid"
why = "Releases are made by people"
[[rule]]
id = "ask-push"
prefix = ["git", "push"]
decision = "prompt"
why = "pushes to a remote"
[[rule]]
id = "make"
prefix = ["make"]
decision = "allow"
why = "builds"
[[rule]]
id = "jailed"
prefix = ["jailed"]
decision = "allow"
why = "has a sandbox of its own"
unsandboxed = true
"#;

fn with_rules() -> Executor {
    executor_with(SandboxMode::WorkspaceWrite, true, book(Layer::User, RULES))
}

#[test]
fn what_a_rule_forbids_never_runs_not_even_approved_or_through_a_shell() {
    let executor = with_rules();
    let policy = policy(SandboxMode::WorkspaceWrite);
    for command in [
        &["cargo", "publish"][..],
        &["bash", "-lc", "cd x && cargo publish"],
    ] {
        let purpose = ApprovalPurpose::RunUnsandboxed;
        let argv = command.iter().copied();
        executor
            .approvals
            .insert(ApprovalKey::new(purpose, argv, "/srv/app", &policy));
        for approval in approvals() {
            let error = plan(&executor, command, approval).unwrap_err();
            assert_eq!(error.to_string(), "Releases are made by people");
        }
    }
}

#[test]
fn a_rule_that_asks_is_asked_also_where_the_table_would_run_and_stays_contained() {
    let asked = plan(&with_rules(), &["git", "push"], AskForApproval::OnRequest).unwrap();
    assert_eq!(asked.asks(), Some(ApprovalPurpose::Run));
    assert!(asked.explanation().contains("ask-push"));
    let never = plan(&with_rules(), &["git", "push"], AskForApproval::Never).unwrap_err();
    assert_eq!(never.to_string(), "approval policy rejected rules prompt");
}

#[test]
fn an_explicit_allow_rule_removes_the_question_of_trust_and_keeps_the_sandbox() {
    let trusted = plan(&with_rules(), &["make"], AskForApproval::UnlessTrusted).unwrap();
    assert_eq!(trusted.initial_sandbox(), Some(SandboxType::LinuxLandlock));
}

#[test]
fn only_an_explicit_rule_leaves_the_sandbox_unasked() {
    let free = plan(&with_rules(), &["jailed", "ps"], AskForApproval::OnRequest).unwrap();
    assert_eq!(free.initial_sandbox(), Some(SandboxType::None));
    let mixed = ["bash", "-c", "jailed ps && make"];
    let held = plan(&with_rules(), &mixed, AskForApproval::OnRequest).unwrap();
    assert_eq!(held.initial_sandbox(), Some(SandboxType::LinuxLandlock));
}

#[test]
fn the_floor_of_the_system_keeps_approved_commands_inside() {
    let floor = "version = 1\n[floor]\nno-unsandboxed = true\n";
    let mode = SandboxMode::WorkspaceWrite;
    let executor = executor_with(mode, true, book(Layer::System, floor));
    let asked = plan(&executor, &["frob"], AskForApproval::UnlessTrusted).unwrap();
    assert_eq!(asked.asks(), Some(ApprovalPurpose::Run));
    assert!(!asked.may_leave);
    for purpose in [ApprovalPurpose::Run, ApprovalPurpose::RunUnsandboxed] {
        let key = ApprovalKey::new(purpose, ["frob"], "/srv/app", &policy(mode));
        executor.approvals.insert(key);
        let held = plan(&executor, &["frob"], AskForApproval::UnlessTrusted).unwrap();
        assert_eq!(held.initial_sandbox(), Some(SandboxType::LinuxLandlock));
    }
    let mut request = request(&["other"]);
    request.params.with_escalated_permissions = true;
    let refused = executor
        .plan(request, &Silent::default(), AskForApproval::OnRequest)
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "approval policy rejected sandbox approval prompt",
        "nobody is asked for what no answer could allow"
    );
    let leaving = plan(&executor, &["frob"], AskForApproval::OnFailure).unwrap();
    assert_eq!(leaving.initial_sandbox(), Some(SandboxType::LinuxLandlock));
}

#[test]
fn a_rewritten_command_is_judged_in_both_forms() {
    let session = Silent {
        shell: Some(UserShell::Bash(
            ShellProgram::new("/bin/bash").with_profile("/home/dev/.bashrc"),
        )),
    };
    let ask = |command: &[&str]| {
        let request = request(command).with_shell_profile();
        with_rules().plan(request, &session, AskForApproval::UnlessTrusted)
    };
    let plain = ask(&["ls"]).unwrap();
    assert_eq!(plain.command()[0], "/bin/bash");
    assert!(
        plain.asks().is_some(),
        "nobody knows what a start-up file does"
    );
    let forbidden = ask(&["cargo", "publish"]).unwrap_err();
    assert_eq!(forbidden.to_string(), "Releases are made by people");
}

#[test]
fn only_shell_mode_is_rewritten_and_streams() {
    let session = Silent {
        shell: Some(UserShell::PowerShell(ShellProgram::new("pwsh"))),
    };
    let stream = || crate::executor::StdoutStream::call("t", "c", |_| {});
    let shell = with_rules()
        .plan(
            request(&["make"]).streaming_to(stream()),
            &session,
            AskForApproval::OnFailure,
        )
        .unwrap();
    assert_eq!(shell.command()[0], "pwsh");
    assert!(shell.stream.is_some());
}

#[test]
fn update_environment_replaces_policy_and_directory_and_keeps_the_helper() {
    let executor = executor(SandboxMode::WorkspaceWrite, true);
    let elsewhere = WorkspaceRoot::new("/srv/other").unwrap();
    executor.update_environment(CanonicalSandboxPolicy::read_only(), elsewhere.clone());
    let config = executor.snapshot().unwrap();
    assert_eq!(config.sandbox_policy, CanonicalSandboxPolicy::read_only());
    assert_eq!(config.sandbox_cwd, elsewhere);
    assert_eq!(
        config.linux_sandbox_exe(),
        Some(std::path::Path::new("/opt/helper"))
    );
}

#[test]
fn a_new_executor_has_approved_nothing_and_clones_share_their_configuration() {
    let one = executor(SandboxMode::WorkspaceWrite, true);
    assert!(one.approvals().snapshot().is_empty());
    let same = one.clone();
    same.update_environment(CanonicalSandboxPolicy::read_only(), project());
    assert_eq!(
        one.snapshot().unwrap().sandbox_policy,
        CanonicalSandboxPolicy::read_only()
    );
}

#[test]
fn a_plan_keeps_the_configuration_of_its_moment() {
    let executor = executor(SandboxMode::WorkspaceWrite, true);
    let plan = plan(&executor, &["frob"], AskForApproval::OnFailure).unwrap();
    executor.update_environment(CanonicalSandboxPolicy::read_only(), project());
    assert_eq!(*plan.policy(), policy(SandboxMode::WorkspaceWrite));
}

#[test]
fn a_poisoned_configuration_rejects_runs_and_updates_do_not_panic() {
    let executor = executor(SandboxMode::WorkspaceWrite, true);
    let config = Arc::clone(&executor.config);
    let holder = std::thread::spawn(move || {
        let _held = config.write().unwrap();
        panic!("while holding it");
    });
    assert!(holder.join().is_err());
    let error = plan(&executor, &["ls"], AskForApproval::OnFailure).unwrap_err();
    assert!(
        matches!(&error, ExecError::Function(_)),
        "the model is told: {error:?}"
    );
    assert_eq!(error.to_string(), "executor config poisoned");
    executor.update_environment(CanonicalSandboxPolicy::read_only(), project());
    assert!(plan(&executor, &["ls"], AskForApproval::OnFailure).is_err());
}

#[test]
fn what_cannot_be_run_is_refused_before_anybody_is_asked() {
    let executor = executor(SandboxMode::WorkspaceWrite, true);
    for command in [&[][..], &[""]] {
        let error = plan(&executor, command, AskForApproval::OnFailure).unwrap_err();
        assert_eq!(error.to_string(), "the command is empty; name a program");
    }
    let relative = ExecutionRequest::shell(ExecParams::new(["ls"], "src"));
    let error = executor
        .plan(relative, &Silent::default(), AskForApproval::OnFailure)
        .unwrap_err();
    assert!(error.to_string().contains("absolute"), "{error}");
}

#[test]
fn grants_of_the_session_hold_for_their_command_alone_and_end_when_they_expire() {
    let executor = executor(SandboxMode::WorkspaceWrite, true);
    let of = |command: &[&str]| {
        plan(&executor, command, AskForApproval::OnFailure)
            .unwrap()
            .grants
    };
    let key = plan(&executor, &["frob"], AskForApproval::OnFailure)
        .unwrap()
        .key;
    let read = |path| Grant::Read(AbsolutePath::new(path).unwrap());
    executor.granted.keep(&key, &read("/srv/a"), None);
    executor.granted.keep(&key, &read("/srv/a"), None);
    executor.granted.keep(&key, &read("/srv/old"), Some(1));
    executor
        .granted
        .keep(&key, &read("/srv/new"), Some(u64::MAX));
    assert_eq!(of(&["frob"]), [read("/srv/a"), read("/srv/new")]);
    assert_eq!(of(&["frob", "x"]), []);
}

#[path = "executing_patch_tests.rs"]
mod patches;
