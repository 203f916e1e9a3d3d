//! One running command, whichever kind.

use palisade_policy::{Enforcement, Guarantee, Measure};

#[cfg(feature = "windows-token")]
use super::confined::ConfinedProcess;
use super::order::Order;
use super::stdio::Stdio;
use super::windows::bare::BareProcess;
use crate::launch::BorrowedDescriptor;
use crate::outcome::SetupFailure;
use crate::supervise::{Ended, NoEnd};

/// What asks a command to end. Windows has no such signal for a program without a window or a console of ours: it ends
/// at once, with all that it started.
pub(crate) const TERMINATE: i32 = 15;

/// What lets a stopped command go on. Nothing stops one here.
pub(crate) const CONTINUE: i32 = 18;

/// The signal that says that the terminal is gone.
pub(crate) const HANG_UP: i32 = 1;

/// A running command. One that is dropped before its end was seen is ended, with all that it started.
#[derive(Debug)]
pub(crate) enum Process {
    /// In a session of the sandbox.
    #[cfg(feature = "windows-token")]
    Confined(ConfinedProcess),
    /// Without a sandbox.
    Bare(BareProcess),
}

impl Process {
    /// A handle that is signalled when it has ended.
    pub(crate) fn status(&self) -> BorrowedDescriptor<'_> {
        match self {
            #[cfg(feature = "windows-token")]
            Self::Confined(process) => process.status(),
            Self::Bare(process) => process.status(),
        }
    }

    /// How it ended; `None` if it has not. Never waits. Asked again, it says the same again.
    ///
    /// # Errors
    /// How it ended cannot be known.
    pub(crate) fn try_end(&mut self) -> Result<Option<Ended>, NoEnd> {
        match self {
            #[cfg(feature = "windows-token")]
            Self::Confined(process) => process.try_end(),
            Self::Bare(process) => process.try_end(),
        }
    }

    /// Ends it with all that it started, if the signal is one that ends; others mean nothing here.
    pub(crate) fn signal(&mut self, signal: i32) {
        match self {
            #[cfg(feature = "windows-token")]
            Self::Confined(process) => process.signal(signal),
            Self::Bare(process) => process.signal(signal),
        }
    }

    /// Ends it with all that it started. It may have ended.
    pub(crate) fn kill_tree(&mut self) {
        match self {
            #[cfg(feature = "windows-token")]
            Self::Confined(process) => process.kill_tree(),
            Self::Bare(process) => process.kill_tree(),
        }
    }
}

/// Starts a command without a sandbox.
///
/// # Errors
/// Names the step that failed; nothing ran.
pub(crate) fn spawn_bare(order: &Order, stdio: Stdio) -> Result<Process, SetupFailure> {
    BareProcess::spawn(order, &stdio).map(Process::Bare)
}

/// What holds for a command without a sandbox: nothing, but that all of its tree ends when it is ended.
pub(crate) fn bare_enforcement() -> Enforcement {
    Enforcement::new()
        .with(
            Guarantee::TreeKill,
            Measure::enforced("a job that nothing in it can leave"),
        )
        .with_note("no sandbox: the policy confines nothing")
}
