//! Paths among which those above and below another are found without looking at all of them.

use std::collections::BTreeMap;

use crate::host::PathCase;
use crate::paths::AbsolutePath;

/// Different paths, each with the number that it has in the order in which they came.
#[derive(Debug)]
pub(crate) struct PathSet<'a> {
    paths: BTreeMap<&'a AbsolutePath, usize>,
    case: PathCase,
}

impl<'a> PathSet<'a> {
    pub(crate) fn new(paths: impl IntoIterator<Item = &'a AbsolutePath>, case: PathCase) -> Self {
        let mut set = Self {
            paths: BTreeMap::new(),
            case,
        };
        for path in paths {
            set.insert(path);
        }
        set
    }

    pub(crate) fn insert(&mut self, path: &'a AbsolutePath) {
        let number = self.paths.len();
        self.paths.entry(path).or_insert(number);
    }

    /// All of them, sorted.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a AbsolutePath> {
        self.paths.keys().copied()
    }

    /// The deepest one that is this path or above it.
    pub(crate) fn deepest_above(&self, path: &AbsolutePath) -> Option<&'a AbsolutePath> {
        if self.case != PathCase::Sensitive {
            let above = self.iter().filter(|above| above.covers(path, self.case));
            return above.max_by_key(|above| above.depth());
        }
        let mut above = Some(path.clone());
        while let Some(path) = above {
            if let Some((found, _)) = self.paths.get_key_value(&path) {
                return Some(found);
            }
            above = path.parent();
        }
        None
    }

    /// Those that are this path or below it, in the order in which they came.
    pub(crate) fn below(&self, path: &AbsolutePath) -> Vec<&'a AbsolutePath> {
        let covered = |(below, _): &(&&AbsolutePath, &usize)| path.covers(below, self.case);
        let mut below: Vec<(&usize, &'a AbsolutePath)> = match self.case {
            // What is below a path follows it directly.
            PathCase::Sensitive => {
                let after = self.paths.range::<AbsolutePath, _>(path..);
                after
                    .take_while(covered)
                    .map(|(path, number)| (number, *path))
                    .collect()
            }
            PathCase::Insensitive => {
                let all = self.paths.iter();
                all.filter(covered)
                    .map(|(path, number)| (number, *path))
                    .collect()
            }
        };
        below.sort();
        below.into_iter().map(|(_, path)| path).collect()
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_whom_a_look_at_all_finds() {
        let named = [
            "/b", "/a/b", "/a", "/a/b/c/d", "/ab", "/A/b", "/a-b/c", "/a/b",
        ];
        let paths = named.map(|path| AbsolutePath::new(path).unwrap());
        let asked = [
            "/",
            "/a",
            "/a/b/c",
            "/a/b/c/d/e",
            "/a-b",
            "/c",
            "/A/b/x",
            "/B",
        ];
        for case in [PathCase::Sensitive, PathCase::Insensitive] {
            let set = PathSet::new(&paths, case);
            for asked in asked.map(|path| AbsolutePath::new(path).unwrap()) {
                let above = paths.iter().filter(|path| path.covers(&asked, case));
                let deepest = above.map(AbsolutePath::depth).max();
                let found = set.deepest_above(&asked);
                assert_eq!(found.map(AbsolutePath::depth), deepest, "{asked}");
                assert!(found.is_none_or(|found| found.covers(&asked, case)));
                let mut below: Vec<&AbsolutePath> = Vec::new();
                for path in paths.iter().filter(|path| asked.covers(path, case)) {
                    if !below.contains(&path) {
                        below.push(path);
                    }
                }
                assert_eq!(set.below(&asked), below, "{asked}");
            }
        }
    }
}
