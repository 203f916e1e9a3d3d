//! From the two choices of a person to the one canonical policy that they mean.

use crate::canonical::CanonicalSandboxPolicy;
use crate::limits::ResourceLimits;
use crate::model::{NetworkAccess, SandboxMode, SandboxPolicy};
use crate::paths::WorkspaceRoot;
use crate::seccomp::SeccompProfile;

/// Describes the sandbox of a host that isolates the whole process by itself.
const EXTERNAL_DESCRIPTION: &str = "legacy handler external sandbox";

impl SandboxPolicy {
    /// The one canonical policy that the two choices mean in this workspace.
    ///
    /// `Limited` has no allowlist here, and an empty allowlist is never open: it maps like `Restricted`.
    #[must_use]
    pub fn to_canonical_policy(&self, cwd: &WorkspaceRoot) -> CanonicalSandboxPolicy {
        match (self.mode, self.network_access) {
            (SandboxMode::ReadOnly, NetworkAccess::Restricted | NetworkAccess::Limited) => {
                CanonicalSandboxPolicy::read_only()
            }
            (SandboxMode::ReadOnly, NetworkAccess::Full) => {
                CanonicalSandboxPolicy::read_only_with_full_network()
            }
            (SandboxMode::WorkspaceWrite, NetworkAccess::Restricted | NetworkAccess::Limited) => {
                CanonicalSandboxPolicy::workspace_write([cwd.clone()])
            }
            (SandboxMode::WorkspaceWrite, NetworkAccess::Full) => {
                CanonicalSandboxPolicy::workspace_write_full(
                    [cwd.clone()],
                    [],
                    None,
                    ResourceLimits::default(),
                    SeccompProfile::strict().with_network(),
                )
            }
            (SandboxMode::DangerFullAccess, _) => CanonicalSandboxPolicy::full_access(),
            (SandboxMode::ExternalSandbox, _) => {
                CanonicalSandboxPolicy::external(EXTERNAL_DESCRIPTION)
            }
        }
    }
}
