//! The macOS sandbox: one policy, lowered to a Seatbelt profile.

pub mod host;
#[cfg(feature = "model")]
pub mod model;
pub mod profile;

pub use host::MacHost;
pub use profile::Profile;
