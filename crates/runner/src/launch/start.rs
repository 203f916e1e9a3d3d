//! Starting a command on its ground, watching it, and telling how it ended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use palisade_policy::{AbsolutePath, Access, CommandSpec, Place, ResolvedPolicy, SandboxType};

use super::claim::claim;
use super::handed;
use super::{
    BorrowedDescriptor, Descriptor, Driver, Launch, OutputMode, Stdin, WindowSize, borrow,
};
use crate::capture::{Caps, Captured, Output};
use crate::egress::{Alone, Outlet, RefusedHost};
use crate::evidence::{self, Failure};
use crate::host::Host;
use crate::os::{self, ConfinedSession, JudgedFile, Order, Process, Pty, Stdio};
use crate::outcome::{Evidence, Finished, Outcome, SetupFailure};
use crate::program::{self, Seen};
use crate::supervise::{
    Attendance, Begun, Cause, Ended, NoEnd, Plan, Streams, Watched, drive_blocking, drive_tokio,
};
use crate::workspace::Claim;

/// How programs say what a sandbox answers.
const EPERM: &[u8] = b"not permitted";

/// What a command stands on while it runs.
#[derive(Debug)]
pub(crate) enum Ground {
    /// Nothing of ours.
    Bare,
    /// A sandbox that other commands of a session share.
    Shared(Arc<ConfinedSession>),
    /// A sandbox for this command alone, which ends with it.
    Own(Box<ConfinedSession>),
}

impl Ground {
    pub(super) fn confined(&self) -> Option<&ConfinedSession> {
        match self {
            Self::Bare => None,
            Self::Shared(session) => Some(session),
            Self::Own(session) => Some(session),
        }
    }

    /// Which proxy it has and whether something runs there already, as far as that is known; nothing if it has no proxy.
    pub(crate) fn outlet(&self) -> Option<(Outlet, bool)> {
        self.confined()?.outlet()
    }
}

/// A command that was started.
#[derive(Debug)]
pub(crate) struct Running {
    ground: Ground,
    /// Held until everything of the command is over.
    claim: Option<Arc<Claim>>,
    process: Held,
    terminal: Option<Arc<Pty>>,
    streams: Streams,
    plan: Plan,
    command: CommandSpec,
    sandbox: SandboxType,
    begun: Instant,
    alone: Alone,
}

/// A process that whoever watches it and whoever talks to it share.
#[derive(Debug)]
struct Held {
    status: Descriptor,
    process: Arc<Mutex<Process>>,
}

fn lock(process: &Mutex<Process>) -> MutexGuard<'_, Process> {
    process.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watched for Held {
    fn status(&self) -> BorrowedDescriptor<'_> {
        borrow(&self.status)
    }

    fn try_end(&mut self) -> Result<Option<Ended>, NoEnd> {
        lock(&self.process).try_end()
    }

    fn signal(&self, signal: i32) {
        lock(&self.process).signal(signal);
    }

    fn kill_tree(&mut self) {
        lock(&self.process).kill_tree();
    }
}

/// Reaches a command while somebody else watches it. It keeps nothing alive.
#[derive(Clone, Debug)]
pub struct Control {
    process: Weak<Mutex<Process>>,
    terminal: Option<Weak<Pty>>,
}

impl Control {
    fn of(process: &Held, terminal: Option<&Arc<Pty>>) -> Self {
        Self {
            process: Arc::downgrade(&process.process),
            terminal: terminal.map(Arc::downgrade),
        }
    }

    /// Sends a signal to its process group, if it still runs.
    pub fn signal(&self, signal: i32) {
        if let Some(process) = self.process.upgrade() {
            lock(&process).signal(signal);
        }
    }

    /// A descriptor of the other side of its terminal, for questions about it; `None` if it has no terminal. Whoever keeps
    /// it keeps the terminal from hanging up.
    #[must_use]
    pub fn terminal(&self) -> Option<Descriptor> {
        let terminal = self.terminal.as_ref().and_then(Weak::upgrade)?;
        terminal.copy().ok()
    }

    /// Gives its terminal another size, if it has one.
    pub fn resize(&self, size: WindowSize) {
        if let Some(terminal) = self.terminal.as_ref().and_then(Weak::upgrade) {
            // A terminal that is gone has no size.
            let _ = terminal.resize(size);
        }
    }
}

