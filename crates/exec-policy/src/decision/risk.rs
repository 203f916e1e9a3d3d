//! How risky a command looks, apart from what the rules say about it.
#![expect(
    clippy::exhaustive_enums,
    reason = "every caller must decide what a new risk means to it"
)]

use serde::{Deserialize, Serialize};

/// How risky a command looks.
///
/// A danger is something to ask about. What must never run is a forbid rule, not a danger.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// Plain, and every segment only reads.
    KnownSafe,
    /// Nothing is known about it.
    #[default]
    Unknown,
    /// Destroys or overwrites what cannot be had back.
    Dangerous,
}

impl Risk {
    /// Every risk, lowest first.
    pub const ALL: [Self; 3] = [Self::KnownSafe, Self::Unknown, Self::Dangerous];

    /// The name that tables and explanations use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::KnownSafe => "known-safe",
            Self::Unknown => "unknown",
            Self::Dangerous => "dangerous",
        }
    }
}
