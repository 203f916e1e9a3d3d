//! How the helper is started.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::error::LaunchError;
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
        }
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

    /// Spawns the helper, with the channel as descriptor 0. The standard library uses `posix_spawn` here: nothing is
    /// copied, however large the caller is.
    pub(super) fn spawn(&self, channel: OwnedFd) -> Result<Child, LaunchError> {
        let argument = OsString::from(HELPER_ARGUMENT);
        Command::new(&self.program)
            .arg(argument)
            .env_clear()
            .stdin(Stdio::from(channel))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source: io::Error| LaunchError::Helper {
                program: self.program.clone(),
                source,
            })
    }
}