/// Starts a command.
///
/// # Errors
/// Names the step that failed. Whether the program itself could be started is known when the run is finished.
pub(crate) async fn start(
    host: &Host,
    ground: Ground,
    sandbox: SandboxType,
    launch: Launch,
    driver: Driver,
) -> Result<Running, SetupFailure> {
    let claim = claim(
        host,
        &ground,
        launch.wait_for_others,
        &launch.cancel,
        driver,
    )
    .await?;
    let Prepared {
        theirs,
        streams,
        caps,
        terminal,
    } = prepare(launch.stdin, launch.output, driver)?;
    let command = launch.command;
    let order = order(&command, ground.confined(), launch.seen.as_ref())?;
    let mut order = order.last_if(launch.last);
    if terminal.is_some() {
        order = order.with_terminal();
    }
    // Before there is anything that a signal could be for.
    let begun = launch
        .attendant
        .map(|(bell, attendant)| Begun::new(attendant, bell));
    let instant = Instant::now();
    let process = match ground.confined() {
        Some(session) => session.spawn(&order, theirs)?,
        None => os::spawn_bare(&order, theirs)?,
    };
    let status = process.status().try_clone_to_owned();
    let process = Held {
        status: status
            .map_err(|error| SetupFailure::new("watch", error.raw_os_error(), error.to_string()))?,
        process: Arc::new(Mutex::new(process)),
    };
    let attendance = begun.map(|begun| Attendance {
        begun,
        control: Control::of(&process, terminal.as_ref()),
    });
    Ok(Running {
        ground,
        claim,
        process,
        terminal,
        streams,
        plan: Plan {
            attendance,
            caps,
            live: launch.live,
            wall: launch.wall,
            timing: launch.timing,
            cancel: launch.cancel,
        },
        command,
        sandbox,
        begun: instant,
        alone: launch.alone,
    })
}

/// The command as processes are told it. The file that its name meant when it was judged is the one that will be started,
/// where the sandbox sees the same file; where nobody looked then, the file that it means now.
///
/// # Errors
/// The program or the directory is no longer what was judged.
fn order(
    command: &CommandSpec,
    session: Option<&ConfinedSession>,
    seen: Option<&Seen>,
) -> Result<Order, SetupFailure> {
    let argv = [&command.program].into_iter().chain(&command.args).cloned();
    let mut order = Order::new(argv, &command.cwd).with_env(command.env.clone());
    let changed = |error: &program::ProgramError| {
        SetupFailure::new(
            "checking that the program is the judged one",
            error.errno(),
            error.to_string(),
        )
    };
    let judged = match seen {
        Some(seen) => {
            seen.still_holds().map_err(|error| changed(&error))?;
            if let (None, Some(directory)) = (session, &seen.directory) {
                order = order.in_directory(directory.dev, directory.ino);
            }
            if seen.program.is_none()
                && let Some(come) = Seen::look(command).program
                && session.is_none_or(|session| sees(session.policy(), &come))
            {
                // What was not there to be judged does not run if it has come since.
                return Err(changed(&program::ProgramError::Changed { path: come.path }));
            }
            seen.program.clone()
        }
        None => Seen::look(command).program,
    };
    Ok(match judged {
        Some(judged) if session.is_none_or(|session| sees(session.policy(), &judged)) => order
            .with_program(JudgedFile {
                path: judged.path,
                device: judged.dev,
                inode: judged.ino,
            }),
        // Whoever starts it looks again, where it is, and says what is missing.
        _ => order,
    })
}

/// Whether a session sees the file of the host, and not one of its own, at every place that leads to it.
fn sees(policy: &ResolvedPolicy, judged: &program::Judged) -> bool {
    [&judged.path, &judged.real].into_iter().all(|path| {
        AbsolutePath::new(path)
            .is_ok_and(|path| policy.place(&Access::Read(path)) == Some(Place::Host))
    })
}

/// Descriptors of both sides.
pub(super) struct Prepared {
    pub(super) theirs: Stdio,
    pub(super) streams: Streams,
    pub(super) caps: Caps,
    pub(super) terminal: Option<Arc<Pty>>,
}

