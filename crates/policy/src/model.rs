//! What a person picks: a mode and a network access, which mean one canonical policy.
#![expect(
    clippy::exhaustive_enums,
    reason = "every caller must decide what a new mode means to it"
)]

use serde::{Deserialize, Serialize};

/// How much of the file system a command may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxMode {
    /// Reads everything but secrets, changes nothing on the host.
    #[default]
    ReadOnly,
    /// May also write in the workspace and in other roots that the policy names.
    WorkspaceWrite,
    /// No sandbox at all.
    DangerFullAccess,
    /// Something outside Palisade confines the whole process.
    ExternalSandbox,
}

impl SandboxMode {
    /// Every mode, narrowest first.
    pub const ALL: [Self; 4] = [
        Self::ReadOnly,
        Self::WorkspaceWrite,
        Self::DangerFullAccess,
        Self::ExternalSandbox,
    ];

    /// The spelling used in policy files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::DangerFullAccess => "danger-full-access",
            Self::ExternalSandbox => "external-sandbox",
        }
    }
}

/// What a command may reach on the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkAccess {
    /// Nothing outside the sandbox.
    #[default]
    Restricted,
    /// Exactly the hosts of an allowlist; without one, nothing.
    Limited,
    /// Everything.
    Full,
}

impl NetworkAccess {
    /// Every access, narrowest first.
    pub const ALL: [Self; 3] = [Self::Restricted, Self::Limited, Self::Full];

    /// The spelling used in policy files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Restricted => "restricted",
            Self::Limited => "limited",
            Self::Full => "full",
        }
    }
}

/// The two choices a person makes; [`to_canonical_policy`](Self::to_canonical_policy) says what they mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a plain pair of choices, written as a literal by every caller"
)]
pub struct SandboxPolicy {
    /// How much of the file system may change.
    pub mode: SandboxMode,
    /// What the network may be used for.
    pub network_access: NetworkAccess,
}

impl SandboxPolicy {
    /// A policy of the two choices.
    #[must_use]
    pub const fn new(mode: SandboxMode, network_access: NetworkAccess) -> Self {
        Self {
            mode,
            network_access,
        }
    }

    /// Whether leaving this sandbox is something to ask a person about.
    ///
    /// False only where there is no sandbox of ours to leave.
    #[must_use]
    pub const fn requires_approval_prompt(&self) -> bool {
        match self.mode {
            SandboxMode::ReadOnly | SandboxMode::WorkspaceWrite => true,
            SandboxMode::DangerFullAccess | SandboxMode::ExternalSandbox => false,
        }
    }

    /// Whether a backend of Palisade has to enforce this policy.
    #[must_use]
    pub const fn uses_runtime_sandbox(&self) -> bool {
        match self.mode {
            SandboxMode::ReadOnly | SandboxMode::WorkspaceWrite => true,
            SandboxMode::DangerFullAccess | SandboxMode::ExternalSandbox => false,
        }
    }
}
