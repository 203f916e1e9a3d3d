//! What each preset sets.

use palisade_policy::{GitAccess, ResourceLimits};

use super::model::Preset;
use crate::decision::AskForApproval;

/// What a preset sets, as data.
///
/// | preset | sandbox | writes | network | git | limits | asks |
/// |---|---|---|---|---|---|---|
/// | `read-only` | yes | nothing | none | read-only | moderate | on request |
/// | `workspace` | yes | the project | none | read-only | five minutes | on request |
/// | `ci` | yes | the project | none | read-only | five minutes | never |
/// | `open` | no | everything | everything | full | none | unless trusted |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PresetSettings {
    /// Whether there is a sandbox at all.
    pub confined: bool,
    /// Whether the project may be written.
    pub writes_project: bool,
    /// Whether the whole network is open; if not, nothing is.
    pub full_network: bool,
    /// What may happen to `.git`.
    pub git: GitAccess,
    /// Limits of a command.
    pub limits: ResourceLimits,
    /// When a person is asked.
    pub ask: AskForApproval,
}

impl Preset {
    /// Every preset, narrowest first.
    pub const ALL: [Self; 4] = [Self::ReadOnly, Self::Workspace, Self::Ci, Self::Open];

    /// The spelling used in policy files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Workspace => "workspace",
            Self::Ci => "ci",
            Self::Open => "open",
        }
    }

    /// What it sets.
    #[must_use]
    pub fn settings(self) -> PresetSettings {
        let workspace = PresetSettings {
            confined: true,
            writes_project: true,
            full_network: false,
            git: GitAccess::ReadOnly,
            limits: ResourceLimits::default(),
            ask: AskForApproval::OnRequest,
        };
        match self {
            Self::ReadOnly => PresetSettings {
                writes_project: false,
                limits: ResourceLimits::moderate(),
                ..workspace
            },
            Self::Workspace => workspace,
            Self::Ci => PresetSettings {
                ask: AskForApproval::Never,
                ..workspace
            },
            // Nothing contains what runs, so whatever is not known to be safe is asked about.
            Self::Open => PresetSettings {
                confined: false,
                writes_project: true,
                full_network: true,
                git: GitAccess::Full,
                limits: ResourceLimits::unlimited(),
                ask: AskForApproval::UnlessTrusted,
            },
        }
    }

    /// How much it opens. Whom it asks does not count: `workspace` and `ci` open the same.
    pub(crate) const fn openness(self) -> u8 {
        match self {
            Self::ReadOnly => 0,
            Self::Workspace | Self::Ci => 1,
            Self::Open => 2,
        }
    }
}
