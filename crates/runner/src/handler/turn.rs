//! What holds for one turn of an agent: directory, policies, helper.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use palisade_exec_policy::AskForApproval;
use palisade_policy::{CanonicalSandboxPolicy, SandboxPolicy, WorkspaceRoot};

/// What holds for one turn of an agent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TurnContext {
    /// The workspace: what policies are resolved against.
    pub cwd: WorkspaceRoot,
    /// The sandbox that a person picked.
    pub sandbox_policy: Constrained<SandboxPolicy>,
    /// When a person is asked.
    pub approval_policy: Constrained<AskForApproval>,
    /// The helper of the Linux sandbox, if one is known.
    pub linux_sandbox_exe: Option<PathBuf>,
    /// Whether a denied run may be offered again without the sandbox. A system's administrator can say no.
    pub may_leave_sandbox: bool,
}

impl TurnContext {
    /// A turn in this workspace, with the default policies and no helper.
    #[must_use]
    pub fn new(cwd: WorkspaceRoot) -> Self {
        Self {
            cwd,
            sandbox_policy: Constrained::any(SandboxPolicy::default()),
            approval_policy: Constrained::any(AskForApproval::default()),
            linux_sandbox_exe: None,
            may_leave_sandbox: true,
        }
    }

    /// With this sandbox.
    #[must_use]
    pub fn with_sandbox_policy(mut self, policy: Constrained<SandboxPolicy>) -> Self {
        self.sandbox_policy = policy;
        self
    }

    /// With this approval policy.
    #[must_use]
    pub fn with_approval_policy(mut self, policy: Constrained<AskForApproval>) -> Self {
        self.approval_policy = policy;
        self
    }

    /// With this helper.
    #[must_use]
    pub fn with_linux_sandbox_exe(mut self, helper: impl Into<PathBuf>) -> Self {
        self.linux_sandbox_exe = Some(helper.into());
        self
    }

    /// Without the offer to run a denied command again without the sandbox.
    #[must_use]
    pub fn never_leaving_the_sandbox(mut self) -> Self {
        self.may_leave_sandbox = false;
        self
    }
}

/// The canonical policy that this choice means in the workspace of the turn.
#[must_use]
pub fn to_canonical_policy_for_turn(
    policy: &SandboxPolicy,
    turn: &TurnContext,
) -> CanonicalSandboxPolicy {
    policy.to_canonical_policy(&turn.cwd)
}

/// The canonical policy of the turn.
#[must_use]
pub fn canonical_sandbox_policy(turn: &TurnContext) -> CanonicalSandboxPolicy {
    to_canonical_policy_for_turn(turn.sandbox_policy.get(), turn)
}

type Check<T> = dyn Fn(&T) -> Result<(), String> + Send + Sync;

/// A setting that somebody may have limited: it is only ever one of the allowed values.
#[derive(Clone)]
pub struct Constrained<T> {
    value: T,
    check: Option<Arc<Check<T>>>,
}

impl<T> Constrained<T> {
    /// A setting that may be anything.
    #[must_use]
    pub const fn any(value: T) -> Self {
        Self { value, check: None }
    }

    /// A setting that may only be what passes the check, which says why something does not.
    ///
    /// # Errors
    /// The value does not pass.
    pub fn only(
        value: T,
        check: impl Fn(&T) -> Result<(), String> + Send + Sync + 'static,
    ) -> Result<Self, ConstraintError> {
        check(&value).map_err(ConstraintError)?;
        Ok(Self {
            value,
            check: Some(Arc::new(check)),
        })
    }

    /// The value.
    #[must_use]
    pub const fn get(&self) -> &T {
        &self.value
    }

    /// Changes the value.
    ///
    /// # Errors
    /// The new value does not pass; the old one stays.
    pub fn set(&mut self, value: T) -> Result<(), ConstraintError> {
        if let Some(check) = &self.check {
            check(&value).map_err(ConstraintError)?;
        }
        self.value = value;
        Ok(())
    }
}

impl<T: fmt::Debug> fmt::Debug for Constrained<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Constrained")
            .field("value", &self.value)
            .field("limited", &self.check.is_some())
            .finish()
    }
}

/// A value that is not allowed, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this value is not allowed: {0}")]
pub struct ConstraintError(String);

#[cfg(test)]
mod tests {
    use palisade_policy::{NetworkAccess, SandboxMode};

    use super::*;

    #[test]
    fn the_policy_of_a_turn_is_the_mapping_with_its_directory_and_its_choice() {
        let cwd = WorkspaceRoot::new(if cfg!(windows) {
            r"C:\srv\app"
        } else {
            "/srv/app"
        })
        .unwrap();
        for mode in SandboxMode::ALL {
            for network in [
                NetworkAccess::Restricted,
                NetworkAccess::Limited,
                NetworkAccess::Full,
            ] {
                let policy = SandboxPolicy::new(mode, network);
                let turn =
                    TurnContext::new(cwd.clone()).with_sandbox_policy(Constrained::any(policy));
                let expected = policy.to_canonical_policy(&cwd);
                assert_eq!(canonical_sandbox_policy(&turn), expected);
                let other = TurnContext::new(cwd.clone());
                assert_eq!(to_canonical_policy_for_turn(&policy, &other), expected);
            }
        }
    }

    #[test]
    fn a_constrained_value_is_only_ever_an_allowed_one() {
        let contained = |policy: &SandboxPolicy| {
            if policy.uses_runtime_sandbox() {
                Ok(())
            } else {
                Err("a sandbox is required here".to_owned())
            }
        };
        let open = SandboxPolicy::new(SandboxMode::DangerFullAccess, NetworkAccess::Full);
        let refused = Constrained::only(open, contained).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "this value is not allowed: a sandbox is required here"
        );
        let mut policy = Constrained::only(SandboxPolicy::default(), contained).unwrap();
        assert_eq!(policy.set(open), Err(refused));
        assert_eq!(policy.get(), &SandboxPolicy::default());
        let mut free = Constrained::any(SandboxPolicy::default());
        free.set(open).unwrap();
        assert_eq!(free.get(), &open);
    }
}
