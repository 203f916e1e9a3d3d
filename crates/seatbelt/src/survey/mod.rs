//! Looks at a Mac: where the paths that a policy names really are.
//!
//! The order is: somebody says whether profiles can be applied and which directory the session has for temporary files,
//! [`private_places`](crate::private_places) what a session therefore owns, the policy is resolved with that, and [`look`]
//! looks at the paths of the resolved policy. Nothing here depends on macOS but the spelling of names, so it is tested
//! wherever there are links.

mod locate;
mod spelling;

use std::path::Path;

use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, PathMatcher, PolicyContext, PolicyError, ResolvedPolicy,
};

pub use locate::locate;

use crate::host::MacHost;

/// What says which directory of developer tools is switched on.
const XCODE_SELECT_LINK: &str = "/var/db/xcode_select_link";

/// Where developer tools are if nothing else is switched on.
const DEVELOPER_DIRS: [&str; 2] = [
    "/Applications/Xcode.app/Contents/Developer",
    "/Library/Developer/CommandLineTools",
];

/// Resolves a policy with what a session on this host owns, and looks at the paths of the policy.
///
/// # Errors
/// The policy cannot be resolved with these facts.
pub fn resolve_and_look(
    policy: &CanonicalSandboxPolicy,
    context: PolicyContext,
    mut host: MacHost,
) -> Result<(ResolvedPolicy, MacHost), PolicyError> {
    let context = context.with_private(crate::private_places(&host));
    let policy = policy.resolve(&context)?;
    look(&mut host, &policy);
    Ok((policy, host))
}

/// Looks at everything that the policy names, and puts it in place of what the host's facts say about places.
pub fn look(host: &mut MacHost, policy: &ResolvedPolicy) {
    host.places = paths(policy)
        .into_iter()
        .map(|path| {
            let located = locate(&path);
            (path, located)
        })
        .collect();
    host.developer_dir = developer_dir(Path::new(XCODE_SELECT_LINK));
}

/// Every path that must be looked at before the policy can be lowered: where its clauses begin.
#[must_use]
pub fn paths(policy: &ResolvedPolicy) -> Vec<AbsolutePath> {
    let Some((rules, local)) = policy.canonical().rules() else {
        return Vec::new();
    };
    let matchers = || {
        let guards = policy.guards().iter().map(|guard| &guard.matcher);
        guards.chain(policy.read_only())
    };
    let begin = |matcher: &PathMatcher| match matcher.path() {
        Some(path) => Some(path.clone()),
        None => crate::lower::globs::anchor(matcher).map(|(anchor, ..)| anchor),
    };
    let mut paths: Vec<AbsolutePath> = policy
        .roots()
        .iter()
        .map(|root| root.root.clone())
        .chain(rules.reopened.iter().map(|grant| grant.path.clone()))
        .chain(matchers().filter_map(begin))
        .chain(policy.private().iter().cloned())
        .chain(local.unix_paths.iter().cloned())
        .chain([policy.context().cwd.path().clone()])
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// The directory of developer tools that is switched on: what the link says, or one of those that are there by default.
fn developer_dir(link: &Path) -> Option<AbsolutePath> {
    let selected = std::fs::canonicalize(link).ok();
    let usual = || {
        DEVELOPER_DIRS
            .iter()
            .map(std::path::PathBuf::from)
            .find(|path| path.is_dir())
    };
    selected
        .or_else(usual)
        .and_then(|path| AbsolutePath::new(path).ok())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_says_which_tools_are_switched_on() {
        let dir = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(dir.path()).unwrap();
        let tools = real.join("Xcode.app/Contents/Developer");
        std::fs::create_dir_all(&tools).unwrap();
        let link = real.join("xcode_select_link");
        std::os::unix::fs::symlink(&tools, &link).unwrap();
        assert_eq!(developer_dir(&link), AbsolutePath::new(tools).ok());
    }
}
