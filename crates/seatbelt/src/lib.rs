//! The macOS sandbox: one policy, lowered to a Seatbelt profile.

pub mod host;
pub mod profile;

pub use host::MacHost;
pub use profile::Profile;
