//! Sessions of the sandbox that this build has for this system. Where it has none, opening one fails: nothing ever runs
//! bare in the place of confined.

#[cfg(all(target_os = "linux", feature = "linux-landlock"))]
mod linux;
#[cfg(not(any(
    all(target_os = "linux", feature = "linux-landlock"),
    all(windows, feature = "windows-token")
)))]
mod none;
#[cfg(all(target_os = "linux", feature = "linux-landlock"))]
mod notes;
#[cfg(all(windows, feature = "windows-token"))]
mod windows;

#[cfg(all(target_os = "linux", feature = "linux-landlock"))]
pub(crate) use linux::{ConfinedProcess, ConfinedSession};
#[cfg(not(any(
    all(target_os = "linux", feature = "linux-landlock"),
    all(windows, feature = "windows-token")
)))]
pub(crate) use none::ConfinedSession;
#[cfg(all(windows, feature = "windows-token"))]
pub(crate) use windows::{ConfinedProcess, ConfinedSession};
