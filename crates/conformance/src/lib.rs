//! Evidence: what our sandboxes stop, what they leave working and what they cost, measured in one run beside others.
//!
//! Everything here starts *subjects*: programs that run a command line in a sandbox. Ours are the library, the helper and
//! the command; peers are those that are installed. `cargo xtask escapes`, `useful`, `denials`, `friction` and `bench`
//! build what is measured and start the program of this crate.
//!
//! ```
//! use palisade_conformance::subject::{self, Kind};
//!
//! let ours = subject::all().filter(|subject| subject.kind == Kind::Ours);
//! assert_eq!(ours.map(|subject| subject.name).collect::<Vec<_>>(), ["library", "helper", "command"]);
//! ```
//!
//! # Terms
//!
//! - **Subject**: what runs a command line in a sandbox, as a prefix to that line.
//! - **Place**: the workspace, home and policy that a subject is told about.
//! - **Programs**: where the programs are that subjects consist of.
//! - **Peer**: a subject that is not ours; `absent` if it is not installed.
//!
//! # Non-goals
//!
//! - It is no part of the product: nothing depends on it, and it is never published.
//! - It proves no peer wrong: a peer's column is what was seen with one documented command line.

#[cfg(target_os = "linux")]
pub mod bench;
#[cfg(target_os = "linux")]
pub mod denials;
#[cfg(target_os = "linux")]
pub mod escapes;
#[cfg(target_os = "linux")]
pub mod friction;
#[cfg(target_os = "linux")]
pub mod launch;
pub mod options;
#[cfg(target_os = "linux")]
pub mod report;
#[cfg(target_os = "linux")]
pub mod subject;
#[cfg(target_os = "linux")]
pub mod useful;
#[cfg(target_os = "linux")]
pub mod weaker;
