//! From a host, a place and a command to an outcome.

mod claim;
mod descriptor;
#[cfg_attr(windows, path = "handed_windows.rs")]
mod handed;
mod host_streams;
mod start;

use std::time::Duration;

use palisade_policy::{
    AcceptedLosses, CanonicalSandboxPolicy, CommandSpec, HomeRoot, SandboxType, WorkspaceRoot,
};

use crate::capture::{Caps, Chunk};
use crate::egress::Alone;
use crate::host::Host;
use crate::os::ConfinedSession;
use crate::outcome::{Finished, Outcome, SetupFailure};
use crate::supervise::{Attendant, Cancellation, Timing};
use crate::workspace::Wait;

pub use descriptor::Descriptor;
pub(crate) use descriptor::{BorrowedDescriptor, borrow};
pub use host_streams::{HostStreams, TerminalUse};
pub use start::Control;
pub(crate) use start::{Ground, Running, start};

/// Where an attempt runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Placed {
    /// The mechanism; [`SandboxType::None`] is none, and then the policy confines nothing.
    pub sandbox: SandboxType,
    /// What is enforced.
    pub policy: CanonicalSandboxPolicy,
    /// What the policy is resolved against: never the directory of the command.
    pub policy_cwd: WorkspaceRoot,
    /// Losses that were accepted by name.
    pub accepted: AcceptedLosses,
    /// Whether the workspace may be the home directory or hold it.
    pub home_root: HomeRoot,
}

impl Placed {
    /// In this sandbox, under this policy, with no loss accepted.
    #[must_use]
    pub fn new(
        sandbox: SandboxType,
        policy: CanonicalSandboxPolicy,
        policy_cwd: WorkspaceRoot,
    ) -> Self {
        Self {
            sandbox,
            policy,
            policy_cwd,
            accepted: AcceptedLosses::none(),
            home_root: HomeRoot::Refuse,
        }
    }
}

impl Placed {
    /// Refuses a place that contradicts itself: a policy that confines, and nothing to confine with.
    fn check(&self) -> Result<(), SetupFailure> {
        match self.sandbox == SandboxType::None && self.policy.uses_runtime_sandbox() {
            true => Err(SetupFailure::new(
                "placing the command",
                None,
                "the policy confines, and the place has no sandbox; whoever runs it without one says so with a policy \
                 of full access",
            )),
            false => Ok(()),
        }
    }
}

/// What a command reads.
#[derive(Debug, Default)]
#[non_exhaustive]
pub enum Stdin {
    /// Nothing.
    #[default]
    Null,
    /// These bytes, and then the end.
    Bytes(Vec<u8>),
    /// What arrives in this queue, until it is closed.
    Queue(tokio::sync::mpsc::Receiver<Vec<u8>>),
    /// The caller's own descriptor.
    Descriptor(Descriptor),
}

/// Where the output of a command goes.
#[derive(Debug)]
#[non_exhaustive]
pub enum OutputMode {
    /// It is captured, as much as the caps say.
    Capture(Caps),
    /// To descriptors of the caller, untouched.
    Descriptors {
        /// Standard output.
        stdout: Descriptor,
        /// Standard error.
        stderr: Descriptor,
    },
    /// To a terminal of its own, whose output is captured.
    Terminal {
        /// Its size.
        size: WindowSize,
        /// How much is kept.
        caps: Caps,
    },
    /// To the streams of the host program, and what it reads is theirs too. Only [`Driver::Blocking`] can do that.
    Host {
        /// The streams.
        streams: HostStreams,
        /// How much is kept of what is passed on.
        caps: Caps,
    },
}

impl Default for OutputMode {
    fn default() -> Self {
        Self::Capture(Caps::default())
    }
}

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a terminal has rows and columns")]
pub struct WindowSize {
    /// Rows.
    pub rows: u16,
    /// Columns.
    pub columns: u16,
}

/// Who gets output while the command runs.
#[derive(Default)]
#[non_exhaustive]
pub enum Live {
    /// Nobody.
    #[default]
    Nobody,
    /// A queue. Where it is full, the command waits.
    Queue(tokio::sync::mpsc::Sender<Chunk>),
    /// A function, called where the run is driven.
    Call(Box<dyn FnMut(&Chunk) + Send>),
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Nobody => "Nobody",
            Self::Queue(_) => "Queue",
            Self::Call(_) => "Call",
        })
    }
}

