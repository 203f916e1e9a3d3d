//! First attempt, narrower retry, retry without sandbox: one engine, generic over what an attempt returns.
//!
//! The engine knows nothing of processes or prompts. Whoever uses it says how an attempt is made and how a person is
//! asked ([`Attempting`]); what may happen after a denial is said by the placement that was decided before
//! ([`Attempts`]). It adds to a policy only what somebody granted, and leaves the sandbox only after somebody approved
//! exactly that.
//!
//! The questions, in order:
//!
//! 1. If the evidence names something that a grant would open: that grant. A no ends it: whoever refuses a small thing
//!    is not asked for everything.
//! 2. If it names nothing, or the grants did not help: to run without the sandbox, if the policy may be left at all.

mod engine;
mod question;
mod traced;

pub use engine::{Attempted, Attempting, Attempts, Retry, Tried, run};
pub use question::{Notice, RetryKind, RetryQuestion};
pub(crate) use traced::traced;
