//! What is tried: the user's policy, moved to the stage.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use palisade::runner::approve::NoPrompter;
use palisade::runner::exec_policy::language::LoadContext;
use palisade::runner::host::Host;
use palisade::runner::judge::RuleBook;
use palisade::runner::policy::{
    AbsolutePath, CanonicalSandboxPolicy, Enforcement, GitAccess, Guarantee, Level, NetworkScope,
    PathRules, RelativePath, ResolvedPolicy, ResourceLimits, SeccompProfile, WorkspaceRoot,
};
use palisade::{AskForApproval, Outcome, Policy, Sandbox};
use palisade_probes::run::{Ended, Ran, TIMEOUT};
use palisade_probes::stage::{Setup, Stage};
use palisade_probes::{Mode, Tier};

use crate::complaint::Complaint;
use crate::ground::Ground;

/// Where stages are made: not in `/tmp`, which is private in a sandbox.
const BASE: &str = "/var/tmp";

/// The policy that is tried, and what is promised about it.
#[derive(Debug)]
pub(super) struct Subject {
    host: Host,
    policy: CanonicalSandboxPolicy,
    pub(super) mode: Mode,
    /// What may happen to `.git`.
    pub(super) git: GitAccess,
    /// The policy where the user is: what it denies there is tried there.
    at_home: Policy,
    /// What the policy promises.
    pub(super) promised: Vec<Guarantee>,
    /// What this host says that it keeps of that, with every loss accepted.
    pub(super) enforcement: Enforcement,
}

impl Subject {
    /// The user's policy as far as a stage can have it: its mode, network, git access and guarded names. Paths outside the
    /// project stay what they are.
    ///
    /// # Errors
    /// The policy has no sandbox, or no sandbox can be set up here.
    pub(super) fn of(ground: &Ground) -> Result<Self, Complaint> {
        let (policy, _) = ground.canonical()?;
        let mode = match &policy {
            CanonicalSandboxPolicy::ReadOnly { .. } => Mode::ReadOnly,
            CanonicalSandboxPolicy::WorkspaceWrite { .. } => Mode::Write,
            _ => {
                return Err(Complaint::new(
                    crate::exit::Code::No,
                    "the policy has no sandbox, so it promises nothing that could be tried",
                ));
            }
        };
        let mut subject = Self {
            host: ground.host.clone(),
            git: policy
                .rules()
                .map_or(GitAccess::Full, |(rules, _)| rules.git),
            at_home: ground.policy.clone(),
            policy,
            mode,
            promised: Vec::new(),
            enforcement: Enforcement::new(),
        };
        let stage = subject.stage().map_err(|error| {
            Complaint::failed(format!("the stage cannot be set in {BASE}: {error}"))
        })?;
        let (host, policy) = subject.on(&stage).map_err(Complaint::failed)?;
        subject.promised = policy
            .oracle(&host)
            .map_err(Complaint::failed)?
            .guarantees();
        let sandbox = Sandbox::on(host, policy).map_err(|error| {
            Complaint::new(
                crate::exit::Code::No,
                format!("no sandbox can be set up on this machine: {error}"),
            )
            .help("palisade doctor")
        })?;
        subject.enforcement = sandbox.enforcement().clone();
        Ok(subject)
    }

    /// How strong the sandbox is, as the attempts know it.
    pub(super) fn tier(&self) -> Tier {
        match self.enforcement.level(Guarantee::ProcessIsolation) {
            Level::Enforced => Tier::Full,
            _ => Tier::Landlock,
        }
    }

    /// A new stage.
    ///
    /// # Errors
    /// Something of it cannot be made.
    pub(super) fn stage(&self) -> io::Result<Stage> {
        let program = self.host.helper.clone();
        let program = program.ok_or_else(|| io::Error::other("no program is known to copy"))?;
        let stage = Stage::prepare(&Setup {
            base: Path::new(BASE),
            program: &program,
            owner: None,
            mode: self.mode,
        })?;
        // Where root sets the stage, this is a copy that runs as another user: nobody here is to find it.
        match std::fs::remove_file(stage.site().outside.join("elevate")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(stage),
        }
    }

    /// Runs a command line in a sandbox of its own, until everything in it has ended.
    ///
    /// # Errors
    /// It could not be run.
    pub(super) fn run(&self, stage: &Stage, line: &[OsString]) -> io::Result<Ran> {
        let (host, policy) = self.on(stage).map_err(io::Error::other)?;
        run(host, policy, line)
    }

