//! Looks at the host: the kernel's facts, and what exists at the paths that a policy names.
//!
//! The order is: [`kernel`] says which tier the host supports, [`private_places`](crate::private_places) what a session
//! owns there, the policy is resolved with that, and [`look`] looks at the paths of the resolved policy. What is seen
//! may have changed by the time of the launch: then a step of the launch fails.

mod aliases;
mod caches;
mod cgroups;
mod git;
mod globs;
mod hard_links;
mod kernel;
mod kernel_file;
mod listings;
mod locate;
mod sockets;
mod sys;
#[cfg(feature = "model")]
pub(crate) mod untrusted;

use std::collections::BTreeMap;

use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, GitAccess, PathMatcher, PolicyContext, PolicyError,
    ResolvedPolicy,
};

pub(crate) use kernel::ARCH;
pub use kernel::kernel;

use crate::host::{Entry, LinuxHost, Places};
use crate::lower::homes_of_caches;
use crate::plan::Tier;
use locate::Locator;

/// How far the survey goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SurveyOptions {
    /// Whether files in writable roots with a second name are looked for; that means looking at every file.
    pub hard_links: bool,
    /// How many entries of directories are looked at for globs, and as many for hard links.
    pub max_entries: usize,
    /// How many matches of globs are kept.
    pub max_matches: usize,
}

impl SurveyOptions {
    /// What a launch needs, and no more.
    #[must_use]
    pub const fn launch() -> Self {
        Self {
            hard_links: false,
            max_entries: 50_000,
            max_matches: 1_000,
        }
    }

    /// Everything, for those who check a host.
    #[must_use]
    pub const fn thorough() -> Self {
        Self {
            hard_links: true,
            ..Self::launch()
        }
    }
}

impl Default for SurveyOptions {
    fn default() -> Self {
        Self::launch()
    }
}

/// Looks at the host for a policy: the kernel, what a session owns here, and the paths of the policy.
///
/// # Errors
/// The policy cannot be resolved with these facts.
pub fn resolve_and_look(
    policy: &CanonicalSandboxPolicy,
    context: PolicyContext,
    options: &SurveyOptions,
) -> Result<(ResolvedPolicy, LinuxHost), PolicyError> {
    let mut host = kernel(&context.facts);
    let context = context.with_private(crate::private_places(&host));
    let policy = policy.resolve(&context)?;
    look(&mut host, &policy, options);
    Ok((policy, host))
}

/// Looks at everything that the policy names, and puts it in place of what the host's facts say about places. The
/// caches stay: the policy was resolved with them.
pub fn look(host: &mut LinuxHost, policy: &ResolvedPolicy, options: &SurveyOptions) {
    let Some((rules, local)) = policy.canonical().rules() else {
        return;
    };
    let mut places = Places {
        caches: std::mem::take(&mut host.places.caches),
        ..Places::default()
    };
    let mut locator = Locator::default();
    let context = policy.context();
    let guards = || policy.guards().iter().map(|guard| &guard.matcher);
    let literal = guards()
        .chain(policy.read_only())
        .filter_map(PathMatcher::path);
    let named = policy
        .roots()
        .iter()
        .map(|root| &root.root)
        .chain(literal)
        .chain(rules.reopened.iter().map(|reopened| &reopened.path))
        .chain(policy.private())
        .chain([context.cwd.path()])
        .chain(&context.facts.home)
        .chain(&local.unix_paths);
    for path in named {
        enter(&mut places.entries, &mut locator, path);
    }
    for cache in context.facts.home.iter().flat_map(homes_of_caches) {
        enter(&mut places.entries, &mut locator, &cache);
    }
    globs::expand(&mut places, &mut locator, policy, options);
    aliases::find(&mut places, policy);
    if rules.git != GitAccess::Full {
        git::find(&mut places, &mut locator, policy);
    }
    match crate::tier(host) {
        Some(Tier::Full) => {
            places.socket_dirs = sockets::directories(&mut locator);
            let unknown = sockets::bound(&mut places.sockets, &mut locator, policy);
            let note = format!(
                "{unknown} sockets of the host are where nobody can look: bound to relative paths, or renamed in a directory that cannot be listed"
            );
            if unknown > 0 && !host.notes.contains(&note) {
                host.notes.push(note);
            }
        }
        Some(Tier::Landlock) => listings::list(&mut places, policy),
        None => {}
    }
    if options.hard_links {
        places.hard_links = hard_links::find(policy, options.max_entries);
    }
    host.places = places;
}

/// Looks at a path, and at what it leads to if it is a link.
fn enter(
    entries: &mut BTreeMap<AbsolutePath, crate::host::Located>,
    locator: &mut Locator,
    path: &AbsolutePath,
) {
    if entries.contains_key(path) {
        return;
    }
    let located = locator.locate(path);
    if let Entry::Symlink {
        target: Some(target),
    } = &located.entry
    {
        let target = target.clone();
        entries.insert(path.clone(), located);
        // Without a link left in it, so this ends.
        entries
            .entry(target)
            .or_insert_with_key(|target| locator.locate(target));
    } else {
        entries.insert(path.clone(), located);
    }
}
