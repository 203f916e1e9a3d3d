//! The vocabulary of tool handlers, from outside.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_runner::approve::{ApprovalStore, BoxFuture, NoPrompter, Prompter};
use palisade_runner::exec_policy::{ExecPolicyAmendment, GrantScope};
use palisade_runner::handler::{
    CommandSpec, Constrained, KeepError, SandboxAttempt, SandboxTransformError, SandboxType,
    ToolCtx, ToolError, ToolSession, TurnContext, canonical_sandbox_policy,
};
use palisade_runner::launch::Placed;
use palisade_runner::policy::{
    self, Availability, CanonicalSandboxPolicy, Environment, Grant, HostFacts, NetworkAccess, Os,
    SandboxMode, SandboxPolicy, WorkspaceRoot,
};
use palisade_runner::select::SandboxManager;

fn root() -> WorkspaceRoot {
    WorkspaceRoot::new("/srv/app").unwrap()
}

/// A host that keeps nothing and asks nobody.
struct Quiet {
    approvals: ApprovalStore,
    sandboxes: SandboxManager,
}

impl Quiet {
    fn new() -> Self {
        Self {
            approvals: ApprovalStore::new(),
            sandboxes: SandboxManager::told(HostFacts::new(Os::Linux), Availability::Works),
        }
    }
}

impl ToolSession for Quiet {
    fn prompter(&self) -> &dyn Prompter {
        &NoPrompter
    }

    fn approvals(&self) -> &ApprovalStore {
        &self.approvals
    }

    fn sandboxes(&self) -> &SandboxManager {
        &self.sandboxes
    }

    fn keep_amendment<'a>(
        &'a self,
        _: &'a ExecPolicyAmendment,
    ) -> BoxFuture<'a, Result<(), KeepError>> {
        Box::pin(async { Err(KeepError("nothing is kept".to_owned())) })
    }

    fn keep_grant<'a>(
        &'a self,
        _: &'a Grant,
        _: GrantScope,
        _: Option<u64>,
    ) -> BoxFuture<'a, Result<(), KeepError>> {
        Box::pin(async { Err(KeepError("nothing is kept".to_owned())) })
    }
}

#[test]
fn a_call_knows_its_session_turn_and_name() {
    let session: Arc<dyn ToolSession> = Arc::new(Quiet::new());
    let turn = Arc::new(
        TurnContext::new(root())
            .with_sandbox_policy(Constrained::any(SandboxPolicy::new(
                SandboxMode::WorkspaceWrite,
                NetworkAccess::Restricted,
            )))
            .with_linux_sandbox_exe("/opt/helper"),
    );
    let ctx = ToolCtx::new(Arc::clone(&session), Arc::clone(&turn), "call-1", "shell");
    assert!(Arc::ptr_eq(&ctx.session, &session));
    assert!(Arc::ptr_eq(&ctx.turn, &turn));
    assert_eq!(
        (ctx.call_id.as_str(), ctx.tool_name.as_str()),
        ("call-1", "shell")
    );
    assert_eq!(turn.cwd, root());
    assert_eq!(
        turn.linux_sandbox_exe.as_deref(),
        Some(Path::new("/opt/helper"))
    );
    assert_eq!(turn.sandbox_policy.get().mode, SandboxMode::WorkspaceWrite);
    assert_eq!(
        canonical_sandbox_policy(&turn),
        CanonicalSandboxPolicy::workspace_write([root()])
    );
    assert_eq!(session.shell(), None);
    assert!(session.grants().is_empty());
}

#[test]
fn an_attempt_names_a_canonical_sandbox_and_has_no_helper_without_one() {
    let manager = SandboxManager::told(HostFacts::new(Os::Linux), Availability::Works);
    for (sandbox, helper) in [
        (policy::SandboxType::LinuxLandlock, Some("/opt/helper")),
        (policy::SandboxType::None, None),
    ] {
        let placed = Placed::new(sandbox, CanonicalSandboxPolicy::read_only(), root());
        let helper_of_host = Some(PathBuf::from("/opt/helper"));
        let attempt = SandboxAttempt::new(&placed, helper_of_host, manager.clone());
        assert_eq!(attempt.sandbox, sandbox);
        assert_eq!(attempt.policy, CanonicalSandboxPolicy::read_only());
        assert_eq!(attempt.sandbox_cwd, root());
        assert_eq!(attempt.linux_sandbox_exe.as_deref(), helper.map(Path::new));
    }
}

#[test]
fn views_are_written_as_literals() {
    let spec = CommandSpec {
        program: "make".to_owned(),
        args: vec!["all".into()],
        cwd: PathBuf::from("/srv/app"),
        env: Environment::from([("LANG".into(), "C".into())]),
        timeout_ms: Some(5),
    };
    assert_eq!(spec.clone(), spec);
    let views = [
        SandboxType::None,
        SandboxType::Seatbelt,
        SandboxType::LinuxSandbox,
    ];
    assert_eq!(views[0], SandboxType::default());
    let errors = [
        SandboxTransformError::MissingSandboxExecutable.to_string(),
        SandboxTransformError::SandboxUnavailable.to_string(),
        SandboxTransformError::ConfigError("x".to_owned()).to_string(),
    ];
    assert_eq!(
        errors,
        [
            "missing sandbox executable",
            "sandbox not available on this platform",
            "sandbox configuration error: x"
        ]
    );
    assert_eq!(ToolError::Timeout(7).to_string(), "Timeout after 7ms");
}
