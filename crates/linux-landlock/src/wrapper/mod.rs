//! The command-line form of the helper: any program that can spawn another can wrap a command with it.

mod arguments;
mod git;
mod run;

pub use arguments::{ArgumentError, Wrapped};
pub use git::find_git;
pub use run::{Outcome, WrapError, run};
