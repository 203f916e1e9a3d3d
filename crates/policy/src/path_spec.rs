//! Paths as policies write them: absolute, below home, below each root, or as a glob.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{PathError, PathProblem};
use crate::glob::{self, Glob};
use crate::host::PathCase;
use crate::path_matcher::PathMatcher;
use crate::paths::{AbsolutePath, RelativePath};
use crate::raw_path::RawPath;

/// A path or glob that gets its meaning from facts: `/etc/shadow*`, `~/.ssh`, `**/.env*`.
///
/// - `/…` is absolute, `~` and `~/…` are below the home directory, anything else is below every writable root and
///   below the directory that the policy is resolved for.
/// - `*` and `?` stand for characters of one name, `**` for any number of names; `[*]` is a star itself.
/// - What is below a match is matched too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawPath", into = "RawPath")]
pub struct PathSpec(Spec);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Spec {
    Absolute(AbsolutePath),
    Home,
    Below(Anchor, RelativePath),
    Glob {
        anchor: Anchor,
        text: String,
        glob: Glob,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Anchor {
    FileSystem,
    Home,
    Roots,
}

impl PathSpec {
    /// Reads the written form.
    ///
    /// # Errors
    /// The text is empty, contains `..` or a NUL, names the home of another user, or is a glob that cannot be read.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let fail = |problem| PathError::new(text, problem);
        if text.is_empty() {
            return Err(fail(PathProblem::Empty));
        }
        if text.contains('\0') {
            return Err(fail(PathProblem::Nul));
        }
        if text == "~" || text == "~/" {
            return Ok(Self(Spec::Home));
        }
        let (anchor, rest) = if let Some(rest) = text.strip_prefix("~/") {
            (Anchor::Home, rest)
        } else if text.starts_with('~') {
            return Err(fail(PathProblem::OtherHome));
        } else if Path::new(text).has_root() || Path::new(text).is_absolute() {
            (Anchor::FileSystem, text)
        } else {
            (Anchor::Roots, text)
        };
        if Path::new(rest)
            .components()
            .any(|component| component == std::path::Component::ParentDir)
        {
            return Err(fail(PathProblem::Parent));
        }
        let glob = Glob::parse(rest).map_err(|problem| fail(PathProblem::Glob(problem)))?;
        let spec = match (glob.literal(), anchor) {
            (Some(_), Anchor::FileSystem) => Spec::Absolute(AbsolutePath::new(unquote(rest))?),
            (Some(below), _) => Spec::Below(anchor, RelativePath::new(below)?),
            (None, _) => Spec::Glob {
                anchor,
                text: text.to_owned(),
                glob,
            },
        };
        Ok(Self(spec))
    }

    /// A place below the home directory that is known when the program is written.
    pub(crate) fn home(below: &'static str) -> Self {
        Self(Spec::Below(Anchor::Home, RelativePath::constant(below)))
    }

    /// The same in this home, wherever the home directory is: a path that needs no facts. `None` if the spec is not below
    /// `~`, or is a glob, which is written below a home and not made.
    #[must_use]
    pub fn in_home(&self, home: &AbsolutePath) -> Option<AbsolutePath> {
        match &self.0 {
            Spec::Home => Some(home.clone()),
            Spec::Below(Anchor::Home, below) => Some(home.join(below)),
            _ => None,
        }
    }

    /// Where the spec points to under these facts. Empty if it is below a home that is not known.
    pub(crate) fn resolve(
        &self,
        home: Option<&AbsolutePath>,
        roots: &[AbsolutePath],
        case: PathCase,
    ) -> Vec<PathMatcher> {
        let bases = |anchor: Anchor| match anchor {
            Anchor::FileSystem => vec![None],
            Anchor::Home => home.map(Some).into_iter().collect(),
            Anchor::Roots => roots.iter().map(Some).collect(),
        };
        match &self.0 {
            Spec::Absolute(path) => vec![PathMatcher::literal(path.clone())],
            Spec::Home => home
                .map(|home| PathMatcher::literal(home.clone()))
                .into_iter()
                .collect(),
            Spec::Below(anchor, below) => bases(*anchor)
                .into_iter()
                .flatten()
                .map(|base| PathMatcher::literal(base.join(below)))
                .collect(),
            Spec::Glob { anchor, text, glob } => bases(*anchor)
                .into_iter()
                .map(|base| PathMatcher::glob(base.cloned(), text, glob, case))
                .collect(),
        }
    }

    /// Whether the spec is below the home directory.
    #[must_use]
    pub fn needs_home(&self) -> bool {
        match &self.0 {
            Spec::Home => true,
            Spec::Absolute(_) => false,
            Spec::Below(anchor, _) | Spec::Glob { anchor, .. } => *anchor == Anchor::Home,
        }
    }
}

/// The literal path that a quoted text without stars stands for.
fn unquote(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        if c == '[' {
            plain.extend(chars.next());
            chars.next();
        } else {
            plain.push(c);
        }
    }
    plain
}

impl From<AbsolutePath> for PathSpec {
    fn from(path: AbsolutePath) -> Self {
        Self(Spec::Absolute(path))
    }
}

impl fmt::Display for PathSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Spec::Absolute(path) => f.write_str(&glob::quote(&path.to_string())),
            Spec::Home => f.write_str("~"),
            Spec::Below(Anchor::Home, below) => {
                write!(f, "~/{}", glob::quote(&below.to_string()))
            }
            Spec::Below(_, below) => {
                let text = glob::quote(&below.to_string());
                // A name that starts with a tilde is not somebody's home.
                let prefix = if text.starts_with('~') { "./" } else { "" };
                write!(f, "{prefix}{text}")
            }
            Spec::Glob { text, .. } => f.write_str(text),
        }
    }
}

impl TryFrom<RawPath> for PathSpec {
    type Error = PathError;

    fn try_from(raw: RawPath) -> Result<Self, PathError> {
        match raw.0.to_str() {
            Some(text) => Self::parse(text),
            // Not Unicode: only ever written for an absolute path, and never a glob.
            None => AbsolutePath::new(raw.0).map(Self::from),
        }
    }
}

impl From<PathSpec> for RawPath {
    fn from(spec: PathSpec) -> Self {
        match spec.0 {
            Spec::Absolute(path) if path.as_path().to_str().is_none() => path.into(),
            _ => Self(spec.to_string().into()),
        }
    }
}
