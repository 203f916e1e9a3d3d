//! What commands must never write: the files that decide about them.

use std::path::PathBuf;

use palisade_policy::{
    AbsolutePath, Access, CanonicalSandboxPolicy, HomeRoot, HostFacts, PolicyContext, WorkspaceRoot,
};

use super::error::ConfigError;
use super::ways::Look;

/// Refuses a policy that lets commands write one of these files, or put another in its place.
pub(crate) fn check(
    policy: &CanonicalSandboxPolicy,
    project: &WorkspaceRoot,
    facts: &HostFacts,
    files: impl IntoIterator<Item = PathBuf>,
    look: &mut Look,
) -> Result<(), ConfigError> {
    if !policy.uses_runtime_sandbox() {
        // Nothing is confined, so nothing is out of reach, and whoever chose that knows.
        return Ok(());
    }
    // Whether the home directory may be a root is asked elsewhere. Here it only means that all of it is within reach.
    let context =
        PolicyContext::new(facts.clone(), project.clone()).with_home_root(HomeRoot::Allow);
    let resolved = policy
        .resolve(&context)
        .map_err(|error| ConfigError::Host(Box::new(error)))?;
    for file in files {
        for path in look.to(&file).all() {
            let Ok(path) = AbsolutePath::new(path) else {
                return Err(ConfigError::WithinReach { path: file });
            };
            let writes = [Access::Write(path.clone()), Access::Create(path)];
            if writes.iter().any(|write| resolved.place(write).is_some()) {
                return Err(ConfigError::WithinReach { path: file });
            }
        }
    }
    Ok(())
}
