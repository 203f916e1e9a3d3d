//! A session: namespaces that are set up once, and commands that belong together.

use std::ffi::OsString;
use std::io;
use std::net::TcpListener;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use palisade_policy::Environment;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::child::Child;
use super::error::LaunchError;
use super::helper::Helper;
use super::stdio::{Network, Stdio};
use crate::channel::{Channel, Frame};
use crate::marker::Marker;
use crate::plan::{GitOverlay, Limits, NetworkNamespace, Plan, Ruleset};
use crate::seccomp::Filter;
use crate::wire::{CommandRequest, ProgramRequest, Request, SetupReply, Wire};

/// A command for a session. What is here is what runs, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Command {
    /// The program and its arguments. A program without a slash is looked for in the command's own `PATH`.
    pub argv: Vec<OsString>,
    /// The environment, complete; variables of the plan take precedence, and so does `PALISADE_RUN`, by which a session
    /// knows whose process one is.
    pub env: Environment,
    /// The working directory, as the session sees it.
    pub cwd: PathBuf,
    /// The file that was judged, if somebody judged one: it is started, whatever the first argument says.
    pub program: Option<JudgedProgram>,
    /// Whether the first of its descriptors that is a terminal becomes the command's own.
    pub terminal: bool,
    /// Whether the session ends when the command has, if nothing that it started still runs.
    pub last: bool,
    /// A further Landlock layer for this command; it can only take away.
    pub narrower_rules: Option<Ruleset>,
    /// A further system-call filter for this command; it can only take away.
    pub narrower_filter: Option<Filter>,
}

impl Command {
    /// A command in a directory, with an empty environment.
    pub fn new<A: Into<OsString>>(
        argv: impl IntoIterator<Item = A>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            env: Environment::new(),
            cwd: cwd.into(),
            program: None,
            terminal: false,
            last: false,
            narrower_rules: None,
            narrower_filter: None,
        }
    }

    /// With this environment in place of the other.
    #[must_use]
    pub fn with_env(mut self, env: Environment) -> Self {
        self.env = env;
        self
    }

    /// With this file as its program, by an absolute path and by what it was when it was judged: its device and inode
    /// number. The arguments stay as they are. If another file is there when the command is about to start, it is not
    /// started ([`Step::ProgramChanged`](crate::Step::ProgramChanged)).
    #[must_use]
    pub fn with_program(mut self, path: impl Into<PathBuf>, device: u64, inode: u64) -> Self {
        self.program = Some(JudgedProgram {
            path: path.into(),
            device,
            inode,
        });
        self
    }

    /// With the first of its descriptors that is a terminal as its controlling terminal.
    #[must_use]
    pub fn with_terminal(mut self) -> Self {
        self.terminal = true;
        self
    }

    /// The last of its session, which ends when the command has, as if whoever waits for that had said so at once; but not
    /// while something that was started in it still runs. History that is to come back from git needs the session longer.
    #[must_use]
    pub fn as_last(mut self) -> Self {
        self.last = true;
        self
    }

    /// With a further Landlock layer and a further filter.
    #[must_use]
    pub fn narrowed(mut self, rules: Option<Ruleset>, filter: Option<Filter>) -> Self {
        self.narrower_rules = rules;
        self.narrower_filter = filter;
        self
    }

    /// The command as the one who starts it gets it.
    pub(super) fn request(&self, id: u32, marker: Option<Marker>) -> CommandRequest {
        CommandRequest {
            id,
            argv: self.argv.clone(),
            env: self
                .env
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            cwd: self.cwd.clone().into_os_string(),
            program: self.program.as_ref().map(|program| ProgramRequest {
                path: program.path.clone().into_os_string(),
                device: program.device,
                inode: program.inode,
            }),
            marker,
            terminal: self.terminal,
            last: self.last,
            narrower_rules: self.narrower_rules.clone(),
            narrower_filter: self.narrower_filter.clone(),
        }
    }
}

/// A file that was judged, and what it was then.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JudgedProgram {
    /// Where it is, absolute, as the session sees it.
    pub path: PathBuf,
    /// The device that it is on, as `stat` says.
    pub device: u64,
    /// Its inode number.
    pub inode: u64,
}

