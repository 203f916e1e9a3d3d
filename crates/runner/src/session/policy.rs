//! What the commands of a session may touch, as an embedder says it.

use std::path::{Path, PathBuf};

use palisade_exec_policy::language::model::Floor;
use palisade_exec_policy::{AskForApproval, SandboxablePreference};
use palisade_policy::{
    AbsolutePath, AcceptedLosses, CanonicalSandboxPolicy, GitAccess, Grant, Guarantee, HomeRoot,
    NetworkAccess, PathRules, PathSpec, PolicyContext, ResolvedPolicy, ResourceLimits, SandboxMode,
    SandboxPolicy, WorkspaceRoot,
};

use super::bounds::below_floor;
use super::error::Error;
use crate::config::{Configuration, Own, above_floor};
use crate::environment::{EnvironmentPolicy, NamePattern};
use crate::host::{Host, real_path};

/// What commands may touch, when a person is asked, and what they inherit.
///
/// It begins with what most agents want: one writable workspace, no network, secrets hidden, `.git` read-only. Each method
/// changes one thing. Nothing is looked at before [`Sandbox::probe`](super::Sandbox::probe).
#[derive(Clone, Debug)]
#[must_use]
pub struct Policy {
    pub(super) root: PathBuf,
    base: Base,
    network: bool,
    writable: Vec<PathBuf>,
    grants: Vec<Grant>,
    deny_read: Vec<PathBuf>,
    git: Option<GitAccess>,
    limits: Option<ResourceLimits>,
    home_root: bool,
    pub(super) accepted: AcceptedLosses,
    pub(super) approval: AskForApproval,
    pub(super) preference: SandboxablePreference,
    pub(super) environment: EnvironmentPolicy,
    /// Variables whose values are added outside: commands never inherit them.
    pub(super) bound_secrets: Vec<NamePattern>,
    pub(super) may_leave: bool,
    may_lose: bool,
    pub(super) floor: Floor,
    /// The files that said all this.
    pub(super) sources: Vec<PathBuf>,
}

#[derive(Clone, Debug)]
enum Base {
    Mode(SandboxMode),
    Given(Box<CanonicalSandboxPolicy>),
}

impl Policy {
    fn of(root: &Path, base: Base) -> Self {
        Self {
            root: root.to_owned(),
            base,
            network: false,
            writable: Vec::new(),
            grants: Vec::new(),
            deny_read: Vec::new(),
            git: None,
            limits: None,
            home_root: false,
            accepted: AcceptedLosses::none(),
            approval: AskForApproval::default(),
            preference: SandboxablePreference::Auto,
            environment: EnvironmentPolicy::default(),
            bound_secrets: Vec::new(),
            may_leave: true,
            may_lose: true,
            floor: Floor::default(),
            sources: Vec::new(),
        }
    }

    /// Commands write this directory and nothing else.
    pub fn workspace(root: impl AsRef<Path>) -> Self {
        Self::of(root.as_ref(), Base::Mode(SandboxMode::WorkspaceWrite))
    }

    /// Commands write nothing.
    pub fn read_only(root: impl AsRef<Path>) -> Self {
        Self::of(root.as_ref(), Base::Mode(SandboxMode::ReadOnly))
    }

    /// Commands are not confined. The rules still say which of them run.
    pub fn full_access(root: impl AsRef<Path>) -> Self {
        Self::of(root.as_ref(), Base::Mode(SandboxMode::DangerFullAccess))
    }

    /// Exactly this policy, such as one from a policy file.
    pub fn canonical(root: impl AsRef<Path>, policy: CanonicalSandboxPolicy) -> Self {
        Self::of(root.as_ref(), Base::Given(Box::new(policy)))
    }

