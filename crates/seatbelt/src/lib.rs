//! The macOS sandbox: one policy, lowered to a Seatbelt profile.

pub mod apply;
pub mod denials;
pub mod host;
mod lower;
#[cfg(feature = "model")]
pub mod model;
mod plan;
pub mod profile;
pub mod survey;
#[cfg(unix)]
mod sys;
pub mod tree;

pub use host::MacHost;
pub use lower::{Seatbelt, private_places};
pub use plan::SeatbeltPlan;
pub use profile::Profile;
