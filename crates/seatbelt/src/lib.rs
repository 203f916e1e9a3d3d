//! The macOS sandbox: one policy, lowered to a Seatbelt profile.

pub mod apply;
pub mod denials;
pub mod host;
pub mod profile;
#[cfg(unix)]
mod sys;
pub mod tree;

pub use host::MacHost;
pub use profile::Profile;
