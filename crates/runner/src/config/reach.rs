//! What commands must never write: the files that decide about them.

use std::path::{Path, PathBuf};

use palisade_policy::{
    AbsolutePath, Access, CanonicalSandboxPolicy, HomeRoot, HostFacts, PolicyContext, WorkspaceRoot,
};

use super::error::ConfigError;
use crate::host::real_path;

/// Refuses a policy that lets commands write one of these files, or put another in its place.
pub(crate) fn check(
    policy: &CanonicalSandboxPolicy,
    project: &WorkspaceRoot,
    facts: &HostFacts,
    files: impl IntoIterator<Item = PathBuf>,
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
        let ways = links(&file)
            .into_iter()
            .chain([by_name(&file), real(&file)]);
        for path in ways {
            let Ok(path) = AbsolutePath::new(&path) else {
                return Err(ConfigError::WithinReach { path: file });
            };
            let writes = [Access::Write(path.clone()), Access::Create(path)];
            if writes
                .iter()
                .any(|write| resolved.permits(write).is_allowed())
            {
                return Err(ConfigError::WithinReach { path: file });
            }
        }
    }
    Ok(())
}

/// Where the name is, which may be a link.
pub(super) fn by_name(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => real(parent).join(name),
        _ => path.to_owned(),
    }
}

/// Every link that is followed on the way to a path, by where it is. Whoever can put another in the place of one decides
/// where the path leads.
pub(super) fn links(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    follow(path, &mut found);
    found
}

fn follow(path: &Path, found: &mut Vec<PathBuf>) {
    let above: Vec<&Path> = path.ancestors().collect();
    for part in above.into_iter().rev() {
        let at = by_name(part);
        // As many as the kernel follows; a ring of links leads nowhere.
        if found.len() >= 40 || found.contains(&at) {
            return;
        }
        if let Ok(target) = std::fs::read_link(&at) {
            let target = at.parent().map(|parent| parent.join(&target));
            found.push(at);
            if let Some(target) = target {
                follow(&target, found);
            }
        }
    }
}

/// A path with its links resolved, as far as it exists.
pub(super) fn real(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    for above in path.ancestors() {
        if let Ok(real) = real_path(above) {
            return missing
                .iter()
                .rev()
                .fold(real, |path, name| path.join(name));
        }
        missing.extend(above.file_name());
    }
    path.to_owned()
}
