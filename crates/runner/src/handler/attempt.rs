//! One attempt of a tool: the sandbox that it has to run in.

use std::path::PathBuf;

use palisade_policy::{
    AcceptedLosses, CanonicalSandboxPolicy, HomeRoot, SandboxType, WorkspaceRoot,
};

use super::error::ToolError;
use super::execute::ExecToolCallOutput;
use super::views::{CommandSpec, ExecEnv, SandboxTransformError};
use crate::host::Host;
use crate::launch::{Driver, Launch, Placed};
use crate::select::SandboxManager;

/// The sandbox that one attempt of a tool has to run in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SandboxAttempt {
    /// The mechanism; [`SandboxType::None`] only where a rule or a person agreed to that, or the policy has none.
    pub sandbox: SandboxType,
    /// What is enforced.
    pub policy: CanonicalSandboxPolicy,
    /// What the policy is resolved against.
    pub sandbox_cwd: WorkspaceRoot,
    /// The helper of the Linux sandbox; `None` where there is no sandbox.
    pub linux_sandbox_exe: Option<PathBuf>,
    accepted: AcceptedLosses,
    home_root: HomeRoot,
    sandboxes: SandboxManager,
}

impl SandboxAttempt {
    /// An attempt in this place.
    #[must_use]
    pub fn new(placed: &Placed, helper: Option<PathBuf>, sandboxes: SandboxManager) -> Self {
        let sandbox = placed.sandbox;
        Self {
            sandbox,
            policy: placed.policy.clone(),
            sandbox_cwd: placed.policy_cwd.clone(),
            linux_sandbox_exe: helper.filter(|_| sandbox != SandboxType::None),
            accepted: placed.accepted.clone(),
            home_root: placed.home_root,
            sandboxes: sandboxes.accepting(placed.accepted.clone()),
        }
    }

    /// The command, ready to be spawned: unwrapped where there is no sandbox, else wrapped for it.
    ///
    /// # Errors
    /// It cannot be wrapped; it must not be run otherwise.
    pub fn env_for(&self, spec: CommandSpec) -> Result<ExecEnv, SandboxTransformError> {
        let open = CanonicalSandboxPolicy::full_access();
        let policy = match self.sandbox {
            SandboxType::None => &open,
            _ => &self.policy,
        };
        self.sandboxes
            .transform(
                spec.into(),
                policy,
                self.sandbox,
                &self.sandbox_cwd,
                self.linux_sandbox_exe.as_deref(),
            )?
            .try_into()
    }

    /// The place of this attempt, for those who launch by [`crate::launch`].
    #[must_use]
    pub fn placed(&self) -> Placed {
        Placed {
            accepted: self.accepted.clone(),
            home_root: self.home_root,
            ..Placed::new(self.sandbox, self.policy.clone(), self.sandbox_cwd.clone())
        }
    }

    /// Runs a command in this sandbox, and tells a denial with its evidence, so that it can be tried again with less
    /// than everything.
    ///
    /// # Errors
    /// The sandbox was in the way, it took too long, or it was not started.
    pub async fn execute(
        &self,
        host: &Host,
        spec: CommandSpec,
        driver: Driver,
    ) -> Result<ExecToolCallOutput, ToolError> {
        let command = palisade_policy::CommandSpec::from(spec);
        let limits = self.policy.resource_limits();
        let default = super::DEFAULT_EXECUTE_TIMEOUT;
        let mut launch = Launch::new(command);
        launch.wall = launch.command.expiration.effective_wall(&limits, default);
        let mut placed = self.placed();
        placed.policy = host.guard_other_home(placed.policy);
        let finished = crate::launch::run(host, &placed, launch, driver).await;
        ExecToolCallOutput::of(finished)
    }
}
