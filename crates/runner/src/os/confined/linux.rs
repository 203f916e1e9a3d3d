//! Sessions of the Linux sandbox.

use std::fs;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use palisade_linux_landlock::aftermath::{AftermathOptions, Before};
use palisade_linux_landlock::git_import::ImportOptions;
use palisade_linux_landlock::survey::{self, SurveyOptions};
use palisade_linux_landlock::{
    Child, Command, ExitCause, GitHistory, Helper, LaunchError, Session, StartError, Started,
    Starting, begin_on,
};
use palisade_policy::{Enforcement, LimitKind, NetworkScope, PolicyContext, ResolvedPolicy};

use super::notes;
use super::trusted::{helper_is_same, real};
use crate::config::Own;
use crate::egress::{Egress, RefusedHost, Served};
use crate::host::Host;
use crate::launch::Placed;
use crate::os::order::Order;
use crate::os::process::Process;
use crate::os::stdio::Stdio;
use crate::outcome::SetupFailure;
use crate::supervise::{Ended, How, NoEnd, Usage};
use crate::workspace::Claim;

/// A session that is set up, for commands from any thread. Everything in it ends with it.
#[derive(Debug)]
pub(crate) struct ConfinedSession {
    session: Session,
    policy: ResolvedPolicy,
    own: Own,
    enforcement: Enforcement,
    /// One import at a time: each begins where the last one ended.
    history: Mutex<Option<GitHistory>>,
    has_history: bool,
    before: Mutex<Option<Before>>,
    /// The claim on the workspace, while commands run.
    claim: Mutex<Weak<Claim>>,
    /// Set by the first command that finds it so: those who take a session down are not done at once.
    lost: Arc<AtomicBool>,
    /// The way to the hosts that the policy lists, if it lists any.
    proxy: Option<Served>,
}

impl ConfinedSession {
    /// Whether [`denials`](Self::denials) has anything to say, ever.
    pub(crate) const TELLS_DENIALS: bool = false;

    /// Sets a session up. Waits until that is done.
    ///
    /// # Errors
    /// Names the step that failed, or every loss that was not accepted, and what would help. Nothing ran.
    pub(crate) fn open(host: &Host, placed: &Placed) -> Result<Self, SetupFailure> {
        Self::begin(host, placed)?.finish()
    }

    /// Begins to set a session up. Does not wait until that is done.
    ///
    /// # Errors
    /// What can be said without setting anything up, as [`open`](Self::open).
    pub(crate) fn begin(host: &Host, placed: &Placed) -> Result<Opening, SetupFailure> {
        let program = host.helper.as_ref().ok_or_else(|| {
            SetupFailure::new(
                "finding the sandbox helper",
                None,
                "no sandbox helper is known; name one (palisade-linux-sandbox, or a program that calls \
                 palisade_linux_landlock::dispatch first in its main)",
            )
        })?;
        let ahead = host.ahead.of(program);
        let mut helper = ahead.unwrap_or_else(|| Helper::new(program));
        if let Some(git) = &host.git {
            helper = helper.with_git(ImportOptions::new(git));
        }
        let context = PolicyContext::new(host.facts.clone(), real(&placed.policy_cwd)?)
            .with_home_root(placed.home_root);
        if let Some(directory) = &host.runtime_dir {
            // What is not there cannot be hidden, and the claim of the first command would make it. Where it cannot be
            // made, that claim says why.
            let mut builder = fs::DirBuilder::new();
            let _ = builder.recursive(true).mode(0o700).create(directory);
        }
        let own = Own::of(host);
        let policy = own.guarded(&placed.policy, &context.cwd);
        helper_is_same(program)?;
        let kernel = survey::kernel(&context.facts).with_proxy();
        let starting = begin_on(kernel, policy, context, placed.accepted.clone(), helper)
            .map_err(|error| start_failure(&error))?;
        // While the helper is at work. Where it fails, what was begun ends before any command has run.
        let resolved = starting.resolved();
        own.check(&resolved.map_err(|error| start_failure(&StartError::Policy(error)))?)?;
        Ok(Opening {
            starting,
            own,
            egress: host.egress.clone(),
        })
    }

    /// Asks for a command. Whether it could be started is what [`Process::try_end`] says.
    ///
    /// # Errors
    /// A descriptor is not one that a command may have, or the session is gone.
    pub(crate) fn spawn(&self, order: &Order, stdio: Stdio) -> Result<Process, SetupFailure> {
        let mut command =
            Command::new(order.argv.iter().cloned(), &order.cwd).with_env(order.env.clone());
        if let Some(judged) = &order.program {
            command = command.with_program(&judged.path, judged.device, judged.inode);
        }
        if order.terminal {
            command = command.with_terminal();
        }
        let Stdio {
            stdin,
            stdout,
            stderr,
        } = stdio;
        let stdio = palisade_linux_landlock::Stdio::new(stdin, stdout, stderr);
        let names = Names::of(order);
        let child = self.session.spawn(&command, &stdio).map_err(|error| {
            note_loss(&self.lost, &error);
            names.failure(&error)
        })?;
        Ok(Process::Confined(ConfinedProcess {
            child,
            names,
            ended: None,
            lost: Arc::clone(&self.lost),
        }))
    }

