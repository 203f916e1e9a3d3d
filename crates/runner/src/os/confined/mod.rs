//! Sessions of the sandbox that this build has for this system. Where it has none, opening one fails: nothing ever runs
//! bare in the place of confined.

#[cfg(all(target_os = "linux", feature = "linux-landlock"))]
mod linux;
#[cfg(not(all(target_os = "linux", feature = "linux-landlock")))]
mod none;
#[cfg(all(target_os = "linux", feature = "linux-landlock"))]
mod notes;

#[cfg(all(target_os = "linux", feature = "linux-landlock"))]
pub(crate) use linux::{ConfinedProcess, ConfinedSession};
#[cfg(not(all(target_os = "linux", feature = "linux-landlock")))]
pub(crate) use none::ConfinedSession;