/// A running session. Everything in it ends when this is dropped, or when the process that holds it dies.
#[derive(Debug)]
pub struct Session {
    connection: Arc<Connection>,
    helper: std::process::Child,
    patience: Duration,
    limits: Limits,
    has_landlock: bool,
    network: Network,
    git: Vec<OwnedFd>,
    /// What refreshes each of these views.
    git_handles: Vec<OwnedFd>,
    overlays: Vec<GitOverlay>,
    tmpdir: Option<PathBuf>,
    /// Whether the plan has a proxy.
    proxied: bool,
    proxy_listener: Option<TcpListener>,
    next_id: AtomicU32,
}

/// The caller's end of the channel, shared with the children.
#[derive(Debug)]
pub(super) struct Connection {
    channel: Channel,
    /// Held while a frame is sent, so that none gets into another.
    sending: Mutex<()>,
}

impl Connection {
    pub(super) fn send(
        &self,
        request: &Request,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<(), LaunchError> {
        // A frame that a panicking thread left half sent ends the session at the other side, which is safe.
        let _alone = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        self.channel
            .send(&request.to_bytes(), descriptors)
            .map_err(|_| LaunchError::SessionLost)
    }
}

impl Session {
    /// Starts a helper and lets it set the plan up.
    ///
    /// # Errors
    /// Names the step that failed; nothing has run and nothing is left behind.
    pub fn start(plan: &Plan, helper: &Helper) -> Result<Self, LaunchError> {
        Self::begin(plan, helper)?.finish(helper)
    }

    /// Starts a helper and hands the plan over. It is set up while the caller does something else.
    pub(super) fn begin(plan: &Plan, helper: &Helper) -> Result<Beginning, LaunchError> {
        let (channel, child) = helper.connect()?;
        let mut session = Self {
            connection: Arc::new(Connection {
                channel,
                sending: Mutex::new(()),
            }),
            helper: child,
            patience: helper.patience(),
            limits: plan.limits,
            has_landlock: plan.landlock.is_some(),
            network: Network::of(plan),
            git: Vec::new(),
            git_handles: Vec::new(),
            overlays: plan.git.clone(),
            tmpdir: None,
            proxied: plan.network == NetworkNamespace::Proxied,
            proxy_listener: None,
            next_id: AtomicU32::new(1),
        };
        session
            .introduce(plan)
            .map_err(|errno| session.give_up(helper, errno))?;
        Ok(Beginning(session))
    }

    /// Hands the plan over.
    fn introduce(&self, plan: &Plan) -> Result<(), Errno> {
        let channel = &self.connection.channel;
        channel.set_patience(Some(self.patience))?;
        channel.send(&plan.to_bytes(), &[])
    }

    /// Waits for the answer.
    fn answer(&self) -> Result<Frame, Errno> {
        let channel = &self.connection.channel;
        let answer = channel.receive()?.ok_or(Errno::PIPE)?;
        channel.set_patience(None)?;
        Ok(answer)
    }

    /// Ends a helper that does not behave like one.
    fn give_up(&mut self, helper: &Helper, errno: Errno) -> LaunchError {
        let _ = self.helper.kill();
        match errno {
            Errno::AGAIN => LaunchError::Helper {
                program: helper.program().to_owned(),
                source: io::Error::new(io::ErrorKind::TimedOut, "no answer"),
            },
            Errno::PIPE | Errno::CONNRESET | Errno::BADMSG | Errno::TOOBIG => {
                LaunchError::SessionLost
            }
            errno => LaunchError::system(errno),
        }
    }

    /// Asks for a command. Whether it could be started is what [`Child::wait`] says.
    ///
    /// # Errors
    /// A descriptor is not one that a command may have, or the session is gone.
    pub fn spawn(&self, command: &Command, stdio: &Stdio) -> Result<Child, LaunchError> {
        stdio.check(self.has_landlock, self.network)?;
        self.refresh_git();
        let (status, theirs) = pipe_with(PipeFlags::CLOEXEC).map_err(LaunchError::system)?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let marker = Marker::random().map_err(LaunchError::system)?;
        let request = Request::Command(Box::new(command.request(id, Some(marker))));
        let [stdin, stdout, stderr] = stdio.descriptors();
        let theirs_borrowed = std::os::fd::AsFd::as_fd(&theirs);
        self.connection
            .send(&request, &[theirs_borrowed, stdin, stdout, stderr])?;
        let connection = Arc::clone(&self.connection);
        Ok(Child::new(connection, id, status, self.limits))
    }