    /// What the proxy refused since, where there is one.
    pub(crate) fn refused_hosts(&self, since: Instant) -> Vec<RefusedHost> {
        let proxy = self.proxy.as_ref();
        proxy.map_or_else(Vec::new, |proxy| proxy.refused_since(since))
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

    /// Whether commands can still be started in it.
    pub(crate) fn is_alive(&self) -> bool {
        !self.lost.load(Ordering::Relaxed) && self.session.is_alive()
    }

    /// Whether there is anything for [`import_git`](Self::import_git) to bring back, ever.
    pub(crate) const fn has_history(&self) -> bool {
        self.has_history
    }

    /// Brings back what git did so far, and tells what came and what did not. Call it when a command has ended, and
    /// before the session does.
    pub(crate) fn import_git(&self) -> Vec<String> {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let imports = history
            .as_mut()
            .map(|history| history.import(&self.session));
        imports
            .iter()
            .flatten()
            .flat_map(notes::of_import)
            .collect()
    }

    /// Nothing: the kernel does not tell what it denied.
    #[expect(clippy::unused_self, reason = "other systems tell")]
    pub(crate) const fn denials(&self, _ran_for: Duration) -> Vec<String> {
        Vec::new()
    }

    /// Looks at the writable roots, so that [`ConfinedSession::aftermath`] can tell what changed. Call it before the
    /// first command.
    pub(crate) fn watch_aftermath(&self, host: &Host) {
        let mut linux = survey::kernel(&host.facts);
        survey::look(&mut linux, &self.policy, &SurveyOptions::launch());
        let before = Before::look(&self.policy, &linux, &AftermathOptions::default());
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
    }

    /// What was made since that a person should know before going on in the workspace; nothing if nobody looked.
    pub(crate) fn aftermath(&self) -> Vec<String> {
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        before
            .iter()
            .flat_map(|before| before.compare(&self.policy))
            .map(|finding| finding.to_string())
            .collect()
    }

    /// Begins to end everything in the session. Does not wait.
    pub(crate) fn begin_end(&self) {
        // Whoever asks for one more command meanwhile gets another session.
        self.lost.store(true, Ordering::Relaxed);
        self.session.begin_end();
    }

    /// Ends everything in the session, and waits until nothing of it is left.
    pub(crate) fn end(self) {
        self.session.end();
    }
}

/// A session that is being set up. Dropped, it ends like any other.
#[derive(Debug)]
pub(crate) struct Opening {
    starting: Starting,
    own: Own,
    egress: Egress,
}

impl Opening {
    /// Waits until the session is set up.
    ///
    /// # Errors
    /// As [`ConfinedSession::open`].
    pub(crate) fn finish(self) -> Result<ConfinedSession, SetupFailure> {
        let started = self.starting.finish();
        let Started {
            mut session,
            policy,
            enforcement,
            history,
            ..
        } = started.map_err(|error| start_failure(&error))?;
        let listener = session.take_proxy_listener();
        let proxy = match (listener, policy.canonical().network()) {
            (Some(listener), NetworkScope::Only(hosts)) => {
                let served = self.egress.serve(listener, hosts.to_vec());
                Some(served.map_err(|error| {
                    let step = "starting the proxy for the listed hosts";
                    SetupFailure::new(step, error.raw_os_error(), error.to_string())
                })?)
            }
            _ => None,
        };
        Ok(ConfinedSession {
            proxy,
            session,
            policy,
            own: self.own,
            enforcement,
            has_history: history.is_some(),
            history: Mutex::new(history),
            before: Mutex::new(None),
            claim: Mutex::new(Weak::new()),
            lost: Arc::default(),
        })
    }
}

/// A helper that loads while the caller still works out what to ask of it.
pub(crate) fn helper_ahead(program: &Path) -> Option<Helper> {
    helper_is_same(program).ok()?;
    Some(Helper::new(program).ahead())
}

fn start_failure(error: &StartError) -> SetupFailure {
    match error {
        StartError::Policy(policy) => {
            SetupFailure::new("resolving the policy", None, policy.to_string())
        }
        StartError::Refused(refusal) => SetupFailure::too_weak(refusal.clone()),
        StartError::Launch { error } => launch_failure(error, ""),
        other => SetupFailure::new("starting the sandbox", None, other.to_string()),
    }
}

/// A failed launch with its step, its error number, and what would help.
fn launch_failure(error: &LaunchError, about: &str) -> SetupFailure {
    let (step, errno) = match error {
        LaunchError::Step { step, source, .. } => (step.to_string(), source.raw_os_error()),
        LaunchError::Helper { source, .. } => (
            "starting the sandbox helper".to_owned(),
            source.raw_os_error(),
        ),
        LaunchError::Descriptor { .. } => ("passing descriptors".to_owned(), None),
        LaunchError::SessionLost => ("keeping the session".to_owned(), None),
        LaunchError::Io(error) => ("making a process".to_owned(), error.raw_os_error()),
        _ => ("starting the sandbox".to_owned(), None),
    };
    let explained = error
        .explain()
        .map(|explanation| format!(": {explanation}"))
        .unwrap_or_default();
    let message = format!("{error}{about}{explained}");
    SetupFailure::new(step, errno, message)
}

fn note_loss(lost: &AtomicBool, error: &LaunchError) {
    if matches!(error, LaunchError::SessionLost) {
        lost.store(true, Ordering::Relaxed);
    }
}

/// What failures are told with.
#[derive(Debug)]
struct Names {
    program: String,
    cwd: String,
}

impl Names {
    fn of(order: &Order) -> Self {
        Self {
            program: order.name(),
            cwd: order.cwd.display().to_string(),
        }
    }

