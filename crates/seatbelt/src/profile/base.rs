//! The rules that do not depend on the policy: commented text, kept as files so that they can be read and reviewed.

use std::fmt;

/// A part of the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum BasePart {
    /// What developer tools need to start and to run, besides files: every run has it.
    DeveloperTools,
    /// The settings of programs, for runs that may read the files that hold them.
    Preferences,
    /// What tools need to use a network that the policy opens as a whole.
    Network,
}

impl BasePart {
    /// Every part.
    pub const ALL: [Self; 3] = [Self::DeveloperTools, Self::Preferences, Self::Network];

    /// Its name, which is that of its file in `base/`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DeveloperTools => "developer-tools",
            Self::Preferences => "preferences",
            Self::Network => "network",
        }
    }

    /// Its rules, comments included.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::DeveloperTools => include_str!("../../base/developer-tools.sbpl"),
            Self::Preferences => include_str!("../../base/preferences.sbpl"),
            Self::Network => include_str!("../../base/network.sbpl"),
        }
    }
}

impl fmt::Display for BasePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