    /// Runs a command line where the user is, under the user's own policy, which keeps `.git` as it is.
    ///
    /// # Errors
    /// It could not be run.
    pub(super) fn run_at_home(&self, line: &[OsString]) -> io::Result<Ran> {
        let policy = self.at_home.clone().git(GitAccess::ReadOnly);
        let policy = without_refusal(policy.approval(AskForApproval::Never));
        run(self.host.clone(), policy, line)
    }

    /// What the policy says where the user is.
    ///
    /// # Errors
    /// It makes no sense there.
    pub(super) fn at_home(&self) -> Result<ResolvedPolicy, palisade::Error> {
        self.at_home.oracle(&self.host)
    }

    /// The host whose user lives on the stage, and the policy for it.
    fn on(&self, stage: &Stage) -> Result<(Host, Policy), palisade::Error> {
        let site = stage.site();
        let path = |path: &Path| {
            AbsolutePath::new(path).map_err(|error| palisade::Error::Path {
                path: path.to_owned(),
                why: error.to_string(),
            })
        };
        let mut host = self.host.clone();
        host.facts.home = Some(path(&site.home)?);
        host.other_home = None;
        host.environment = stage.environment().into_iter().collect();

        let mut roots = Vec::new();
        for root in stage.writable_roots() {
            let root = WorkspaceRoot::from_absolute(path(root)?);
            roots.push(root.map_err(|error| palisade::Error::Workspace {
                path: site.workspace.clone(),
                why: error.to_string(),
            })?);
        }
        let (base, full) = (&self.policy, self.policy.network() == NetworkScope::Full);
        let limits = ResourceLimits::unlimited();
        let policy = match (self.mode, full) {
            (Mode::ReadOnly, true) => CanonicalSandboxPolicy::read_only_with_full_network(),
            (Mode::ReadOnly, false) => CanonicalSandboxPolicy::read_only(),
            (_, true) => {
                let seccomp = SeccompProfile::strict().with_network();
                CanonicalSandboxPolicy::workspace_write_full(roots, [], None, limits, seccomp)
            }
            (_, false) => CanonicalSandboxPolicy::workspace_write(roots),
        };
        let rules = base
            .rules()
            .map(|(rules, _)| rules.clone())
            .unwrap_or_default();
        let own = stage.protected().into_iter().filter_map(|protected| {
            RelativePath::new(protected.strip_prefix(&site.workspace).ok()?).ok()
        });
        let protected: Vec<RelativePath> = rules.protected.iter().cloned().chain(own).collect();
        let paths = PathRules::default()
            .with_protected(protected)
            .with_git(rules.git);
        let policy = policy.with_paths(paths).with_limits_override(Some(limits));
        let policy = Policy::canonical(&site.workspace, policy).approval(AskForApproval::Never);
        Ok((host, without_refusal(policy)))
    }
}

/// The policy with every loss accepted: what is lost here is to be seen, not to be refused.
fn without_refusal(policy: Policy) -> Policy {
    Guarantee::ALL
        .into_iter()
        .fold(policy, |policy, guarantee| policy.accept_loss(guarantee))
}

fn run(host: Host, policy: Policy, line: &[OsString]) -> io::Result<Ran> {
    // No rule has a say: what is tried is the sandbox, not who is asked.
    let book = RuleBook::only(Vec::new(), LoadContext::new());
    let session = Sandbox::on(host, policy)
        .and_then(|sandbox| sandbox.session(book, NoPrompter))
        .map_err(io::Error::other)?;
    let mut words = line.iter().cloned();
    let program = words.next().unwrap_or_default();
    let finished = session
        .command(program)
        .args(words)
        .timeout(TIMEOUT)
        .output_blocking()
        .map_err(io::Error::other)?;
    drop(session);
    let ended = match finished.outcome {
        Outcome::Exited { code } => Ended::Exited(code),
        Outcome::Denied { exit_code, .. } => Ended::Exited(exit_code),
        Outcome::Signaled { signal } => Ended::Signalled(signal),
        Outcome::LimitExceeded { .. } => Ended::Signalled(9),
        Outcome::TimedOut { .. } => Ended::TimedOut,
        other => return Err(io::Error::other(format!("it could not be run: {other:?}"))),
    };
    Ok(Ran {
        stdout: finished.output.stdout.text().as_bytes().to_vec(),
        ended,
    })
}
