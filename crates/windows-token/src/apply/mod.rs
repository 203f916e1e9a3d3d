//! From a policy to a session, and from a command to a child: the only part that changes anything on the host.
//!
//! [`start`] repairs what a crash left, looks, lowers, asks for accepted losses, edits access lists, and makes a token. The
//! token is used only after it was seen to restrict: there is no other way to a [`Session`].

mod book;
mod child;
mod command;
mod error;
mod objects;
mod self_check;
mod session;
mod start;
mod state;
mod stdio;
mod token;

#[cfg(test)]
mod tests;

pub use child::{Child, Exit, ExitCause, Usage};
pub use command::{Command, JudgedProgram};
pub use error::{EditError, EndError, LaunchError, SelfCheckFailure, StartError, StateError};
pub use session::Session;
pub use start::{StartOptions, Started, start};
pub use state::default_state_directory;
pub use stdio::Stdio;
