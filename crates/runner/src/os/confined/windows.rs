//! Sessions of the Windows sandbox.

use std::os::windows::io::AsHandle as _;
use std::path::PathBuf;
use std::sync::{Mutex, Weak};
use std::time::Duration;

use palisade_policy::{Enforcement, LimitKind, PolicyContext, ResolvedPolicy, WorkspaceRoot};
use palisade_windows_token::{
    Child, Command, ExitCause, JudgedProgram, LaunchError, Session, StartError, StartOptions,
    Started, default_state_directory, start,
};

use crate::config::Own;
use crate::egress::{Outlet, RefusedHost};
use crate::host::{Host, real_path};
use crate::launch::{BorrowedDescriptor, Placed};
use crate::os::order::Order;
use crate::os::process::Process;
use crate::os::stdio::Stdio;
use crate::os::windows::hold::{held_directory, held_program};
use crate::os::windows::signals::{ENDING, KILL};
use crate::outcome::SetupFailure;
use crate::supervise::{Ended, How, NoEnd, Usage};
use crate::workspace::Claim;

/// What the directory is called in which the sandbox remembers what it changed. It is beside the one of everything else:
/// that one is closed to commands, and this one holds their temporary files.
const STATE: &str = "palisade-sandbox";

/// A session that is set up, for commands from any thread. Everything in it ends with it.
#[derive(Debug)]
pub(crate) struct ConfinedSession {
    session: Session,
    policy: ResolvedPolicy,
    own: Own,
    enforcement: Enforcement,
    /// The claim on the workspace, while commands run.
    claim: Mutex<Weak<Claim>>,
}

impl ConfinedSession {
    /// Whether [`denials`](Self::denials) has anything to say, ever.
    pub(crate) const TELLS_DENIALS: bool = false;

    /// Sets a session up. Waits until that is done.
    ///
    /// # Errors
    /// Names the step that failed, or every loss that was not accepted, and what would help. Nothing ran.
    pub(crate) fn open(host: &Host, placed: &Placed) -> Result<Self, SetupFailure> {
        let context = PolicyContext::new(host.facts.clone(), real(&placed.policy_cwd)?)
            .with_home_root(placed.home_root);
        let own = Own::of(host);
        let policy = own.guarded(&placed.policy, &context.cwd);
        let resolved = policy.resolve(&context);
        own.check(&resolved.map_err(|error| start_failure(&StartError::Policy(error)))?)?;
        let options = StartOptions::new(state_directory(host)?);
        let started = start(&policy, &context, &placed.accepted, &options)
            .map_err(|error| start_failure(&error))?;
        let Started {
            session,
            policy,
            enforcement,
            ..
        } = started;
        Ok(Self {
            session,
            policy,
            own,
            enforcement: enforcement.with_note(
                "who else runs on the workspace: only the runs of this program know of each other",
            ),
            claim: Mutex::new(Weak::new()),
        })
    }

    /// Starts a command.
    ///
    /// # Errors
    /// Names the step that failed; nothing ran.
    pub(crate) fn spawn(&self, order: &Order, stdio: Stdio) -> Result<Process, SetupFailure> {
        // Neither can be replaced until it is let go, after the start.
        let program = held_program(order)?;
        let directory = held_directory(order)?;
        let judged = JudgedProgram::look(program.real()).map_err(|error| {
            let step = "checking that the program is the judged one";
            let message = format!("{step} {} failed: {error}", order.name());
            SetupFailure::new(step, error.raw_os_error(), message)
        })?;
        let command = Command::new(order.argv.iter().cloned(), directory.path())
            .with_env(order.env.clone())
            .with_program(judged);
        let Stdio {
            stdin,
            stdout,
            stderr,
        } = stdio;
        let stdio = palisade_windows_token::Stdio::new(stdin, stdout, stderr);
        let child = self
            .session
            .spawn(&command, &stdio)
            .map_err(|error| launch_failure(&error))?;
        Ok(Process::Confined(ConfinedProcess { child, ended: None }))
    }

    /// What is enforced, in absolute paths.
    pub(crate) const fn policy(&self) -> &ResolvedPolicy {
        &self.policy
    }

    /// What of the host no command may write.
    pub(crate) const fn own(&self) -> &Own {
        &self.own
    }

    /// What holds.
    pub(crate) const fn enforcement(&self) -> &Enforcement {
        &self.enforcement
    }

    /// The claim that the commands which run in it share.
    pub(crate) const fn claim(&self) -> &Mutex<Weak<Claim>> {
        &self.claim
    }

    /// Whether commands can still be started in it. There is no helper that could be gone.
    #[expect(clippy::unused_self, reason = "elsewhere a session can be lost")]
    pub(crate) const fn is_alive(&self) -> bool {
        true
    }

    /// A repository stays read-only here, so nothing is brought back.
    #[expect(clippy::unused_self, reason = "elsewhere a session can have one")]
    pub(crate) const fn has_history(&self) -> bool {
        false
    }

    /// Brings nothing back.
    #[expect(clippy::unused_self, reason = "elsewhere a session can have a history")]
    pub(crate) const fn import_git(&self) -> Vec<String> {
        Vec::new()
    }

    /// Nothing: nobody has a network by host here.
    #[expect(clippy::unused_self, reason = "elsewhere there is a proxy")]
    pub(crate) const fn refused_hosts(&self, _since: std::time::Instant) -> Vec<RefusedHost> {
        Vec::new()
    }

