//! What the facade shows: a policy, a sandbox that was found to work, a session, its commands.
//!
//! A [`Policy`] says what commands may touch. [`Sandbox::probe`] finds out whether this host can keep it, by setting it up.
//! A [`Session`] joins it with rules and somebody to ask; its [`Command`]s are judged, asked about, run, and tried again
//! where somebody agrees. Commands of a session share its `/tmp`, its loopback and its processes.

mod admit;
mod asked;
mod bounds;
mod child;
mod command;
mod error;
mod ground;
mod hosts;
mod policy;
mod preview;
mod progress;
mod record;
mod run;
mod sandbox;
mod state;

pub use child::Child;
pub use command::Command;
pub use error::Error;
pub use policy::Policy;
pub use preview::{Preview, Previewed, PreviewedPlace};
pub use progress::Progress;
pub use sandbox::Sandbox;
pub use state::{Session, SessionOptions};
