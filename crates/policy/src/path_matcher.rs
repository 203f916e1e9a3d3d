//! Specs with their facts filled in: what a backend guards and the oracle compares with.

use std::fmt;

use crate::glob::{Glob, Part};
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
}
