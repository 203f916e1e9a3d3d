//! A command of a session, before it runs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use palisade_policy::{ExecExpiration, SandboxPermissions};

use super::child::Child;
use super::error::Error;
use super::progress::{Progress, Watcher};
use super::state::Shared;
use super::{admit, run};
use crate::capture::{Caps, Chunk};
use crate::launch::{Descriptor, Driver, HostStreams, WindowSize};
use crate::outcome::Finished;
use crate::supervise::{Attend, Attendant, Cancellation, block_on};

/// A command that is still being put together. Nothing is judged before it is told to run.
#[derive(Debug)]
#[must_use = "a command does nothing until it is run"]
pub struct Command {
    pub(super) shared: Arc<Shared>,
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) stdin: Option<Vec<u8>>,
    pub(super) expiration: ExecExpiration,
    pub(super) permissions: SandboxPermissions,
    pub(super) justification: Option<String>,
    pub(super) terminal: Option<WindowSize>,
    pub(super) caps: Caps,
    pub(super) live: LiveOutput,
    pub(super) cancel: Cancellation,
    pub(super) call_id: Option<String>,
    pub(super) streams: Option<HostStreams>,
    pub(super) attendant: Attended,
    pub(super) watcher: Watcher,
    pub(super) last: bool,
}

/// Who attends to a command, also to its second attempt, and what rings for them.
#[derive(Default)]
pub(super) struct Attended(pub(super) Option<(Descriptor, Attendant)>);

impl std::fmt::Debug for Attended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Attended").field(&self.0.is_some()).finish()
    }
}

/// A function that gets output while a command runs.
pub(super) type Listener = Arc<Mutex<dyn FnMut(&Chunk) + Send>>;

/// Who gets output while a command runs, also of its second attempt.
#[derive(Clone, Default)]
pub(super) enum LiveOutput {
    #[default]
    Nobody,
    Call(Listener),
}

impl std::fmt::Debug for LiveOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Nobody => "Nobody",
            Self::Call(_) => "Call",
        })
    }
}

impl Command {
    pub(super) fn new(shared: Arc<Shared>, program: OsString) -> Self {
        Self {
            shared,
            program,
            args: Vec::new(),
            cwd: None,
            env: Vec::new(),
            stdin: None,
            expiration: ExecExpiration::DefaultTimeout,
            permissions: SandboxPermissions::UseDefault,
            justification: None,
            terminal: None,
            caps: Caps::default(),
            live: LiveOutput::Nobody,
            cancel: Cancellation::new(),
            call_id: None,
            streams: None,
            attendant: Attended::default(),
            watcher: Watcher::default(),
            last: false,
        }
    }

    /// With one more argument.
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.args.push(argument.into());
        self
    }

    /// With more arguments.
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// In this directory, from the workspace if it is relative.
    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        self.cwd = Some(directory.into());
        self
    }

    /// With this variable, besides what the session lets commands inherit.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// With these bytes to read. Without them it reads nothing.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// With this much time. The policy's own limit holds if it is shorter.
    pub fn timeout(mut self, time: Duration) -> Self {
        let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.expiration = ExecExpiration::Timeout(milliseconds);
        self
    }

    /// With no time limit of its own. The policy's still holds.
    pub const fn no_timeout(mut self) -> Self {
        self.expiration = ExecExpiration::Cancellation;
        self
    }

    /// On a terminal of its own.
    pub const fn terminal(mut self, size: WindowSize) -> Self {
        self.terminal = Some(size);
        self
    }

    /// On the streams of the host program, in whose place it stands: only where it is run without a runtime, by
    /// [`output_blocking`](Self::output_blocking). What it would read, and a terminal of its own, are left out.
    ///
    /// A second attempt, where somebody agrees to one, writes where the first one left off, and reads a file from where
    /// that began; if the input is a pipe, what the first one read is gone, and there is no second one.
    pub fn streams(mut self, streams: HostStreams) -> Self {
        self.streams = Some(streams);
        self
    }

    /// With somebody who attends to it while it runs: the bytes that can be read from this descriptor are theirs, and so
    /// is what is typed at the terminal of [`streams`](Self::streams). It is part of the same wait, so neither a thread
    /// nor a runtime is needed.
    pub fn attended_by(mut self, bell: Descriptor, attendant: impl Attend + 'static) -> Self {
        self.attendant = Attended(Some((bell, Arc::new(Mutex::new(attendant)))));
        self
    }

    /// Keeps this much of its output.
    pub const fn caps(mut self, caps: Caps) -> Self {
        self.caps = caps;
        self
    }

    /// Calls this with output as it arrives.
    pub fn live(mut self, listener: impl FnMut(&Chunk) + Send + 'static) -> Self {
        self.live = LiveOutput::Call(Arc::new(Mutex::new(listener)));
        self
    }

    /// Ends when somebody cancels.
    pub fn cancelled_by(mut self, cancel: Cancellation) -> Self {
        self.cancel = cancel;
        self
    }

    /// Asks for more than the policy gives, as a model does. Somebody has to agree.
    ///
    /// A model cannot bypass the sandbox, only ask to leave it: [`SandboxPermissions::BypassSandbox`] counts as
    /// [`SandboxPermissions::RequireEscalated`] here. A host program says it with [`without_sandbox`](Self::without_sandbox).
    pub fn asking_for(mut self, permissions: SandboxPermissions, why: impl Into<String>) -> Self {
        self.permissions = match permissions {
            SandboxPermissions::BypassSandbox => SandboxPermissions::RequireEscalated,
            other => other,
        };
        self.justification = Some(why.into());
        self
    }

    /// Is to run without the sandbox, because the host program says so; never because a model does. Somebody still has to
    /// agree, and where nobody can be asked it is refused, not contained.
    pub fn without_sandbox(mut self, why: impl Into<String>) -> Self {
        self.permissions = SandboxPermissions::BypassSandbox;
        self.justification = Some(why.into());
        self
    }

    /// Tells this function what happens to it on its way.
    pub fn watched_by(mut self, watcher: impl Fn(&Progress<'_>) + Send + Sync + 'static) -> Self {
        self.watcher = Watcher::new(watcher);
        self
    }

    /// Is the last one of its session: when it has ended, what it left behind is ended at once, while the run is recorded.
    pub const fn last(mut self) -> Self {
        self.last = true;
        self
    }

    /// Goes by this name in prompts and records.
    pub fn call_id(mut self, id: impl Into<String>) -> Self {
        self.call_id = Some(id.into());
        self
    }

    /// Judges, asks, runs, and tries again where somebody agrees; waits for the end.
    ///
    /// # Errors
    /// It did not run: it is forbidden, somebody refused, or the rules or the policy cannot be used. A command that was
    /// to run and could not be started is an [`Outcome`](crate::outcome::Outcome).
    pub async fn output(self) -> Result<Finished, Error> {
        run::to_the_end(self, Driver::Tokio).await
    }

    /// The same on the calling thread, without a runtime.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    pub fn output_blocking(self) -> Result<Finished, Error> {
        block_on(run::to_the_end(self, Driver::Blocking))
    }

    /// Judges, asks and starts it. It is tried once: whoever talks to a command cannot have it started again.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    pub async fn spawn(self) -> Result<Child, Error> {
        let admitted = admit::admit(&self).await?;
        Child::start(self, admitted).await
    }
}
