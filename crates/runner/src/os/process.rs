//! One running command, whichever kind.

use std::os::fd::BorrowedFd;

use palisade_policy::{Enforcement, Guarantee, Measure};

#[cfg(any(target_os = "linux", target_os = "macos"))]
use super::bare::BareProcess;
#[cfg(any(
    all(target_os = "linux", feature = "linux-landlock"),
    all(target_os = "macos", feature = "seatbelt")
))]
use super::confined::ConfinedProcess;
use super::order::Order;
use super::stdio::Stdio;
use crate::outcome::SetupFailure;
use crate::supervise::{Ended, NoEnd};

/// The signal that asks a command to end.
pub(crate) const TERMINATE: i32 = libc::SIGTERM;

/// The signal that lets a stopped command go on.
pub(crate) const CONTINUE: i32 = libc::SIGCONT;

/// The signal that says that the terminal is gone.
pub(crate) const HANG_UP: i32 = libc::SIGHUP;

/// A running command. One that is dropped before its end was seen is ended, with all that it started.
#[derive(Debug)]
pub(crate) enum Process {
    /// In a session of the sandbox.
    #[cfg(any(
        all(target_os = "linux", feature = "linux-landlock"),
        all(target_os = "macos", feature = "seatbelt")
    ))]
    Confined(ConfinedProcess),
    /// Without a sandbox.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    Bare(BareProcess),
}

#[cfg_attr(
    not(any(target_os = "linux", target_os = "macos")),
    expect(
        unused_variables,
        clippy::uninhabited_references,
        reason = "there is none"
    )
)]
impl Process {
    /// Readable when something new is known, and from then on until the end has been asked for.
    pub(crate) fn status(&self) -> BorrowedFd<'_> {
        match *self {
            #[cfg(any(
                all(target_os = "linux", feature = "linux-landlock"),
                all(target_os = "macos", feature = "seatbelt")
            ))]
            Self::Confined(ref process) => process.status(),
            #[cfg(any(target_os = "linux", target_os = "macos"))]
            Self::Bare(ref process) => process.status(),
        }
    }

    /// How it ended; `None` if it has not. Never waits. Asked again, it says the same again.
    ///
    /// # Errors
    /// It was not started; or how it ended cannot be known, because its session or somebody else took that away.
    pub(crate) fn try_end(&mut self) -> Result<Option<Ended>, NoEnd> {
        match *self {
            #[cfg(any(
                all(target_os = "linux", feature = "linux-landlock"),
                all(target_os = "macos", feature = "seatbelt")
            ))]
            Self::Confined(ref mut process) => process.try_end(),
            #[cfg(any(target_os = "linux", target_os = "macos"))]
            Self::Bare(ref mut process) => process.try_end(),
        }
    }

    /// Sends a signal to its process group. One that has ended gets none.
    pub(crate) fn signal(&self, signal: i32) {
        match *self {
            #[cfg(any(
                all(target_os = "linux", feature = "linux-landlock"),
                all(target_os = "macos", feature = "seatbelt")
            ))]
            Self::Confined(ref process) => process.signal(signal),
            #[cfg(any(target_os = "linux", target_os = "macos"))]
            Self::Bare(ref process) => process.signal(signal),
        }
    }

    /// Ends it with all that it started, and goes on until nothing is left, without the caller. It may have ended.
    pub(crate) fn kill_tree(&mut self) {
        match *self {
            #[cfg(any(
                all(target_os = "linux", feature = "linux-landlock"),
                all(target_os = "macos", feature = "seatbelt")
            ))]
            Self::Confined(ref mut process) => process.kill_tree(),
            #[cfg(any(target_os = "linux", target_os = "macos"))]
            Self::Bare(ref mut process) => process.kill_tree(),
        }
    }
}

/// Starts a command without a sandbox, and returns when its program runs.
///
/// # Errors
/// Names the step that failed; nothing ran.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) fn spawn_bare(order: &Order, stdio: Stdio) -> Result<Process, SetupFailure> {
    BareProcess::spawn(order, &stdio).map(Process::Bare)
}

/// Nothing is started: how this system is to be asked is not written yet.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn spawn_bare(_order: &Order, _stdio: Stdio) -> Result<Process, SetupFailure> {
    Err(SetupFailure::new(
        "making a process",
        None,
        "this build cannot start commands on this system; use it on Linux",
    ))
}

/// What holds for a command without a sandbox: nothing, but that most of its tree is found when it is ended.
pub(crate) fn bare_enforcement() -> Enforcement {
    let (mechanism, why) = match cfg!(all(target_os = "macos", not(feature = "seatbelt"))) {
        false => (
            "process group, process session, descent and a mark in the environment",
            "without a sandbox, a process that sheds all four at once outlives its command",
        ),
        true => (
            "process group",
            "a process that leaves the group outlives its command",
        ),
    };
    Enforcement::new()
        .with(
            Guarantee::TreeKill,
            Measure::detected(mechanism)
                .because(why)
                .cured_by("run the command in a sandbox"),
        )
        .with_note("no sandbox: the policy confines nothing")
}
