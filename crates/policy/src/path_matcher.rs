//! Specs with their facts filled in: what a backend guards and the oracle compares with.

use std::ffi::OsStr;
use std::fmt;

use crate::glob::{Glob, Part, Reached};
use crate::host::PathCase;
use crate::paths::AbsolutePath;

/// A path, or a glob below a base, with everything below what it matches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathMatcher(Matcher);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Matcher {
    Path(AbsolutePath),
    Glob {
        base: Option<AbsolutePath>,
        text: String,
        glob: Glob,
    },
}

impl PathMatcher {
    pub(crate) const fn literal(path: AbsolutePath) -> Self {
        Self(Matcher::Path(path))
    }

    pub(crate) fn glob(
        base: Option<AbsolutePath>,
        written: &str,
        glob: &Glob,
        case: PathCase,
    ) -> Self {
        Self(Matcher::Glob {
            base,
            text: written.trim_start_matches("~/").to_owned(),
            glob: match case {
                PathCase::Sensitive => glob.clone(),
                PathCase::Insensitive => glob.to_lowercase(),
            },
        })
    }

    /// The path, if this is not a glob.
    #[must_use]
    pub const fn path(&self) -> Option<&AbsolutePath> {
        match &self.0 {
            Matcher::Path(path) => Some(path),
            Matcher::Glob { .. } => None,
        }
    }

    /// Whether this is a glob: backends expand it when the plan is made, and report what they cannot guard later.
    #[must_use]
    pub const fn is_glob(&self) -> bool {
        matches!(self.0, Matcher::Glob { .. })
    }

    /// The directory below which a glob can match; `None` for the whole file system.
    #[must_use]
    pub const fn base(&self) -> Option<&AbsolutePath> {
        match &self.0 {
            Matcher::Path(path) => Some(path),
            Matcher::Glob { base, .. } => base.as_ref(),
        }
    }

    /// For a glob: what it says about the names below [`base`](Self::base). Where case does not matter, its letters are
    /// small, and names are folded before they are compared.
    #[must_use]
    pub fn glob_parts(&self) -> Option<&[Part]> {
        match &self.0 {
            Matcher::Path(_) => None,
            Matcher::Glob { glob, .. } => Some(glob.parts()),
        }
    }

    /// For a glob: which one it is, and how far the path gets into it: entry `i` says that the names below
    /// [`base`](Self::base) match the first `i` parts. What it can match below two paths is the same if both are.
    #[must_use]
    pub fn progress(&self, path: &AbsolutePath, case: PathCase) -> Option<(&str, Vec<bool>)> {
        let Matcher::Glob { base, text, glob } = &self.0 else {
            return None;
        };
        let start = match base {
            Some(base) if base.covers(path, case) => base.depth(),
            Some(_) => return None,
            None => 0,
        };
        let names = path.components().skip(start);
        Some((text, glob.reached(names, case == PathCase::Insensitive)))
    }

    /// For a glob: where a walk that expands it begins, at [`base`](Self::base).
    #[must_use]
    pub fn walk(&self, case: PathCase) -> Option<GlobWalk<'_>> {
        match &self.0 {
            Matcher::Path(_) => None,
            Matcher::Glob { glob, .. } => Some(GlobWalk {
                glob,
                fold_case: case == PathCase::Insensitive,
                reached: glob.start(),
            }),
        }
    }

    /// Whether something strictly below a directory could match: what a walk that expands a glob needs to look into.
    #[must_use]
    pub fn may_match_below(&self, directory: &AbsolutePath, case: PathCase) -> bool {
        match &self.0 {
            Matcher::Path(path) => directory.covers(path, case) && directory.depth() < path.depth(),
            Matcher::Glob {
                base: Some(base), ..
            } if directory.covers(base, case) => true,
            // The last part is reached by what matches already; what comes before it is still open.
            Matcher::Glob { .. } => self
                .progress(directory, case)
                .and_then(|(_, reached)| reached.split_last().map(|(_, open)| open.contains(&true)))
                .unwrap_or(false),
        }
    }

    /// How specific this is about a path: the depth of the deepest match that holds it, if any does.
    #[must_use]
    pub fn specificity(&self, path: &AbsolutePath, case: PathCase) -> Option<usize> {
        match &self.0 {
            Matcher::Path(mine) => mine.covers(path, case).then(|| mine.depth()),
            Matcher::Glob { base, glob, .. } => {
                let start = match base {
                    Some(base) if base.covers(path, case) => base.depth(),
                    Some(_) => return None,
                    None => 0,
                };
                let names = path.components().skip(start);
                let matched = glob.longest_match(names, case == PathCase::Insensitive)?;
                Some(start + matched)
            }
        }
    }
}

