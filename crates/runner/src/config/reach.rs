//! What commands must never write: the files that decide about them.

use std::path::PathBuf;

use palisade_policy::{
    AbsolutePath, Access, CanonicalSandboxPolicy, HomeRoot, HostFacts, PolicyContext,
    ResolvedPolicy, WorkspaceRoot,
};

use super::error::ConfigError;
use super::ways::Look;

/// What commands can write under a policy: worked out once, for all files that are asked about.
pub(crate) struct Reach {
    /// Nothing where nothing is confined: then nothing is out of reach, and whoever chose that knows.
    resolved: Option<ResolvedPolicy>,
}

impl Reach {
    /// That of a policy.
    ///
    /// # Errors
    /// The policy makes no sense on this host.
    pub(crate) fn of(
        policy: &CanonicalSandboxPolicy,
        project: &WorkspaceRoot,
        facts: &HostFacts,
    ) -> Result<Self, ConfigError> {
        if !policy.uses_runtime_sandbox() {
            return Ok(Self { resolved: None });
        }
        // Whether the home directory may be a root is asked elsewhere. Here it only means that all of it is within reach.
        let context =
            PolicyContext::new(facts.clone(), project.clone()).with_home_root(HomeRoot::Allow);
        let resolved = policy
            .resolve(&context)
            .map_err(|error| ConfigError::Host(Box::new(error)))?;
        Ok(Self {
            resolved: Some(resolved),
        })
    }

    /// Refuses it if commands can write one of these files, or put another in its place.
    ///
    /// # Errors
    /// Names the file.
    pub(crate) fn check(
        &self,
        files: impl IntoIterator<Item = PathBuf>,
        look: &mut Look,
    ) -> Result<(), ConfigError> {
        let Some(resolved) = &self.resolved else {
            return Ok(());
        };
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
}
