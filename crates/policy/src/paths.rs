//! Checked paths: what reaches the rest of the crate is absolute (or relative) for sure, normalised and free of `..`.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{PathError, PathProblem};
use crate::host::{HostFacts, PathCase};
use crate::raw_path::RawPath;

/// An absolute path without `.`, `..`, repeated separators or NUL.
///
/// ```
/// use palisade_policy::AbsolutePath;
///
/// # if cfg!(unix) {
/// assert_eq!(AbsolutePath::new("/srv//app/./src/")?.to_string(), "/srv/app/src");
/// assert!(AbsolutePath::new("/srv/../etc").is_err());
/// # }
/// # Ok::<(), palisade_policy::PathError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawPath", into = "RawPath")]
pub struct AbsolutePath(PathBuf);

impl AbsolutePath {
    /// Checks and normalises a path. Nothing is looked up: symbolic links are the caller's business.
    ///
    /// # Errors
    /// The path is empty, relative, or holds `..` or a NUL.
    pub fn new(path: impl AsRef<Path>) -> Result<Self, PathError> {
        let path = path.as_ref();
        check_text(path)?;
        if !path.is_absolute() {
            return Err(PathError::new(path, PathProblem::Relative));
        }
        normalise(path).map(Self)
    }

    /// The path as the standard library sees it.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// A path below this one.
    #[must_use]
    pub fn join(&self, below: &RelativePath) -> Self {
        Self(self.0.join(&below.0))
    }

    /// The directory that holds this entry; `None` for the root of the file system.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.parent().map(|parent| Self(parent.to_path_buf()))
    }

    /// Whether this is the root of the file system (or of a drive).
    #[must_use]
    pub fn is_file_system_root(&self) -> bool {
        self.0.parent().is_none()
    }

    /// Whether `other` is this path or lies below it, on a file system that compares names as `case` says.
    #[must_use]
    pub fn covers(&self, other: &Self, case: PathCase) -> bool {
        if cfg!(unix) && case == PathCase::Sensitive {
            return self.covers_bytes(other);
        }
        let mut rest = other.components();
        self.components()
            .all(|mine| rest.next().is_some_and(|theirs| case.same(mine, theirs)))
    }

    /// The same for names that are bytes, which is asked very often: both paths are normalised, so one is a prefix of
    /// the other that ends where a name ends.
    fn covers_bytes(&self, other: &Self) -> bool {
        let mine = self.0.as_os_str().as_encoded_bytes();
        let theirs = other.0.as_os_str().as_encoded_bytes();
        match theirs.strip_prefix(mine) {
            Some([] | [b'/', ..]) => true,
            Some(_) => mine == b"/",
            None => false,
        }
    }

    /// How many names the path has: the measure of how specific a clause about it is.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.components().count()
    }

    /// The names of the path, the file system's root not counted.
    pub(crate) fn components(&self) -> impl Iterator<Item = &OsStr> {
        self.0.components().filter_map(|component| match component {
            Component::Normal(name) => Some(name),
            Component::Prefix(prefix) => Some(prefix.as_os_str()),
            Component::RootDir | Component::CurDir | Component::ParentDir => None,
        })
    }
}

impl fmt::Display for AbsolutePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

impl AsRef<Path> for AbsolutePath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

/// A path below something else: not empty, not absolute, without `.`, `..` or NUL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawPath", into = "RawPath")]
pub struct RelativePath(PathBuf);

impl RelativePath {
    /// Checks and normalises a path.
    ///
    /// # Errors
    /// The path is empty, absolute, names nothing but `.`, or holds `..` or a NUL.
    pub fn new(path: impl AsRef<Path>) -> Result<Self, PathError> {
        let path = path.as_ref();
        check_text(path)?;
        if path.has_root() || matches!(path.components().next(), Some(Component::Prefix(_))) {
            return Err(PathError::new(path, PathProblem::Absolute));
        }
        let normal = normalise(path)?;
        if normal.as_os_str().is_empty() {
            return Err(PathError::new(path, PathProblem::Empty));
        }
        Ok(Self(normal))
    }

