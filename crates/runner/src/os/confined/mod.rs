//! Sessions of the sandbox that this build has for this system. Where it has none, opening one fails: nothing ever runs
//! bare in the place of confined.

#[cfg(all(target_os = "linux", feature = "linux-landlock"))]
mod linux;
#[cfg(all(target_os = "macos", feature = "seatbelt"))]
mod macos;
#[cfg(not(any(
    all(target_os = "linux", feature = "linux-landlock"),
    all(target_os = "macos", feature = "seatbelt"),
    all(windows, feature = "windows-token")
)))]
mod none;
#[cfg(all(target_os = "linux", feature = "linux-landlock"))]
mod notes;
#[cfg(not(all(target_os = "linux", feature = "linux-landlock")))]
mod opening;
#[cfg(all(any(target_os = "macos", test), unix, feature = "seatbelt"))]
mod staged;
#[cfg(any(
    all(target_os = "linux", feature = "linux-landlock"),
    all(target_os = "macos", feature = "seatbelt")
))]
mod trusted;
#[cfg(all(windows, feature = "windows-token"))]
mod windows;

#[cfg(all(target_os = "linux", feature = "linux-landlock"))]
pub(crate) use linux::{ConfinedProcess, ConfinedSession, helper_ahead};
#[cfg(all(target_os = "macos", feature = "seatbelt"))]
pub(crate) use macos::{ConfinedProcess, ConfinedSession};
#[cfg(not(any(
    all(target_os = "linux", feature = "linux-landlock"),
    all(target_os = "macos", feature = "seatbelt"),
    all(windows, feature = "windows-token")
)))]
pub(crate) use none::ConfinedSession;
#[cfg(all(windows, feature = "windows-token"))]
pub(crate) use windows::{ConfinedProcess, ConfinedSession};
