//! The command-line form of the sandbox: any program that can spawn another can wrap a command with it.
//!
//! ```text
//! palisade-windows-sandbox --sandbox-policy-cwd DIR --sandbox-policy JSON [--seccomp-profile JSON]
//!     [--resource-limits JSON] [--accept-loss NAME]... [--state-directory DIR]
//!     [--host-home DIR] [--host-tmpdir DIR] -- COMMAND...
//! ```
//!
//! The words are those of the wrapper for Linux. The environment of the wrapper is the command's; whoever gives the command
//! directories of its own says with the last two options which ones the policy means; empty is none. A status descriptor
//! does not exist here: Windows has no numbers that are inherited.
//!
//! [`Wrapped`] is such a command line, read strictly, and `run` a session with that one command. It keeps no clock: whoever
//! needs one ends the wrapper, and with it everything that runs in its session.

mod arguments;
#[cfg(windows)]
mod program;
#[cfg(windows)]
mod run;

pub use arguments::{ArgumentError, Wrapped};
#[cfg(windows)]
pub use program::main_of_wrapper;
#[cfg(windows)]
pub use run::{WrapError, run};
