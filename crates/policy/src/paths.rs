//! Checked paths: what reaches the rest of the crate is absolute (or relative) for sure, normalised and free of `..`.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fmt;
use std::hash::{Hash, Hasher};
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
#[derive(Clone, Debug, Serialize, Deserialize)]
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

    /// The deepest path that covers both; `None` if they have not even the root in common. Names are compared exactly.
    #[must_use]
    pub fn common_ancestor(&self, other: &Self) -> Option<Self> {
        let mut ancestors = self.0.ancestors();
        ancestors
            .find(|above| match cfg!(unix) {
                true => is_prefix(above.as_os_str().as_encoded_bytes(), other.bytes()),
                false => other.0.starts_with(above),
            })
            .map(|above| Self(above.to_path_buf()))
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
            return is_prefix(self.bytes(), other.bytes());
        }
        let mut rest = other.components();
        self.components()
            .all(|mine| rest.next().is_some_and(|theirs| case.same(mine, theirs)))
    }

    /// How many names the path has: the measure of how specific a clause about it is.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self.bytes() {
            _ if !cfg!(unix) => self.components().count(),
            [_] => 0,
            bytes => bytes.iter().filter(|byte| **byte == b'/').count(),
        }
    }

    fn bytes(&self) -> &[u8] {
        self.0.as_os_str().as_encoded_bytes()
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

/// As the paths of the standard library compare. Where names are bytes, normal paths are equal if their bytes are: that
/// is much faster, and sets of paths are asked all the time.
impl PartialEq for AbsolutePath {
    fn eq(&self, other: &Self) -> bool {
        match cfg!(unix) {
            true => self.bytes() == other.bytes(),
            false => self.0 == other.0,
        }
    }
}

impl Eq for AbsolutePath {}

impl Hash for AbsolutePath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl PartialOrd for AbsolutePath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Name by name, so that what is below a path follows it directly.
impl Ord for AbsolutePath {
    fn cmp(&self, other: &Self) -> Ordering {
        match cfg!(unix) {
            true => compare_normal(self.bytes(), other.bytes()),
            false => self.0.cmp(&other.0),
        }
    }
}

/// Whether a normal path covers another where names are bytes, which is asked very often: one is a prefix of the other
/// that ends where a name ends.
fn is_prefix(outer: &[u8], inner: &[u8]) -> bool {
    match inner.strip_prefix(outer) {
        Some([] | [b'/', ..]) => true,
        Some(_) => outer == b"/",
        None => false,
    }
}

/// The order of normal paths: that of their bytes, but a name that ends comes before one that goes on.
fn compare_normal(mine: &[u8], theirs: &[u8]) -> Ordering {
    const WORD: usize = size_of::<u64>();
    let words = mine.chunks_exact(WORD).zip(theirs.chunks_exact(WORD));
    let same = WORD * words.take_while(|(mine, theirs)| mine == theirs).count();
    // No path holds a NUL.
    let rank = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
    let mine = mine.iter().skip(same).map(rank);
    mine.cmp(theirs.iter().skip(same).map(rank))
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
    if cfg!(unix) && is_normal(path.as_os_str().as_encoded_bytes()) {
        return Ok(path.to_path_buf());
    }
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

/// Whether an absolute path is in its normal form already, as most are.
fn is_normal(path: &[u8]) -> bool {
    match path {
        b"/" => true,
        [b'/', names @ ..] => names
            .split(|byte| *byte == b'/')
            .all(|name| !matches!(name, b"" | b"." | b"..")),
        _ => false,
    }
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
#[cfg(unix)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Few names, so that many paths have some in common, with bytes around the separator and long enough for words.
    fn any_written_path() -> impl Strategy<Value = PathBuf> {
        use std::os::unix::ffi::OsStringExt as _;

        const BYTES: &[u8] = b"//a.-0\x01\xff";
        const STARTS: &[&str] = &["/", "/home/developer/", "/home/dev/"];
        let byte = proptest::sample::select(BYTES);
        let start = proptest::sample::select(STARTS);
        (start, proptest::collection::vec(byte, 0..12)).prop_map(|(start, rest)| {
            PathBuf::from(std::ffi::OsString::from_vec(
                [start.as_bytes(), rest.as_slice()].concat(),
            ))
        })
    }

    proptest! {
        #[test]
        fn paths_compare_as_those_of_the_standard_library(
            one in any_written_path(),
            other in any_written_path(),
        ) {
            let (Ok(a), Ok(b)) = (AbsolutePath::new(&one), AbsolutePath::new(&other)) else {
                prop_assert!(one.components().chain(other.components()).any(|part| part == Component::ParentDir));
                return Ok(());
            };
            prop_assert_eq!(a.as_path(), one.as_path());
            prop_assert_eq!(a.cmp(&b), one.cmp(&other));
            prop_assert_eq!(a == b, one == other);
            prop_assert_eq!(a.covers(&b, PathCase::Sensitive), other.starts_with(&one));
            prop_assert_eq!(a.depth(), one.components().count() - 1);
            let common = one.ancestors().find(|above| other.starts_with(above));
            let shared = a.common_ancestor(&b);
            prop_assert_eq!(shared.as_ref().map(AbsolutePath::as_path), common);
            // In the normal form nothing is left to drop.
            prop_assert!(is_normal(a.bytes()));
            let parent = a.parent();
            prop_assert_eq!(parent.as_ref().map(AbsolutePath::as_path), one.parent());
            prop_assert!(parent.is_none_or(|parent| is_normal(parent.bytes())));
        }
    }

    #[test]
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
