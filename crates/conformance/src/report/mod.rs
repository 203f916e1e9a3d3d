//! What was found, as one value: the terminal, the pages and the files show nothing else.

mod files;
pub mod host;

pub use files::{leave, pages, read, save};