    /// What the configuration of a project says: its policy, when it asks, what commands inherit, and the floor of its
    /// system.
    pub fn configured(configuration: &Configuration) -> Self {
        let root = configuration.project.path().as_path();
        let mut policy = Self::canonical(root, configuration.policy.clone());
        policy.approval = configuration.approval;
        policy.may_leave = !configuration.floor.no_unsandboxed;
        policy.may_lose = !configuration.floor.no_accepted_losses;
        policy.floor = configuration.floor.clone();
        policy.sources = configuration
            .sources
            .iter()
            .map(|source| source.path.clone())
            .collect();
        if let Some(keep) = &configuration.env_keep {
            // A list replaces what is inherited otherwise.
            let keep = keep.iter().filter_map(|name| NamePattern::parse(name).ok());
            policy.environment = EnvironmentPolicy::empty().with_keep(keep);
        }
        // What is added outside is not known inside.
        let secrets = configuration.inject.iter();
        let secrets = secrets.filter_map(|secret| NamePattern::parse(&secret.from_env).ok());
        policy.bound_secrets = secrets.collect();
        policy
    }

    /// With the whole network. A [canonical](Self::canonical) or [configured](Self::configured) policy says that itself, and
    /// is not changed.
    pub const fn allow_network(mut self) -> Self {
        self.network = true;
        self
    }

    /// With the servers of this machine's loopback.
    pub fn allow_host_loopback(self) -> Self {
        self.grant(Grant::HostLoopback)
    }

    /// With one more grant. The links in its path are resolved, as far as it exists.
    pub fn grant(mut self, grant: Grant) -> Self {
        self.grants.push(grant);
        self
    }

    /// With one more directory that commands write.
    pub fn also_write(mut self, directory: impl AsRef<Path>) -> Self {
        self.writable.push(directory.as_ref().to_owned());
        self
    }

    /// With a path that nobody reads or writes.
    pub fn deny_read(mut self, path: impl AsRef<Path>) -> Self {
        self.deny_read.push(path.as_ref().to_owned());
        self
    }

    /// With this access to git's own directory.
    pub const fn git(mut self, access: GitAccess) -> Self {
        self.git = Some(access);
        self
    }

