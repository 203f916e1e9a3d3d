//! From a profile and a command to the words that start it: `/usr/bin/sandbox-exec`, by its absolute path and never
//! through a search path.
//!
//! # How a run that never began is told from one that ended badly
//!
//! `sandbox-exec` applies the profile to itself and then executes the command in its own process. What it says when it
//! fails are exit codes that a command may use as well: 71 where the profile could not be applied (a sandbox around it)
//! or the program could not be executed, 65 where the profile does not compile, 64 where its own words are wrong. So the
//! code alone proves nothing, and neither does what is on the error stream, which belongs to the command.
//!
//! Therefore `sandbox-exec` starts a helper of ours ([`stage`]), which says over a descriptor of its own that it runs,
//! marks that descriptor to be closed by exec, and becomes the command. Nothing that a command does can be said over that
//! descriptor: it is gone when the command's first instruction runs. If nothing was said, the command did not run, and
//! the exit code tells why ([`ApplyError::never_entered`]).
//!
//! Who wraps a command without the helper, to spawn it by other means, cannot tell the two apart; such words are for
//! callers who take both for a failure ([`Launch::words`]).
//!
//! Not known before it was tried on a Mac: that `sandbox-exec` passes descriptor 3 on, which nothing published
//! contradicts. If it did not, every run would be refused as one that was never entered.

mod error;
mod look;
mod session_tmp;
pub mod stage;
mod tag;
mod words;

pub use error::ApplyError;
pub use look::{look, look_at};
pub use session_tmp::SessionTmp;
pub use tag::RunTag;
pub use words::{Launch, SANDBOX_EXEC};
