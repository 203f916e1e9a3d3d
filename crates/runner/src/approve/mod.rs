//! Asking a person: prompter, caches and keys.
//!
//! A question is a [`Prompt`]; whoever can put one to a person is a [`Prompter`]. An answer is kept in one of two
//! places until the session ends: [`ApprovalStore`] holds what was answered to a key, [`ApprovalCache`] what was approved.
//! Both are read with keys that name purpose, command, directory and policy ([`ApprovalKey`]): approving a run never
//! approves an unsandboxed run, and a changed policy voids what was approved under the old one.
//!
//! Whatever goes wrong while asking means no: a prompter that panics, one that is dropped, a key that cannot be written.

mod cache;
mod key;
mod prompt;
mod prompter;
mod queue;
mod store;
mod visible;

use std::future::Future;
use std::pin::Pin;

pub use cache::{ApprovalCache, PrefixApproval};
pub use key::{ApprovalKey, fingerprint};
pub use prompt::Prompt;
pub use prompter::{NoPrompter, Prompter, ask, no_on_panic};
pub use queue::{Asked, QueuePrompter, prompt_queue};
pub use store::{ApprovalStore, with_cached_approval};
pub use visible::{visible, visible_command};

/// A future that can be sent between threads and whose type nobody has to name.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