/// A command to launch, and how it is watched.
#[non_exhaustive]
pub struct Launch {
    /// The command; its environment is complete.
    pub command: CommandSpec,
    /// What it reads.
    pub stdin: Stdin,
    /// Where its output goes.
    pub output: OutputMode,
    /// Who gets output while it runs.
    pub live: Live,
    /// How long it may run; `None` is for ever.
    pub wall: Option<Duration>,
    /// How it is ended.
    pub timing: Timing,
    /// Who can end it.
    pub cancel: Cancellation,
    /// How long it waits for another command on the workspace that guards more.
    pub wait_for_others: Wait,
    /// What it led to when it was judged, if somebody looked then: if that is no longer so, nothing is started.
    pub seen: Option<crate::program::Seen>,
    /// Whether no other command follows it in its session.
    pub(crate) last: bool,
    /// Who attends to it, and what rings for them.
    pub(crate) attendant: Option<(Descriptor, Attendant)>,
    /// Whether nobody else speaks to its proxy.
    pub(crate) alone: Alone,
}

impl std::fmt::Debug for Launch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Launch")
            .field("command", &self.command)
            .field("stdin", &self.stdin)
            .field("output", &self.output)
            .field("wall", &self.wall)
            .finish_non_exhaustive()
    }
}

impl Launch {
    /// A command with nothing to read, captured, without a time limit of its own.
    #[must_use]
    pub fn new(command: CommandSpec) -> Self {
        Self {
            command,
            stdin: Stdin::Null,
            output: OutputMode::default(),
            live: Live::Nobody,
            wall: None,
            timing: Timing::default(),
            cancel: Cancellation::new(),
            wait_for_others: Wait::For(PATIENCE),
            seen: None,
            last: false,
            attendant: None,
            alone: Alone::yes(),
        }
    }
}

/// How long a command waits for another that guards more, unless it is said otherwise.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// What waits while a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "with a runtime or without")]
pub enum Driver {
    /// The calling thread.
    Blocking,
    /// The tokio runtime that the future is polled in.
    Tokio,
}

/// Runs a command in a sandbox of its own, or in none, and waits for its end.
pub async fn run(host: &Host, placed: &Placed, launch: Launch, driver: Driver) -> Finished {
    let cancel = launch.cancel.clone();
    match begin(host, placed, launch, driver).await {
        Ok(running) => running.finish(driver).await,
        Err(failure) => Finished::new(not_started(failure, &cancel), placed.sandbox),
    }
}

/// Starts a command in a sandbox of its own, or in none.
///
/// # Errors
/// Names the step that failed.
pub(crate) async fn begin(
    host: &Host,
    placed: &Placed,
    launch: Launch,
    driver: Driver,
) -> Result<Running, SetupFailure> {
    let ground = ground(host, placed, driver).await?;
    start(host, ground, placed.sandbox, launch, driver).await
}

/// The ground for a command that shares it with no other. Setting a sandbox up takes a few milliseconds, which a runtime's
/// thread is not kept for.
async fn ground(host: &Host, placed: &Placed, driver: Driver) -> Result<Ground, SetupFailure> {
    placed.check()?;
    if placed.sandbox == SandboxType::None {
        return Ok(Ground::Bare);
    }
    let open = {
        let (host, placed) = (host.clone(), placed.clone());
        move || {
            let session = ConfinedSession::open(&host, &placed)?;
            Ok(Ground::Own(Box::new(session)))
        }
    };
    off_the_runtime(open, driver).await
}

/// Does something that blocks where it keeps nobody else waiting.
pub(crate) async fn off_the_runtime<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SetupFailure> + Send + 'static,
    driver: Driver,
) -> Result<T, SetupFailure> {
    match driver {
        Driver::Blocking => work(),
        Driver::Tokio => tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
            Err(SetupFailure::new(
                "starting the sandbox",
                None,
                "the thread that sets the sandbox up ended before it was done",
            ))
        }),
    }
}

/// How a command ended that was not started: somebody who cancels while it waits for others did not make it fail.
pub(crate) fn not_started(failure: SetupFailure, cancel: &Cancellation) -> Outcome {
    match failure.step == claim::STEP && cancel.is_cancelled() {
        true => Outcome::Cancelled,
        false => Outcome::SetupFailed(failure),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::supervise::block_on;
    use palisade_policy::{HostFacts, Os};

    #[test]
    fn a_policy_that_confines_never_runs_where_nothing_does() {
        let root = tempfile::tempdir_in("/var/tmp").unwrap();
        let cwd = WorkspaceRoot::new(root.path()).unwrap();
        let host = Host::new(HostFacts::new(Os::Linux));
        let made = root.path().join("made");
        for (policy, runs) in [
            (CanonicalSandboxPolicy::read_only(), false),
            (
                CanonicalSandboxPolicy::workspace_write([cwd.clone()]),
                false,
            ),
            (CanonicalSandboxPolicy::full_access(), true),
        ] {
            let placed = Placed::new(SandboxType::None, policy, cwd.clone());
            let touch = CommandSpec::new("/bin/touch")
                .with_args([&made])
                .with_cwd(root.path());
            let finished = block_on(run(&host, &placed, Launch::new(touch), Driver::Blocking));
            assert_eq!(finished.outcome.success(), runs, "{:?}", finished.outcome);
            assert_eq!(made.exists(), runs);
        }
    }
}
