//! How the helper is started.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Gid, Uid};

use super::error::LaunchError;
use crate::channel::Channel;
use crate::git_import::ImportOptions;
use crate::init::HELPER_ARGUMENT;

/// The program that becomes the helper of a session.
///
/// Either the executable `palisade-linux-sandbox`, or any program that calls [`dispatch`](crate::dispatch) first in
/// its `main`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Helper {
    program: PathBuf,
    patience: Duration,
    git: Option<ImportOptions>,
    ahead: Ahead,
}

/// A helper that was started before anybody knows what for. It makes what every session needs, and waits.
#[derive(Clone, Debug, Default)]
struct Ahead(Arc<Mutex<Option<Waiting>>>);

impl PartialEq for Ahead {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.is_none() && other.is_none()
    }
}

impl Eq for Ahead {}

impl Ahead {
    fn is_none(&self) -> bool {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.is_none()
    }

    fn take(&self) -> Option<Waiting> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.take()
    }
}

/// A helper that waits for its plan, and our end of its channel.
#[derive(Debug)]
struct Waiting {
    begun: Option<(Channel, Child)>,
    /// Who started it, and whose it therefore is.
    identity: Identity,
}

/// Whose processes those are that the caller makes now.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    user: Uid,
    group: Gid,
    groups: Vec<Gid>,
}

impl Identity {
    /// `None` if that cannot be told.
    fn current() -> Option<Self> {
        Some(Self {
            user: rustix::process::geteuid(),
            group: rustix::process::getegid(),
            groups: rustix::process::getgroups().ok()?,
        })
    }
}

impl Waiting {
    /// Either is enough: what it has made ahead may hold the channel for a moment longer.
    fn has_ended(&mut self) -> bool {
        let begun = self.begun.as_mut();
        begun.is_none_or(|(channel, child)| {
            channel.is_finished() || !matches!(child.try_wait(), Ok(None))
        })
    }
}

/// Nobody needed it: it takes down what it has made ahead. One that does not is killed, and then the rest goes by itself.
impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some((channel, mut child)) = self.begun.take() {
            channel.finish();
            if !channel.wait_for_end(PATIENCE) {
                let _ = child.kill();
            }
            let _ = child.wait();
        }
    }
}

/// How long a helper may take for its next step, unless the caller says otherwise: far longer than any takes, and short
/// enough that a program that is no helper is found out.
const PATIENCE: Duration = Duration::from_secs(30);

impl Helper {
    /// The program at this path. It is started with an empty environment.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            patience: PATIENCE,
            git: None,
            ahead: Ahead::default(),
        }
    }

    /// With a helper that is started now and waits for the first session that is started with this or with a clone of it:
    /// it is loaded while the caller still works out what to ask of it. Where that fails, or the helper has died by then, or
    /// the caller has become another user, that session starts one as usual. If there is no session, it is ended when the last clone of this is dropped.
    #[must_use]
    pub fn ahead(mut self) -> Self {
        let waiting = Identity::current().and_then(|identity| {
            let begun = Some(self.begin().ok()?);
            Some(Waiting { begun, identity })
        });
        self.ahead = Ahead(Arc::new(Mutex::new(waiting)));
        self
    }

    /// How long it may take to set a session up, or to end one, before it is given up and killed; half a minute unless
    /// this is called.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        // No time at all would mean forever to the kernel.
        self.patience = patience.max(Duration::from_millis(1));
        self
    }

    /// With which git, by an absolute path that no session can write, and within which bounds the history of sessions
    /// in git's `commit` mode comes back. Without it, such a session is refused unless that loss was accepted.
    #[must_use]
    pub fn with_git(mut self, options: ImportOptions) -> Self {
        self.git = Some(options);
        self
    }

    pub(super) const fn git(&self) -> Option<&ImportOptions> {
        self.git.as_ref()
    }

    pub(super) const fn patience(&self) -> Duration {
        self.patience
    }

    /// The program that is running now, which calls [`dispatch`](crate::dispatch) first in its `main`.
    #[must_use]
    pub fn current_program() -> Self {
        Self::new("/proc/self/exe")
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// A helper that waits for its plan, and our end of its channel.
    pub(super) fn connect(&self) -> Result<(Channel, Child), LaunchError> {
        let waiting = self.ahead.take();
        let begun = waiting.and_then(|mut waiting| {
            let ours = Identity::current().is_some_and(|now| now == waiting.identity);
            match ours && !waiting.has_ended() {
                true => waiting.begun.take(),
                false => None,
            }
        });
        begun.map_or_else(|| self.begin(), Ok)
    }

    /// Spawns the helper, with the channel as descriptor 0. The standard library uses `posix_spawn` here: nothing is
    /// copied, however large the caller is.
    fn begin(&self) -> Result<(Channel, Child), LaunchError> {
        let (channel, theirs) = Channel::pair().map_err(LaunchError::system)?;
        let argument = OsString::from(HELPER_ARGUMENT);
        let child = Command::new(&self.program)
            .arg(argument)
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source: io::Error| LaunchError::Helper {
                program: self.program.clone(),
                source,
            })?;
        Ok((channel, child))
    }
}
