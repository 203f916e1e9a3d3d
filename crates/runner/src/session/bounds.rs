//! What no grant may open: the files that decide about commands, and what the floor of the system keeps closed.

use std::path::{Path, PathBuf};

use palisade_exec_policy::Refusal;
use palisade_exec_policy::language::model::Floor;
use palisade_policy::{CanonicalSandboxPolicy, Grant, PolicyContext, WorkspaceRoot};

use super::error::Error;
use super::sandbox::Sandbox;
use super::state::SessionOptions;
use crate::audit::check_unwritable;
use crate::config::{
    ConfigPaths, Look, Own, POLICY_FILE, PROJECT_DIRECTORY, Reach, State, above_floor,
};
use crate::host::Host;

/// What every policy of a session is held against: the one that it begins with, and each that is wider.
#[derive(Debug)]
pub(super) struct Bounds {
    floor: Floor,
    state: Option<State>,
    audit: Option<PathBuf>,
    /// Files that every policy of the session keeps out of reach: claims, the helper, policy files.
    others: Vec<PathBuf>,
}

impl Bounds {
    /// The bounds of a session, whose own policy is inside them.
    ///
    /// # Errors
    /// It is not: a command could write what decides about it, or the record of what it did.
    pub(super) fn of(sandbox: &Sandbox, options: &SessionOptions) -> Result<Self, Error> {
        let audit = options.audit.as_ref().and_then(|sink| sink.path());
        let mut bounds = Self {
            floor: sandbox.floor.clone(),
            state: options.state.clone(),
            audit: audit.map(Path::to_owned),
            others: Vec::new(),
        };
        let (root, facts) = (sandbox.workspace(), &sandbox.host.facts);
        bounds.others = deciding(&sandbox.host);
        bounds.others.extend(sandbox.sources.iter().cloned());
        bounds.others.push(project_policy(root));
        let mut look = Look::default();
        let own = Own::seen(&sandbox.host, &mut look);
        let enforced = own.guarded(sandbox.policy(), root);
        let reach = Reach::of(&enforced, root, facts)?;
        bounds.check_enforced(sandbox, &own, &enforced, &reach, &mut look)?;
        // A helper in the workspace is somebody's own build of it; no grant brings another within reach.
        let helper = sandbox.host.helper.iter();
        let helper = helper.filter(|file| reach.check([(*file).clone()], &mut look).is_ok());
        bounds.others.extend(helper.cloned());
        Ok(bounds)
    }

    /// Makes sure that no command under this policy can write what decides about it, or the record of what it did.
    ///
    /// # Errors
    /// Names the file that one could.
    pub(super) fn check(
        &self,
        sandbox: &Sandbox,
        policy: &CanonicalSandboxPolicy,
    ) -> Result<(), Error> {
        let mut look = Look::default();
        // As it is enforced: with what is the host's own guarded.
        let own = Own::seen(&sandbox.host, &mut look);
        let enforced = own.guarded(policy, sandbox.workspace());
        let reach = Reach::of(&enforced, sandbox.workspace(), &sandbox.host.facts)?;
        self.check_enforced(sandbox, &own, &enforced, &reach, &mut look)
    }

    fn check_enforced(
        &self,
        sandbox: &Sandbox,
        own: &Own,
        policy: &CanonicalSandboxPolicy,
        reach: &Reach,
        look: &mut Look,
    ) -> Result<(), Error> {
        if !policy.uses_runtime_sandbox() {
            return Ok(());
        }
        let (root, facts) = (sandbox.workspace(), &sandbox.host.facts);
        let files = self.state.iter().flat_map(State::files);
        let files = files.chain(self.others.iter().cloned());
        reach.check(files, look)?;
        let context = PolicyContext::new(facts.clone(), root.clone())
            .with_home_root(sandbox.placed.home_root);
        let resolved = policy.resolve(&context)?;
        own.check(&resolved)?;
        if let Some(audit) = &self.audit {
            check_unwritable(audit, &resolved)?;
        }
        Ok(())
    }

    /// Why nobody may give this grant, if so.
    pub(super) fn forbid(&self, grant: &Grant) -> Option<Refusal> {
        (!above_floor(grant, &self.floor)).then(|| below_floor(grant))
    }

    /// Whether rules with this floor were cut to it when they were loaded.
    pub(super) fn is_floor(&self, floor: &Floor) -> bool {
        self.floor == *floor
    }
}

/// The refusal of what the administrator keeps closed for everybody.
pub(super) fn below_floor(grant: &Grant) -> Refusal {
    Refusal::Forbidden {
        reason: format!(
            "the floor of this system's policy rules out a grant to {grant}; only its administrator can change that"
        ),
    }
}

/// The policy of the project, be it there or not.
fn project_policy(root: &WorkspaceRoot) -> PathBuf {
    let directory = root.path().as_path().join(PROJECT_DIRECTORY);
    directory.join(POLICY_FILE)
}

/// The files of this host that decide about commands, besides what people keep.
fn deciding(host: &Host) -> Vec<PathBuf> {
    let claims = host.runtime_dir.as_ref().map(|below| below.join("claims"));
    let claims = claims
        .iter()
        .flat_map(|claims| [claims.join("lock"), claims.join("new")]);
    let paths = ConfigPaths::of(host);
    claims.chain(paths.system).chain(paths.user).collect()
}