    fn failure(&self, error: &LaunchError) -> SetupFailure {
        use palisade_linux_landlock::Step;
        let about = match error {
            LaunchError::Step { step, source, .. } => {
                let hint = match source.raw_os_error() {
                    Some(libc::ENOEXEC) => {
                        "; it is no program; a script needs a first line such as #!/bin/sh"
                    }
                    Some(libc::E2BIG) => "; the arguments and the environment are too large",
                    _ => "",
                };
                match step {
                    Step::Exec | Step::ProgramChanged => format!(" ({}{hint})", self.program),
                    Step::WorkingDirectory => format!(" ({})", self.cwd),
                    _ => String::new(),
                }
            }
            _ => String::new(),
        };
        launch_failure(error, &about)
    }

    /// The same for a command that was asked for. Only a step that failed proves that nothing ran.
    fn no_end(&self, error: &LaunchError) -> NoEnd {
        match error {
            LaunchError::Step { .. } => NoEnd::NotStarted(self.failure(error)),
            LaunchError::SessionLost => NoEnd::Lost(format!(
                "the sandbox session of {} ended before it did, and it ended with it; somebody killed the sandbox \
                 helper, or the system ran out of memory. What it did until then stays done. The next command gets a \
                 new session",
                self.program
            )),
            other => NoEnd::Lost(format!("how {} ended is not known: {other}", self.program)),
        }
    }
}

/// A command in a session.
#[derive(Debug)]
pub(crate) struct ConfinedProcess {
    child: Child,
    names: Names,
    ended: Option<Result<Ended, NoEnd>>,
    /// Of its session.
    lost: Arc<AtomicBool>,
}

impl ConfinedProcess {
    pub(in crate::os) fn status(&self) -> BorrowedFd<'_> {
        self.child.as_fd()
    }

    pub(in crate::os) fn try_end(&mut self) -> Result<Option<Ended>, NoEnd> {
        if self.ended.is_none() {
            self.ended = match self.child.try_wait() {
                Ok(exit) => exit.map(|exit| {
                    Ok(Ended {
                        how: how(exit.cause),
                        usage: Usage {
                            user: exit.usage.user,
                            system: exit.usage.system,
                            max_rss_kib: exit.usage.max_rss_kib,
                        },
                    })
                }),
                Err(error) => {
                    note_loss(&self.lost, &error);
                    Some(Err(self.names.no_end(&error)))
                }
            };
        }
        self.ended.clone().transpose()
    }

    pub(in crate::os) fn signal(&self, signal: i32) {
        // A session that is gone has taken the command with it.
        let _ = self.child.signal(signal);
    }

    pub(in crate::os) fn kill_tree(&mut self) {
        let _ = self.child.kill_tree();
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
        ExitCause::Code(code) => How::Code(code),
        ExitCause::Signal(signal) => How::Signal(signal),
        ExitCause::MemoryLimit => How::Limit(LimitKind::Memory),
        ExitCause::ProcessLimit => How::Limit(LimitKind::Pids),
        ExitCause::CpuLimit => How::Limit(LimitKind::Cpu),
        ExitCause::FileSizeLimit => How::Limit(LimitKind::Disk),
        // A cause that is newer than this: it was ended.
        _ => How::Signal(libc::SIGKILL),
    }
}
