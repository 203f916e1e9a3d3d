//! The macOS sandbox: one policy, lowered to a Seatbelt profile.

pub mod host;
mod lower;
#[cfg(feature = "model")]
pub mod model;
mod plan;
pub mod profile;
pub mod survey;

pub use host::MacHost;
pub use lower::{Seatbelt, private_places};
pub use plan::SeatbeltPlan;
pub use profile::Profile;
