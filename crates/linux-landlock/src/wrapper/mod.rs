//! The command-line form of the helper: any program that can spawn another can wrap a command with it.

mod arguments;
mod run;

pub use arguments::{ArgumentError, Wrapped};
pub use run::{WrapError, run};
