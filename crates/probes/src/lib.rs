//! Small attempts to escape a sandbox, and useful acts that must work in one.
//!
//! A sandbox is tested by trying to leave it. Each [`Probe`] is one named attempt (`fs-open-write`, `net-udp`, ...) or
//! one useful act (`use-own-server`, ...). It runs inside the sandbox as a process of its own, the program
//! `palisade-probe`, and prints one line that says what happened ([`Report`]). Nobody has to believe that line: the
//! stage ([`stage::Stage`], on Linux) is looked at from outside before and after, and what changed there counts more
//! than what the probe says.
//!
//! The registry says what is expected of each probe in each [`Tier`], and what it does without any sandbox
//! ([`Control`]): an attempt that fails everywhere would prove nothing.
//!
//! ```
//! use palisade_probes::{Expected, Report, Tier, find};
//!
//! let probe = find("git-hooks-write").ok_or("no such probe")?;
//! assert_eq!(probe.expected(Tier::Full), Expected::Contained);
//! assert!(matches!(probe.expected(Tier::Landlock), Expected::Residue(_)));
//!
//! let report = Report::parse("refused: EROFS create .git/hooks/pre-commit").ok_or("no report")?;
//! assert!(matches!(report, Report::Refused { .. }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Terms
//!
//! - **Probe**: one named attempt or useful act, with what is expected of it.
//! - **Stage**: throw-away files, servers and a victim process, made outside the sandbox for one run.
//! - **Site**: where the stage's things are, as the probe gets it on its command line.
//! - **Evidence**: what changed on the stage, or reached it, as seen from outside.
//! - **Control**: the same probe without a sandbox.
//! - **Residue**: an attempt that is known to work in a tier, and is reported instead of denied.
//!
//! # Non-goals
//!
//! - It does not start sandboxes: the caller says how a command line is run in its subject.
//! - It does no harm, with or without a sandbox: calls that could are made with arguments that the kernel refuses, and
//!   which error comes back tells who refused. Still, controls belong on machines for tests: they look for socket
//!   families, and a kernel may load a module for one.

#[cfg(target_os = "linux")]
mod attempts;
mod probe;
mod registry;
mod report;
#[cfg(target_os = "linux")]
pub mod run;
mod site;
#[cfg(target_os = "linux")]
pub mod stage;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod useful;
mod verdict;

pub use probe::{Alone, Class, Control, Expected, Mode, Probe, Tier};
pub use registry::{all, find};
pub use report::Report;
pub use site::Site;
pub use verdict::{Outcome, Row, Verdict, table};

/// What the program `palisade-probe` does: runs the probe or the victim that its arguments name, and says what to print.
///
/// # Errors
/// The arguments name nothing that can be run.
#[cfg(target_os = "linux")]
pub fn main_of_program(arguments: &[std::ffi::OsString]) -> Result<String, String> {
    attempts::dispatch(arguments)
}
