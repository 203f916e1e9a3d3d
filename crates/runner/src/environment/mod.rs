//! The environment of a command, always rebuilt.
//!
//! A command never gets the environment of whoever started it. It gets what an [`EnvironmentPolicy`] lets through, then
//! what was set for it, then the markers that say where it runs. The same model serves policy files, the command line and
//! the library.
//!
//! What looks like a secret, opens a door to a service outside, or makes a program load code is left out under every
//! mode. It comes through only where it is named: by an entry of `keep` without a star, or by `set`. What was left out
//! is reported by name and reason, never by value.

mod model;
mod os_text;
mod pattern;
pub(crate) mod secrets;

pub(crate) use model::code_loading;
pub use model::{
    Built, EnvError, EnvironmentPolicy, Excluded, Inherit, MARKER, Markers, NETWORK_MARKER, Why,
    sandbox_name,
};
pub use pattern::{NamePattern, PatternError};