    /// A path known when the program was written, in its normal form: the tests of the constants check it.
    pub(crate) fn constant(path: &'static str) -> Self {
        Self(PathBuf::from(path))
    }

    /// The path as the standard library sees it.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

/// A directory that a policy may open for writing: absolute, and never the root of the file system.
///
/// With facts about the host it is also never the home directory or an ancestor of it:
/// [`for_host`](Self::for_host) checks that at once, and
/// [`resolve`](crate::CanonicalSandboxPolicy::resolve) checks it for every root of a policy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawPath", into = "RawPath")]
pub struct WorkspaceRoot(AbsolutePath);

impl WorkspaceRoot {
    /// Checks what can be checked without facts about the host.
    ///
    /// # Errors
    /// The path is not an [`AbsolutePath`], or it is the root of the file system.
    pub fn new(path: impl AsRef<Path>) -> Result<Self, PathError> {
        Self::from_absolute(AbsolutePath::new(path)?)
    }

    /// Checks also that the path is neither the home directory nor an ancestor of it.
    ///
    /// # Errors
    /// As [`new`](Self::new), and for a root that would open the whole home directory.
    pub fn for_host(path: impl AsRef<Path>, facts: &HostFacts) -> Result<Self, PathError> {
        let root = Self::new(path)?;
        root.check_home(facts)?;
        Ok(root)
    }

    /// The same for a path that is already checked.
    ///
    /// # Errors
    /// The path is the root of the file system.
    pub fn from_absolute(path: AbsolutePath) -> Result<Self, PathError> {
        if path.is_file_system_root() {
            return Err(PathError::new(path.as_path(), PathProblem::FileSystemRoot));
        }
        Ok(Self(path))
    }

    /// The path of the root.
    #[must_use]
    pub fn path(&self) -> &AbsolutePath {
        &self.0
    }

    pub(crate) fn check_home(&self, facts: &HostFacts) -> Result<(), PathError> {
        match &facts.home {
            Some(home) if self.0.covers(home, facts.case) => Err(PathError::new(
                self.0.as_path(),
                PathProblem::HoldsHome { home: home.clone() },
            )),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for WorkspaceRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn check_text(path: &Path) -> Result<(), PathError> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.is_empty() {
        return Err(PathError::new(path, PathProblem::Empty));
    }
    if bytes.contains(&0) {
        return Err(PathError::new(path, PathProblem::Nul));
    }
    Ok(())
}

/// Drops `.` and repeated separators; `..` is refused, because what it means depends on symbolic links.
fn normalise(path: &Path) -> Result<PathBuf, PathError> {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => return Err(PathError::new(path, PathProblem::Parent)),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                normal.push(component);
            }
        }
    }
    Ok(normal)
}

macro_rules! through_raw_path {
    ($($checked:ident: $into:expr),* $(,)?) => {$(
        impl TryFrom<RawPath> for $checked {
            type Error = PathError;

            fn try_from(raw: RawPath) -> Result<Self, PathError> {
                Self::new(raw.0)
            }
        }

        impl From<$checked> for RawPath {
            fn from(checked: $checked) -> Self {
                Self(($into)(checked))
            }
        }
    )*};
}

through_raw_path! {
    AbsolutePath: |path: AbsolutePath| path.0,
    RelativePath: |path: RelativePath| path.0,
    WorkspaceRoot: |root: WorkspaceRoot| root.0.0,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_path_covers_itself_and_what_is_below_it() {
        let paths = ["/", "/a", "/a/b", "/ab", "/a/bc", "/a/b/c", "/b"];
        for outer in paths.map(|path| AbsolutePath::new(path).unwrap()) {
            for inner in paths.map(|path| AbsolutePath::new(path).unwrap()) {
                let expected = inner.as_path().starts_with(outer.as_path());
                for case in [PathCase::Sensitive, PathCase::Insensitive] {
                    assert_eq!(outer.covers(&inner, case), expected, "{outer} {inner}");
                }
            }
        }
    }
}
