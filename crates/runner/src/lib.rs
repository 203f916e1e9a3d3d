//! The runner: decides whether a command may run, asks where it must, runs it in its sandbox, and tells the truth about
//! how that ended.
//!
//! # Terms
//!
//! - **Host**: this machine and its user, as values ([`host`]).
//! - **Placed**: the sandbox that an attempt runs in, or none ([`launch::Placed`]).
//! - **Outcome**: how a run ended ([`outcome::Outcome`]), with its output and what was enforced.
//!
//! # Non-goals
//!
//! - It prints nothing, ends no process of yours, and reads the environment only in [`host`], when asked.

pub mod approve;
pub mod attempt;
pub mod audit;
pub mod capture;
pub mod config;
pub mod environment;
pub mod evidence;
pub mod executor;
pub mod files;
pub mod handler;
pub mod host;
pub mod judge;
pub mod launch;
mod os;
pub mod outcome;
pub mod patch;
pub mod program;
pub mod select;
pub mod session;
pub mod supervise;
pub mod workspace;

/// The rules and the decision, for those who depend on this crate alone.
pub use palisade_exec_policy as exec_policy;
/// The policy model, for those who depend on this crate alone.
pub use palisade_policy as policy;
