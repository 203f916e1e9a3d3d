//! Every combination of the finite inputs of the decision, and the table that they merge into.
//!
//! The page `docs/decision-matrix.md` and the laws in this crate's tests are made from this module, and from nothing
//! but calls of the functions that decide.

mod cases;
mod describe;
mod merge;
mod outcome;
mod page;
mod presets;

pub use cases::{Case, Request, VerdictKind, cases};
pub use merge::{Row, rows};
pub use outcome::Outcome;
pub use page::markdown;