    /// Whether whoever starts its commands is still there.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        !self.connection.channel.is_finished() && !self.helper_has_ended()
    }

    /// Whether anything of any command runs in it; nothing if that cannot be told, as where processes have no namespace of
    /// their own.
    #[must_use]
    pub fn has_processes(&self) -> Option<bool> {
        super::occupants::any(self.helper.id())
    }

    /// The helper's own end is the session's, also while those who remain still take it down.
    fn helper_has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // Where somebody else reaps the children of this program, only the channel can tell.
        let ended = waitid(WaitId::Pid(Pid::from_child(&self.helper)), options);
        matches!(ended, Ok(Some(_)))
    }

    /// The session's view of each git directory of the plan, in the same order: what an import reads from.
    #[must_use]
    pub fn git_views(&self) -> &[OwnedFd] {
        &self.git
    }

    /// Lets the session see the host's git directories as they are now, where it has not changed them itself.
    ///
    /// The kernel remembers names that were once looked up and does not ask the file system below again. A lock that
    /// the host's git held at that moment would be in the way of the session's git for ever.
    pub(super) fn refresh_git(&self) {
        for handle in &self.git_handles {
            // It forgets such names when a file system is reconfigured, though nothing in it changes. Where that is
            // refused, git says which lock is in the way, and removing it inside helps.
            let _ = rustix::mount::fsconfig_reconfigure(handle);
        }
    }

    /// The git directories of the plan.
    pub(super) fn git_overlays(&self) -> &[GitOverlay] {
        &self.overlays
    }

    /// The socket on the session's own loopback that its [proxy](crate::plan::PROXY) is to accept from, once; `None` if
    /// the plan has none. Until somebody accepts, whoever connects waits.
    #[must_use]
    pub const fn take_proxy_listener(&mut self) -> Option<TcpListener> {
        self.proxy_listener.take()
    }

    /// The private temporary directory of the landlock tier.
    #[must_use]
    pub fn tmpdir(&self) -> Option<&Path> {
        self.tmpdir.as_deref()
    }

    /// Begins what [`end`](Self::end) does: everything in it ends, and no command is started any more. Does not wait.
    pub fn begin_end(&self) {
        self.connection.channel.finish();
    }

    /// Ends everything in the session, and waits until nothing of it is left. A helper that does not come to its end
    /// within its patience ([`Helper::with_patience`]) is killed.
    pub fn end(self) {
        drop(self);
    }
}

/// A session whose plan was handed over, and that has not answered yet. Dropped, it ends like any other.
#[derive(Debug)]
pub(super) struct Beginning(Session);

impl Beginning {
    /// Waits until the session is set up.
    ///
    /// # Errors
    /// As [`Session::start`].
    pub(super) fn finish(self, helper: &Helper) -> Result<Session, LaunchError> {
        let Self(mut session) = self;
        let (reply, mut descriptors) = session
            .answer()
            .map_err(|errno| session.give_up(helper, errno))?;
        let reply =
            SetupReply::from_bytes(&reply).map_err(|_| session.give_up(helper, Errno::BADMSG))?;
        if let Some(failure) = reply.failure {
            return Err(failure.into());
        }
        let views = session.overlays.len();
        // A view for the wrong repository would bring history to where it does not belong.
        if descriptors.len() != views * 2 + usize::from(session.proxied) {
            return Err(session.give_up(helper, Errno::BADMSG));
        }
        if session.proxied {
            session.proxy_listener = descriptors.pop().map(TcpListener::from);
        }
        session.git_handles = descriptors.split_off(views);
        session.git = descriptors;
        session.tmpdir = reply.tmpdir.map(PathBuf::from);
        Ok(session)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The views would keep the session's mounts alive.
        self.git.clear();
        self.git_handles.clear();
        let channel = &self.connection.channel;
        channel.finish();
        if !channel.wait_for_end(self.patience) {
            // Stopped by somebody, or not ours: then nothing is known about who else holds the channel.
            let _ = self.helper.kill();
            let _ = channel.wait_for_end(self.patience);
        }
        let _ = self.helper.wait();
    }
}
