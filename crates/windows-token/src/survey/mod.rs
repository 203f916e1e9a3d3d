//! Looks at a Windows host: who runs the command, and what is at the paths that a policy names.
//!
//! What is seen may have changed by the time of the launch: an edit opens its object again, and fails if it is another
//! one.

#[cfg(windows)]
mod globs;
#[cfg(windows)]
mod identity;
#[cfg(windows)]
mod locate;
#[cfg(windows)]
mod look;
#[cfg(windows)]
mod residue;
mod spelling;

#[cfg(windows)]
pub use locate::LocateError;
#[cfg(windows)]
pub(crate) use locate::{is_missing, locate, plain};
#[cfg(windows)]
pub use look::{SurveyError, SurveyOptions, look};
#[cfg(windows)]
pub(crate) use residue::residue;
pub use spelling::{Spelled, SpellingProblem, spelled};