fn prepare(stdin: Stdin, output: OutputMode, driver: Driver) -> Result<Prepared, SetupFailure> {
    let output = match output {
        OutputMode::Terminal { size, caps } => return on_terminal(stdin, size, caps),
        OutputMode::Host { streams, caps } => {
            return match driver {
                Driver::Blocking => handed::prepare(streams, caps),
                Driver::Tokio => Err(SetupFailure::new(
                    "passing descriptors",
                    None,
                    "the streams of this program can be given to a command that is run without a runtime only",
                )),
            };
        }
        output => output,
    };
    let (theirs_in, stdin) = match stdin {
        Stdin::Null => (os::null()?, None),
        Stdin::Descriptor(descriptor) => (descriptor, None),
        source @ (Stdin::Bytes(_) | Stdin::Queue(_)) => {
            let (ours, theirs) = os::pipe_to_child()?;
            (theirs, Some((ours, source)))
        }
    };
    let mut streams = Streams {
        stdin,
        ..Streams::default()
    };
    let (stdout, stderr, caps) = match output {
        OutputMode::Capture(caps) => {
            let (our_out, stdout) = os::pipe_from_child()?;
            let (our_err, stderr) = os::pipe_from_child()?;
            streams.stdout = Some(our_out);
            streams.stderr = Some(our_err);
            (stdout, stderr, caps)
        }
        OutputMode::Descriptors { stdout, stderr } => (stdout, stderr, Caps::default()),
        OutputMode::Terminal { .. } | OutputMode::Host { .. } => {
            (os::null()?, os::null()?, Caps::default())
        }
    };
    Ok(Prepared {
        theirs: Stdio {
            stdin: theirs_in,
            stdout,
            stderr,
        },
        streams,
        caps,
        terminal: None,
    })
}

fn on_terminal(stdin: Stdin, size: WindowSize, caps: Caps) -> Result<Prepared, SetupFailure> {
    let failed = |error: std::io::Error| {
        SetupFailure::new("terminal", error.raw_os_error(), error.to_string())
    };
    let (pty, theirs) = Pty::open(size)?;
    let copy = || pty.copy().map_err(failed);
    let stdin = match stdin {
        // Who types nothing leaves the terminal open: its end would hang the command up.
        Stdin::Null => None,
        Stdin::Descriptor(_) => {
            return Err(SetupFailure::new(
                "terminal",
                None,
                "a command on a terminal reads from it: give it bytes or a queue",
            ));
        }
        source => Some((copy()?, source)),
    };
    Ok(Prepared {
        theirs,
        streams: Streams {
            stdin,
            terminal: Some(copy()?),
            ..Streams::default()
        },
        caps,
        terminal: Some(Arc::new(pty)),
    })
}

impl Running {
    pub(crate) fn control(&self) -> Control {
        Control::of(&self.process, self.terminal.as_ref())
    }

    /// Watches it to its end, brings back what git did, and says how it ended.
    pub(crate) async fn finish(mut self, driver: Driver) -> Finished {
        let (streams, plan) = (self.streams, self.plan);
        let watch = match driver {
            Driver::Blocking => drive_blocking(&mut self.process, streams, plan),
            Driver::Tokio => drive_tokio(&mut self.process, streams, plan).await,
        };
        drop(self.process);
        let confined = self.ground.confined();
        let mut notes = watch.notes;
        let (enforcement, outcome) = match confined {
            Some(session) => {
                let refused = session.refused_hosts(self.begun);
                let watched = (&watch.cause, &watch.output);
                let refused = (refused.as_slice(), self.alone.is());
                let (outcome, told) = judged(watched, session, &self.command, refused);
                notes.extend(told);
                (session.enforcement().clone(), outcome)
            }
            None => (os::bare_enforcement(), plain(&watch.cause)),
        };
        // What the kernel says is asked for where a command failed as one does that was denied something, and told beside
        // what it says itself. Asking costs more than most commands.
        let denied = match outcome {
            Outcome::Denied { .. } => true,
            Outcome::Exited { code: 0 } | Outcome::SetupFailed(_) => false,
            _ => [&watch.output.stdout, &watch.output.stderr]
                .into_iter()
                .any(|captured| {
                    end(captured)
                        .windows(EPERM.len())
                        .any(|words| words == EPERM)
                }),
        };
        let failed = denied.then_some(watch.duration);
        notes.extend(settle(self.ground, driver, failed).await);
        drop(self.claim);
        Finished {
            outcome,
            output: watch.output,
            enforcement,
            sandbox: self.sandbox,
            duration: watch.duration,
            usage: watch.usage,
            notes,
        }
    }
}

