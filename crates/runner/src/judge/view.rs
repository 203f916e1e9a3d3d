//! The two choices of a person, read back from the policy that they became.

use palisade_policy::{
    CanonicalSandboxPolicy, NetworkAccess, NetworkScope, SandboxMode, SandboxPolicy,
};

/// The mode and the network of a policy, as the decision sees them.
#[must_use]
pub fn sandbox_view(policy: &CanonicalSandboxPolicy) -> SandboxPolicy {
    let mode = match policy {
        CanonicalSandboxPolicy::ReadOnly { .. } => SandboxMode::ReadOnly,
        CanonicalSandboxPolicy::WorkspaceWrite { .. } => SandboxMode::WorkspaceWrite,
        CanonicalSandboxPolicy::DangerFullAccess => SandboxMode::DangerFullAccess,
        CanonicalSandboxPolicy::ExternalSandbox { .. } => SandboxMode::ExternalSandbox,
    };
    let network = match policy.network() {
        NetworkScope::Off => NetworkAccess::Restricted,
        NetworkScope::Only(_) => NetworkAccess::Limited,
        NetworkScope::Full => NetworkAccess::Full,
    };
    SandboxPolicy::new(mode, network)
}