/// A place in a walk that expands a glob. Every name is compared once, however deep the walk goes.
#[derive(Clone, Copy, Debug)]
pub struct GlobWalk<'a> {
    glob: &'a Glob,
    fold_case: bool,
    reached: Reached,
}

impl GlobWalk<'_> {
    /// The place of this name, one directory further down.
    #[must_use]
    pub fn enter(self, name: &OsStr) -> Self {
        Self {
            reached: self.glob.step(self.reached, name, self.fold_case),
            ..self
        }
    }

    /// Whether what is here matches, not only something above it.
    #[must_use]
    pub fn is_match(&self) -> bool {
        self.glob.is_whole(self.reached)
    }

    /// Whether something strictly below could match.
    #[must_use]
    pub fn may_match_below(&self) -> bool {
        self.glob.is_open(self.reached)
    }
}

impl fmt::Display for PathMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Matcher::Path(path) => path.fmt(f),
            Matcher::Glob {
                base: None, text, ..
            } => f.write_str(text),
            Matcher::Glob {
                base: Some(base),
                text,
                ..
            } => write!(f, "{base}/{text}"),
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn below(pattern: &str, directory: &str) -> bool {
        let case = PathCase::Sensitive;
        let spec = crate::PathSpec::parse(pattern).unwrap();
        let home = AbsolutePath::new("/home/dev").unwrap();
        let matchers = spec.resolve(Some(&home), &[], case);
        let directory = AbsolutePath::new(directory).unwrap();
        matchers
            .iter()
            .any(|matcher| matcher.may_match_below(&directory, case))
    }

    #[test]
    fn a_walk_looks_only_where_something_can_match() {
        assert!(below("/etc/shadow*", "/"));
        assert!(below("/etc/shadow*", "/etc"));
        assert!(!below("/etc/shadow*", "/usr"));
        assert!(!below("/etc/shadow*", "/etc/shadow.d"));
        assert!(below("~/**/.env", "/"));
        assert!(below("~/**/.env", "/home/dev/any/depth"));
        assert!(!below("~/**/.env", "/home/other"));
        assert!(below("~/*/key", "/home/dev/a"));
        assert!(!below("~/*/key", "/home/dev/a/b"));
        assert!(below("/srv/a", "/srv"));
        assert!(!below("/srv/a", "/srv/a"));
    }

    #[test]
    fn a_walk_finds_what_a_look_at_whole_paths_finds() {
        let home = AbsolutePath::new("/home/dev").unwrap();
        let names = ["a", ".env", "key", "A", "x.key"];
        for pattern in ["~/**/.env", "~/*/key", "~/a/**", "~/*.key", "~/**/a/*/key"] {
            for case in [PathCase::Sensitive, PathCase::Insensitive] {
                let spec = crate::PathSpec::parse(pattern).unwrap();
                let matchers = spec.resolve(Some(&home), &[], case);
                let matcher = matchers.first().unwrap();
                let mut pending = vec![(home.clone(), matcher.walk(case).unwrap())];
                while let Some((path, walk)) = pending.pop() {
                    if path != home {
                        let whole = matcher.specificity(&path, case) == Some(path.depth());
                        assert_eq!(walk.is_match(), whole, "{pattern} {path}");
                        let below = matcher.may_match_below(&path, case);
                        assert_eq!(walk.may_match_below(), below, "{pattern} {path}");
                    }
                    if path.depth() < home.depth() + 4 {
                        pending.extend(names.map(|name| {
                            let below = AbsolutePath::new(path.as_path().join(name)).unwrap();
                            (below, walk.enter(OsStr::new(name)))
                        }));
                    }
                }
            }
        }
    }
}
