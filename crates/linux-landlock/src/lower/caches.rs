//! Caches of tools that a variable can move to where the session may write.

use palisade_policy::{RelativePath, ResolvedPolicy};

use super::mounts::{Built, Region};
use crate::host::{Entry, Places};
use crate::plan::EnvValue;

/// A cache of a tool.
pub(super) struct Cache {
    /// The variable that moves it.
    pub(super) variable: &'static str,
    /// Where it goes, below the session's directory for temporary files.
    pub(super) below: &'static str,
    /// Where it is otherwise, or what it is in, below home.
    home: &'static str,
}

pub(super) const ALL: [Cache; 7] = [
    Cache::new("XDG_CACHE_HOME", "cache", ".cache"),
    Cache::new("npm_config_cache", "cache/npm", ".npm"),
    Cache::new("PIP_CACHE_DIR", "cache/pip", ".cache"),
    Cache::new("UV_CACHE_DIR", "cache/uv", ".cache"),
    Cache::new("GOCACHE", "cache/go-build", ".cache"),
    Cache::new("GRADLE_USER_HOME", "cache/gradle", ".gradle"),
    Cache::new("YARN_CACHE_FOLDER", "cache/yarn", ".cache"),
];

impl Cache {
    const fn new(variable: &'static str, below: &'static str, home: &'static str) -> Self {
        Self {
            variable,
            below,
            home,
        }
    }
}

/// Where caches are otherwise, in a home: the survey looks what is there.
#[cfg(target_os = "linux")]
pub(crate) fn homes(
    home: &palisade_policy::AbsolutePath,
) -> impl Iterator<Item = palisade_policy::AbsolutePath> {
    let names = ALL.iter().map(|cache| cache.home);
    names.filter_map(|name| Some(home.join(&RelativePath::new(name).ok()?)))
}

/// Variables for the caches that have no place in the full tier. A layer needs a directory to lie on, and a new home has
/// none: without these, the first command of a tool in it would fail for want of a cache. Where something is there, if
/// only a link to another disk, it is what the tool reads: nothing empty takes its place.
pub(super) fn without_a_place(
    policy: &ResolvedPolicy,
    places: &Places,
    built: &Built,
) -> impl Iterator<Item = (String, EnvValue)> {
    let home = policy.context().facts.home.clone();
    ALL.iter().filter_map(move |cache| {
        let path = home.as_ref()?.join(&RelativePath::new(cache.home).ok()?);
        let seen = places.entries.get(&path);
        let missing = seen.is_none_or(|seen| seen.entry == Entry::Missing);
        let value = EnvValue::Unset(format!("/tmp/{}", cache.below));
        (missing && built.region(&path) == Region::ReadOnly)
            .then(|| (cache.variable.to_owned(), value))
    })
}
