//! What happens to a command on its way, for those who report it as it happens.

use std::fmt;
use std::sync::Arc;

use palisade_policy::{CanonicalSandboxPolicy, SandboxType};

use crate::judge::Judgement;

/// Something that happened to a command.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// The rules and the approval policy have spoken. Nobody was asked yet.
    Judged(&'a Judgement),
    /// It is about to be started; more than once if somebody agreed to try again.
    Starting {
        /// In this sandbox.
        sandbox: SandboxType,
        /// Under this policy.
        policy: &'a CanonicalSandboxPolicy,
    },
}

/// Who is told. It is told on the thread that runs the command, and changes nothing.
#[derive(Clone, Default)]
pub(super) struct Watcher(Option<Arc<Listener>>);

type Listener = dyn Fn(&Progress<'_>) + Send + Sync;

impl Watcher {
    pub(super) fn new(watcher: impl Fn(&Progress<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(watcher)))
    }

    pub(super) fn tell(&self, progress: &Progress<'_>) {
        if let Some(watcher) = &self.0 {
            watcher(progress);
        }
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Some(_) => "Somebody",
            None => "Nobody",
        })
    }
}
