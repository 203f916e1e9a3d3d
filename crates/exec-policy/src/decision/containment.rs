//! Whether a sandbox of ours is expected around a command, and which one works here.
//!
//! The decision and the placement both ask this file, so they cannot disagree about what *contained* means.
#![expect(
    clippy::exhaustive_enums,
    reason = "every caller must decide what a new preference means to it"
)]

use palisade_policy::{SandboxPolicy, SandboxType};
use serde::{Deserialize, Serialize};

/// What a tool wants of the sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxablePreference {
    /// What the policy says.
    #[default]
    Auto,
    /// Always a sandbox, also where the policy has none; without a working one, nothing runs.
    Require,
    /// Better without. This is a request, judged like a requested escalation.
    Forbid,
}

impl SandboxablePreference {
    /// Every preference.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Require, Self::Forbid];

    /// The name that tables use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Require => "require",
            Self::Forbid => "forbid",
        }
    }
}

/// A sandbox that works on this host. There is no such value for [`SandboxType::None`].
///
/// ```
/// use palisade_exec_policy::WorkingBackend;
/// use palisade_policy::SandboxType;
///
/// assert!(WorkingBackend::new(SandboxType::LinuxLandlock).is_some());
/// assert!(WorkingBackend::new(SandboxType::None).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WorkingBackend(SandboxType);

impl WorkingBackend {
    /// The sandbox of this type; `None` if the type is no sandbox.
    #[must_use]
    pub const fn new(sandbox: SandboxType) -> Option<Self> {
        match sandbox {
            SandboxType::None => None,
            SandboxType::MacosSeatbelt
            | SandboxType::LinuxLandlock
            | SandboxType::WindowsRestrictedToken => Some(Self(sandbox)),
        }
    }

    /// Its type, which is never [`SandboxType::None`].
    #[must_use]
    pub const fn sandbox_type(self) -> SandboxType {
        self.0
    }
}

/// Whether a sandbox of ours is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Containment {
    /// None is: the policy has none, and the tool does not insist on one.
    NotOurs,
    /// One is, and it may be left if somebody agrees.
    Expected,
    /// One is, and it may not be left.
    Required,
}

impl Containment {
    pub(crate) const fn of(policy: &SandboxPolicy, preference: SandboxablePreference) -> Self {
        match preference {
            SandboxablePreference::Require => Self::Required,
            SandboxablePreference::Auto | SandboxablePreference::Forbid => {
                if policy.uses_runtime_sandbox() {
                    Self::Expected
                } else {
                    Self::NotOurs
                }
            }
        }
    }

    /// Whether a sandbox of ours is expected at all.
    pub(crate) const fn is_contained(self) -> bool {
        match self {
            Self::NotOurs => false,
            Self::Expected | Self::Required => true,
        }
    }
}
