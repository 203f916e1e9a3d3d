//! The Linux sandbox: one policy, lowered to mounts, Landlock, seccomp and limits, and enforced by the kernel.
//!
//! # Terms
//!
//! - **Tier**: how strong the stack is that a host supports ([`Tier`]).
//!
//! # Non-goals
//!
//! - It does not decide whether a command may run: that is `palisade-exec-policy`.

#[cfg(target_os = "linux")]
pub mod aftermath;
#[cfg(target_os = "linux")]
mod channel;
#[cfg(target_os = "linux")]
pub mod git_import;
pub mod host;
#[cfg(target_os = "linux")]
mod init;
#[cfg(target_os = "linux")]
mod launch;
mod lower;
pub mod plan;
pub mod seccomp;
pub mod step;
#[cfg(target_os = "linux")]
pub mod survey;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod wire;
#[cfg(target_os = "linux")]
pub mod wrapper;

#[cfg(target_os = "linux")]
pub use helper_entry::dispatch;
pub use host::LinuxHost;
#[cfg(target_os = "linux")]
pub use launch::{
    Child, Command, DirectChild, DirectLauncher, Exit, ExitCause, Explanation, GitHistory,
    GitImport, Helper, LaunchError, Session, StartError, Started, Stdio, Usage, start, start_on,
};
pub use lower::{LinuxLandlock, private_places, tier};
pub use plan::{Plan, Tier};
pub use step::Step;

#[cfg(target_os = "linux")]
mod helper_entry {
    //! The one call that makes a program a helper.

    use std::ffi::OsString;
    use std::process::ExitCode;

    /// Runs the sandbox helper if these arguments ask for it, and returns what to exit with; otherwise `None` at once.
    ///
    /// Call it first in `main`, before any thread is started:
    ///
    /// ```no_run
    /// use std::process::ExitCode;
    ///
    /// fn main() -> ExitCode {
    ///     if let Some(code) = palisade_linux_landlock::dispatch(std::env::args_os()) {
    ///         return code;
    ///     }
    ///     // the program itself
    ///     ExitCode::SUCCESS
    /// }
    /// ```
    pub fn dispatch(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
        let arguments: Vec<OsString> = arguments.into_iter().collect();
        crate::init::dispatch(&arguments)
    }
}
