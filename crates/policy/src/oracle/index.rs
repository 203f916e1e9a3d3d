//! Which guards can speak about a path, found without looking at all of them: a policy with a thousand roots has thousands,
//! and a backend asks about each of their paths.

use std::collections::BTreeMap;

use crate::host::PathCase;
use crate::paths::AbsolutePath;
use crate::resolve::Guard;

/// The guards of a policy, by the paths below which each can match. Whoever adds a guard adds it here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GuardIndex(Option<Known>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    /// By the bytes of that path.
    below: BTreeMap<Vec<u8>, Vec<usize>>,
    /// Those that can match anywhere.
    anywhere: Vec<usize>,
}

impl GuardIndex {
    /// Of no guards yet. Where names are not compared byte by byte it never knows any.
    pub(crate) fn new(case: PathCase) -> Self {
        Self((cfg!(unix) && case == PathCase::Sensitive).then(Known::default))
    }

    /// With the guard that has this number.
    pub(crate) fn add(&mut self, number: usize, guard: &Guard) {
        let Some(known) = &mut self.0 else { return };
        let numbers = match guard.matcher.base() {
            Some(path) => known.below.entry(bytes(path).to_vec()).or_default(),
            None => &mut known.anywhere,
        };
        numbers.push(number);
    }

    /// The guards that can match a path; `None` if nobody knows and all have to be looked at. A path or a glob matches
    /// nothing but its base and what is below that, so the base is the path itself or above it.
    pub(super) fn candidates(&self, path: &AbsolutePath) -> Option<impl Iterator<Item = usize>> {
        let known = self.0.as_ref()?;
        let below = above(bytes(path)).filter_map(|above| known.below.get(above));
        let anywhere = known.anywhere.iter();
        Some(anywhere.chain(below.flatten()).copied())
    }
}

fn bytes(path: &AbsolutePath) -> &[u8] {
    path.as_path().as_os_str().as_encoded_bytes()
}

/// A normal path and every path above it.
fn above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = path.iter().enumerate();
    let ends = ends.filter(|(end, byte)| *end > 0 && **byte == b'/');
    // The root is written with the separator that the others end before.
    let root = path.get(..1).filter(|_| path.len() > 1);
    let between = ends.filter_map(|(end, _)| path.get(..end));
    root.into_iter().chain(between).chain([path])
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::oracle::Kind;
    use crate::{
        CanonicalSandboxPolicy, HostFacts, Os, PathSpec, PolicyContext, ResolvedPolicy,
        WorkspaceRoot,
    };

    fn with_roots(count: usize) -> ResolvedPolicy {
        let root = |i: usize| WorkspaceRoot::new(format!("/srv/app-{i}/work")).unwrap();
        let facts = HostFacts::new(Os::Linux).with_home(AbsolutePath::new("/home/dev").unwrap());
        let policy = CanonicalSandboxPolicy::workspace_write((0..count).map(root));
        let (rules, _) = policy.rules().unwrap();
        let globs =
            ["**/.env", "/**/shadow*", "~/*.key"].map(|glob| PathSpec::parse(glob).unwrap());
        let rules = rules.clone().with_deny_read(globs);
        policy
            .with_paths(rules)
            .resolve(&PolicyContext::new(facts, root(0)))
            .unwrap()
    }

    fn asked() -> Vec<AbsolutePath> {
        let below = [
            "",
            "/.git",
            "/.git/hooks",
            "/src",
            "/.env",
            "/a/.env",
            "/.vscode/x",
        ];
        let roots = [
            "/srv/app-0/work",
            "/srv/app-77/work",
            "/srv",
            "/home/dev/.ssh",
            "/home/dev",
        ];
        let paths = roots
            .iter()
            .flat_map(|root| below.map(|below| format!("{root}{below}")));
        paths
            .chain(["/".to_owned(), "/etc/shadow".to_owned()])
            .map(|path| AbsolutePath::new(path).unwrap())
            .collect()
    }

    #[test]
    fn the_index_finds_whom_a_look_at_all_guards_finds() {
        let indexed = with_roots(100);
        assert!(indexed.index.candidates(&asked()[0]).is_some());
        assert!(GuardIndex::default().candidates(&asked()[0]).is_none());
        let mut plain = indexed.clone();
        plain.index = GuardIndex::default();
        for path in asked() {
            for kind in [Kind::Read, Kind::Write] {
                let found = indexed.strongest_guard(&path, kind);
                assert_eq!(found, plain.strongest_guard(&path, kind), "{path}");
            }
        }
        for path in ["/srv/app-77/work/a/.env", "/etc/shadow", "/home/dev/a.key"] {
            let path = AbsolutePath::new(path).unwrap();
            assert!(
                indexed.strongest_guard(&path, Kind::Read).is_some(),
                "{path}"
            );
        }
    }

    #[test]
    fn as_many_guards_are_looked_at_among_a_thousand_roots_as_among_a_hundred() {
        let looked_at = |count: usize| {
            let policy = with_roots(count);
            let candidates = |path: &AbsolutePath| policy.index.candidates(path).unwrap().count();
            asked().iter().map(candidates).collect::<Vec<usize>>()
        };
        assert_eq!(looked_at(100), looked_at(1000));
    }

    #[test]
    fn every_path_above_is_asked_about() {
        let all = |path: &'static str| {
            let all: Vec<_> = above(path.as_bytes()).collect();
            all.into_iter()
                .map(|path| std::str::from_utf8(path).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(all("/"), ["/"]);
        assert_eq!(all("/a"), ["/", "/a"]);
        assert_eq!(all("/a/bc/d"), ["/", "/a", "/a/bc", "/a/bc/d"]);
    }
}