    /// Nowhere: nobody has a network by host here.
    #[expect(clippy::unused_self, reason = "elsewhere there is a proxy")]
    pub(crate) const fn outlet(&self) -> Option<(Outlet, bool)> {
        None
    }

    /// Nothing: the system does not tell what it denied.
    #[expect(clippy::unused_self, reason = "other systems tell")]
    pub(crate) const fn denials(&self, _ran_for: Duration) -> Vec<String> {
        Vec::new()
    }

    /// Nobody looks yet at what commands leave behind here.
    #[expect(clippy::unused_self, reason = "elsewhere somebody looks")]
    pub(crate) const fn watch_aftermath(&self, _: &Host) {}

    /// Nothing is known.
    #[expect(clippy::unused_self, reason = "elsewhere somebody looks")]
    pub(crate) const fn aftermath(&self) -> Vec<String> {
        Vec::new()
    }

    /// Ends everything in the session, waits until nothing of it is left, and removes what it added to access lists.
    pub(crate) fn end(self) {
        // What could not be removed is in the journal, and the next start tries again.
        let _ = self.session.end();
    }
}

/// Where the sandbox remembers what it changed.
fn state_directory(host: &Host) -> Result<PathBuf, SetupFailure> {
    let step = "finding the state directory of the sandbox";
    match &host.state_dir {
        Some(own) => Ok(own.with_file_name(STATE)),
        None => default_state_directory()
            .map(|usual| usual.with_file_name(STATE))
            .map_err(|error| {
                let message = format!(
                    "{step} failed: {error}; set LOCALAPPDATA, or name a state directory for the host"
                );
                SetupFailure::new(step, error.raw_os_error(), message)
            }),
    }
}

/// The directory that a policy is resolved against, without links.
fn real(cwd: &WorkspaceRoot) -> Result<WorkspaceRoot, SetupFailure> {
    let step = "resolving the policy";
    let path = cwd.path().as_path();
    let real = real_path(path).map_err(|error| {
        let message = format!("the directory of the policy {}: {error}", path.display());
        SetupFailure::new(step, error.raw_os_error(), message)
    })?;
    WorkspaceRoot::new(real).map_err(|error| SetupFailure::new(step, None, error.to_string()))
}

fn start_failure(error: &StartError) -> SetupFailure {
    if let StartError::Refused(refusal) = error {
        return SetupFailure::too_weak(refusal.clone());
    }
    let (step, errno) = match error {
        StartError::Policy(_) => ("resolving the policy", None),
        StartError::Survey(_) => ("looking at the host", None),
        StartError::State(_) => ("opening the state of the sandbox", None),
        StartError::Edit(_) => ("editing access lists", None),
        StartError::SelfCheck(_) => ("the self-check of the sandbox", None),
        StartError::System { source, .. } => ("starting the sandbox", source.raw_os_error()),
        _ => ("starting the sandbox", None),
    };
    SetupFailure::new(step, errno, error.to_string())
}

fn launch_failure(error: &LaunchError) -> SetupFailure {
    let (step, errno) = match error {
        LaunchError::ProgramChanged { .. } => ("checking that the program is the judged one", None),
        LaunchError::Environment(_) => ("reading a request", None),
        LaunchError::Handle { .. } => ("passing descriptors", None),
        LaunchError::System { source, .. } => ("starting the program", source.raw_os_error()),
        LaunchError::Io(source) => ("making a process", source.raw_os_error()),
        _ => ("starting the program", None),
    };
    SetupFailure::new(step, errno, format!("{step} failed: {error}"))
}

/// A command in a session.
#[derive(Debug)]
pub(crate) struct ConfinedProcess {
    child: Child,
    ended: Option<Ended>,
}

impl ConfinedProcess {
    pub(in crate::os) fn status(&self) -> BorrowedDescriptor<'_> {
        self.child.as_handle()
    }

    pub(in crate::os) fn try_end(&mut self) -> Result<Option<Ended>, NoEnd> {
        if self.ended.is_none() {
            let exit = self.child.try_wait().map_err(|error| {
                NoEnd::Lost(format!("how the command ended is not known: {error}"))
            })?;
            self.ended = exit.map(|exit| Ended {
                how: how(exit.cause),
                usage: Usage {
                    user: exit.usage.user,
                    system: exit.usage.system,
                    ..Usage::default()
                },
            });
        }
        Ok(self.ended)
    }

    pub(in crate::os) fn signal(&mut self, signal: i32) {
        if ENDING.contains(&signal) && matches!(self.try_end(), Ok(None)) {
            self.kill_tree();
        }
    }

    pub(in crate::os) fn kill_tree(&mut self) {
        // Nobody waits here: the end is told by the handle, and the session's end is everybody's.
        let _ = self.child.kill_tree(Duration::ZERO);
    }
}

impl Drop for ConfinedProcess {
    fn drop(&mut self) {
        if matches!(self.try_end(), Ok(None)) {
            self.kill_tree();
        }
    }
}

fn how(cause: ExitCause) -> How {
    match cause {
        ExitCause::Code(code) | ExitCause::Exception(code) => How::Code(code.cast_signed()),
        ExitCause::CpuLimit => How::Limit(LimitKind::Cpu),
        // Somebody here ended it; or a cause that is newer than this.
        _ => How::Signal(KILL),
    }
}