    /// With these limits in place of the mode's.
    pub const fn limits(mut self, limits: ResourceLimits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Goes without a guarantee, where this host cannot keep it. The floor of a configuration can rule that out; then the
    /// sandbox is refused where it would be weaker.
    pub fn accept_loss(mut self, guarantee: Guarantee) -> Self {
        if self.may_lose {
            self.accepted = self.accepted.with(guarantee);
        }
        self
    }

    /// Asks at these times.
    pub const fn approval(mut self, approval: AskForApproval) -> Self {
        self.approval = approval;
        self
    }

    /// With this environment for commands.
    pub fn environment(mut self, environment: EnvironmentPolicy) -> Self {
        self.environment = environment;
        self
    }

    /// Lets nothing run without a sandbox, whatever a person answers.
    pub const fn never_leave_the_sandbox(mut self) -> Self {
        self.may_leave = false;
        self.preference = SandboxablePreference::Require;
        self
    }

    /// Lets the workspace be the home directory or hold it.
    pub const fn allow_home_root(mut self) -> Self {
        self.home_root = true;
        self
    }

    /// Whether it confines commands at all.
    #[must_use]
    pub const fn confines(&self) -> bool {
        match &self.base {
            Base::Mode(mode) => !matches!(mode, SandboxMode::DangerFullAccess),
            Base::Given(policy) => policy.uses_runtime_sandbox(),
        }
    }

    /// The policy in full as a sandbox on this host would be asked to keep it, and the workspace with its links resolved,
    /// without setting anything up.
    ///
    /// # Errors
    /// The workspace does not exist, or cannot be one; a path makes no sense, or a grant goes below the floor.
    pub fn in_full(&self, host: &Host) -> Result<(CanonicalSandboxPolicy, WorkspaceRoot), Error> {
        let on_host = self.on(host)?;
        Ok((on_host.policy, on_host.root))
    }

    /// What the policy permits on this host as far as it can be said without setting anything up: no sandbox has anything of
    /// its own yet. [`Sandbox::oracle`](super::Sandbox::oracle) says what one that works permits.
    ///
    /// # Errors
    /// As [`in_full`](Self::in_full).
    pub fn oracle(&self, host: &Host) -> Result<ResolvedPolicy, Error> {
        let on_host = self.on(host)?;
        let policy = Own::of(host).guarded(&on_host.policy, &on_host.root);
        let context =
            PolicyContext::new(host.facts.clone(), on_host.root).with_home_root(on_host.home_root);
        Ok(policy.resolve(&context)?)
    }

    /// The same, for a sandbox.
    pub(super) fn on(&self, host: &Host) -> Result<OnHost, Error> {
        let real = real_path(&self.root).map_err(|source| Error::Workspace {
            path: self.root.clone(),
            why: source.to_string(),
        })?;
        let bad = |error: palisade_policy::PathError| Error::Workspace {
            path: self.root.clone(),
            why: error.to_string(),
        };
        let (root, home_root) = match self.home_root {
            true => (WorkspaceRoot::new(&real).map_err(bad)?, HomeRoot::Allow),
            false => (
                WorkspaceRoot::for_host(&real, &host.facts).map_err(bad)?,
                HomeRoot::Refuse,
            ),
        };
        let policy = match &self.base {
            Base::Given(policy) => (**policy).clone(),
            Base::Mode(mode) => {
                let network = match self.network {
                    true => NetworkAccess::Full,
                    false => NetworkAccess::Restricted,
                };
                SandboxPolicy::new(*mode, network).to_canonical_policy(&root)
            }
        };
        let policy = host.guard_other_home(self.adjusted(policy)?);
        Ok(OnHost {
            policy,
            root,
            home_root,
        })
    }

    /// What the administrator keeps closed is not opened here either.
    fn above_floor(&self, grant: Option<Grant>) -> Result<(), Error> {
        match grant.filter(|grant| !above_floor(grant, &self.floor)) {
            Some(grant) => Err(below_floor(&grant).into()),
            None => Ok(()),
        }
    }

    fn adjusted(
        &self,
        mut policy: CanonicalSandboxPolicy,
    ) -> Result<CanonicalSandboxPolicy, Error> {
        let absolute = |path: &Path| {
            // A path that does not exist yet is taken as it is written; links in what exists are resolved.
            let real = real_path(path).unwrap_or_else(|_| path.to_owned());
            AbsolutePath::new(real).map_err(|error| Error::Path {
                path: path.to_owned(),
                why: error.to_string(),
            })
        };
        self.above_floor(self.git.map(Grant::Git))?;
        let written = self
            .writable
            .iter()
            .map(|directory| absolute(directory).map(Grant::Write));
        let granted = self.grants.iter().map(|grant| {
            Ok(match grant {
                Grant::Read(path) => Grant::Read(absolute(path.as_path())?),
                Grant::Write(path) => Grant::Write(absolute(path.as_path())?),
                Grant::UnixSocket(path) => Grant::UnixSocket(absolute(path.as_path())?),
                other => other.clone(),
            })
        });
        for grant in written.chain(granted) {
            let grant = grant?;
            self.above_floor(Some(grant.clone()))?;
            policy = policy.with_grant(&grant)?;
        }
        let rules = policy
            .rules()
            .map(|(rules, local)| (rules.clone(), local.clone()));
        if let Some((rules, local)) = rules {
            let mut denied: Vec<PathSpec> = rules.deny_read.clone();
            for path in &self.deny_read {
                denied.push(PathSpec::from(absolute(path)?));
            }
            let git = self.git.unwrap_or(rules.git);
            let rules: PathRules = rules.with_deny_read(denied).with_git(git);
            policy = policy.with_paths(rules).with_local(local);
        }
        if let Some(limits) = self.limits {
            policy = policy.with_limits_override(Some(limits));
        }
        Ok(policy)
    }
}

/// A policy that knows its host.
#[derive(Clone, Debug)]
pub(super) struct OnHost {
    pub(super) policy: CanonicalSandboxPolicy,
    pub(super) root: WorkspaceRoot,
    pub(super) home_root: HomeRoot,
}