/// Brings back what git did, asks why it failed if it did, after so long, and ends a sandbox that was for this command
/// alone.
async fn settle(ground: Ground, driver: Driver, failed: Option<Duration>) -> Vec<String> {
    match &ground {
        Ground::Bare => return Vec::new(),
        Ground::Shared(_) if ConfinedSession::TELLS_DENIALS && failed.is_some() => {}
        // Most sessions have no history of their own, and a thread for nothing costs more than the rest of a launch.
        // Whoever has the last of a session waits for its end, though.
        Ground::Shared(session) if !session.has_history() && Arc::strong_count(session) > 1 => {
            return Vec::new();
        }
        Ground::Shared(_) | Ground::Own(_) => {}
    }
    let notes = move |session: &ConfinedSession| {
        let mut notes = session.import_git();
        notes.extend(
            failed
                .map(|after| session.denials(after))
                .into_iter()
                .flatten(),
        );
        notes
    };
    let work = move || match ground {
        Ground::Bare => Vec::new(),
        Ground::Shared(session) => notes(&session),
        Ground::Own(session) => {
            let notes = notes(&session);
            session.end();
            notes
        }
    };
    match driver {
        Driver::Blocking => work(),
        Driver::Tokio => tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
            vec!["what git did may not have come back: the thread that does that ended".to_owned()]
        }),
    }
}

/// How it ended, in the words of outcomes.
fn plain(cause: &Cause) -> Outcome {
    match cause {
        Cause::Exited(code) => Outcome::Exited { code: *code },
        Cause::Signaled(signal) => Outcome::Signaled { signal: *signal },
        Cause::Limit(which) => Outcome::LimitExceeded { which: *which },
        Cause::TimedOut(after) => Outcome::TimedOut { after: *after },
        Cause::Cancelled => Outcome::Cancelled,
        Cause::Failed(failure) => Outcome::SetupFailed(failure.clone()),
        Cause::Lost(why) => Outcome::Lost { why: why.clone() },
    }
}

/// The same, with the sandbox as the reason where the oracle says so; and what else the proxy refused meanwhile, of which
/// nobody can say that it is why.
fn judged(
    (cause, output): (&Cause, &Output),
    session: &ConfinedSession,
    command: &CommandSpec,
    (refused, is_alone): (&[RefusedHost], bool),
) -> (Outcome, Vec<String>) {
    let plain = plain(cause);
    let argv: Vec<_> = [&command.program]
        .into_iter()
        .chain(&command.args)
        .cloned()
        .collect();
    let (stdout, stderr) = (end(&output.stdout), end(&output.stderr));
    let failure = Failure::new(&argv, &command.cwd, &plain, session.enforcement())
        .with_stdout(&stdout)
        .with_stderr(&stderr);
    let (mut hosts, mut told) = (Vec::new(), Vec::new());
    for one in refused {
        match one.could_be_listed() {
            Some(host) if evidence::is_linked(&failure, &host.0, is_alone) => hosts.push(host),
            // A success is none the less one, and nobody has to know what it went on without.
            Some(_) if plain.success() => {}
            Some(_) => told.push(format!(
                "{one}; whether that is why it failed is not known{}",
                by_whom(is_alone)
            )),
            None => told.push(format!("{one}{}", by_whom(is_alone))),
        }
    }
    let failure = failure.with_refused_hosts(&hosts);
    let mut evidence = evidence::denials(session.policy(), &failure);
    for one in &mut evidence {
        // What the command wrote is its own word: nobody is led by it to open what decides about commands.
        if let Evidence::Likely { smallest_grant, .. } = one {
            smallest_grant.take_if(|grant| session.own().is_opened_by(grant));
        }
    }
    let outcome = match evidence.is_empty() {
        true => plain,
        false => Outcome::Denied {
            evidence,
            exit_code: plain.exit_code(),
        },
    };
    (outcome, told)
}

/// Who else may have asked for what was refused.
const fn by_whom(is_alone: bool) -> &'static str {
    match is_alone {
        true => "",
        false => "; something else that runs in the session may have asked for it",
    }
}

/// The end of what was kept: that is where programs say why they failed.
fn end(captured: &Captured) -> Vec<u8> {
    match captured.omitted {
        0 => captured.bytes().into_owned(),
        _ => captured.tail.clone(),
    }
}
