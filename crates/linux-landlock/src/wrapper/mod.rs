//! The command-line form of the helper: any program that can spawn another can wrap a command with it.
//!
//! ```text
//! palisade-linux-sandbox --sandbox-policy-cwd DIR --sandbox-policy JSON [--seccomp-profile JSON]
//!     [--resource-limits JSON] [--accept-loss NAME]... [--status-fd N]
//!     [--host-home DIR] [--host-tmpdir DIR] -- COMMAND...
//! ```
//!
//! The environment of the wrapper is the command's. Whoever gives the command a `HOME` or `TMPDIR` of its own says with
//! the last two options which directories the policy means; empty is none.
//!
//! [`Wrapped`] is such a command line, read strictly, and [`run`] a session with that one command, whose history comes
//! back through the git that [`find_git`] finds. It keeps no clock: whoever needs one ends the wrapper.

mod arguments;
mod git;
mod program;
mod run;

pub use arguments::{ArgumentError, Wrapped};
pub use git::find_git;
pub use program::{main, main_of_wrapper};
pub use run::{Outcome, WrapError, run};
