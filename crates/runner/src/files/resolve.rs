//! From a path to the directory that holds it and the name in it, with every link on the way resolved here.

use std::ffi::OsString;
use std::path::{Component, Path};

use palisade_policy::AbsolutePath;

use super::content::FileKind;
use super::directory::{Directory, Found, is_link_error, is_race};
use super::error::{FileError, LinkTaken};
use super::strength::Strength;

/// As many as Linux follows.
const MOST_LINKS: usize = 40;

/// What happens to a link at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    Follow,
    Keep,
}

/// A path without links, and the directory that holds it.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) path: AbsolutePath,
    pub(super) parent_path: AbsolutePath,
    pub(super) parent: Directory,
    pub(super) name: OsString,
    pub(super) found: Option<Found>,
    pub(super) links: Vec<LinkTaken>,
}

impl Resolved {
    /// Whether the directory is still where it was found. What was done by its descriptor was done there.
    pub(super) fn still_there(&self, strength: Strength) -> bool {
        let there = Directory::open(&self.parent_path, strength);
        match (
            there.and_then(|there| there.identity()),
            self.parent.identity(),
        ) {
            (Ok(there), Ok(held)) => there == held,
            _ => false,
        }
    }
}

pub(super) fn resolve(
    path: &AbsolutePath,
    last: Last,
    strength: Strength,
) -> Result<Resolved, FileError> {
    match without_links(path, last, strength)? {
        Some(resolved) => Ok(resolved),
        None => through_links(path, last, strength),
    }
}

/// The usual case: no link is on the way, and one call says so.
fn without_links(
    path: &AbsolutePath,
    last: Last,
    strength: Strength,
) -> Result<Option<Resolved>, FileError> {
    let Some((parent_path, name)) = split(path) else {
        return Err(not_an_entry(path));
    };
    let parent = match Directory::open(&parent_path, strength) {
        Ok(parent) => parent,
        Err(error) if is_link_error(&error) => return Ok(None),
        Err(error) => return Err(FileError::io("open the directory of", path, error)),
    };
    let found = look(&parent, &name, path)?;
    let is_link = |found: &Found| found.kind == FileKind::Link;
    if last == Last::Follow && found.as_ref().is_some_and(is_link) {
        return Ok(None);
    }
    Ok(Some(Resolved {
        path: path.clone(),
        parent_path,
        parent,
        name,
        found,
        links: Vec::new(),
    }))
}

fn through_links(
    asked: &AbsolutePath,
    last: Last,
    strength: Strength,
) -> Result<Resolved, FileError> {
    let mut reached = root_of(asked);
    // The names still to go, the next one at the end.
    let mut pending = names_of(asked.as_path());
    let mut links: Vec<LinkTaken> = Vec::new();
    while let Some(name) = pending.pop() {
        // Nothing on the way so far is a link, so the name above is the directory above.
        if name == ".." {
            reached = reached.parent().unwrap_or(reached);
            continue;
        }
        let parent = match Directory::open(&reached, strength) {
            Ok(parent) => parent,
            Err(error) if is_race(&error) => return Err(unstable(asked)),
            Err(error) => return Err(FileError::io("open the directory of", asked, error)),
        };
        let here = join(&reached, &name, asked)?;
        let found = look(&parent, &name, asked)?;
        let is_last = pending.is_empty();
        match &found {
            Some(link) if link.kind == FileKind::Link && !(is_last && last == Last::Keep) => {
                if links.len() == MOST_LINKS {
                    return Err(FileError::TooManyLinks {
                        path: asked.clone(),
                    });
                }
                let magic = parent.is_magic(&name);
                if magic.map_err(|error| FileError::io("look at", &here, error))? {
                    return Err(FileError::MagicLink { path: here });
                }
                // Between the look and this, the link can have become something else.
                let target = parent.read_link(&name).map_err(|_| unstable(asked))?;
                if target.is_absolute() {
                    reached = root_of(asked);
                }
                pending.extend(names_of(&target));
                links.push(LinkTaken { link: here, target });
            }
            _ if is_last => {
                return Ok(Resolved {
                    path: here,
                    parent_path: reached,
                    parent,
                    name,
                    found,
                    links,
                });
            }
            Some(_) => reached = here,
            None => {
                return Err(FileError::Missing {
                    path: asked.clone(),
                });
            }
        }
    }
    // The last link named a directory by what is below or above it.
    let (parent_path, name) = split(&reached).ok_or_else(|| not_an_entry(asked))?;
    let parent = Directory::open(&parent_path, strength).map_err(|_| unstable(asked))?;
    let found = look(&parent, &name, asked)?;
    Ok(Resolved {
        path: reached,
        parent_path,
        parent,
        name,
        found,
        links,
    })
}

fn look(
    parent: &Directory,
    name: &std::ffi::OsStr,
    asked: &AbsolutePath,
) -> Result<Option<Found>, FileError> {
    parent
        .look(name)
        .map_err(|error| FileError::io("look at", asked, error))
}

/// The names of a path, the first one last; `..` is kept, the root is not.
fn names_of(path: &Path) -> Vec<OsString> {
    let mut names: Vec<OsString> = path
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
        })
        .collect();
    names.reverse();
    names
}

fn root_of(path: &AbsolutePath) -> AbsolutePath {
    let mut root = path.clone();
    while let Some(above) = root.parent() {
        root = above;
    }
    root
}

fn join(
    directory: &AbsolutePath,
    name: &std::ffi::OsStr,
    asked: &AbsolutePath,
) -> Result<AbsolutePath, FileError> {
    AbsolutePath::new(directory.as_path().join(name)).map_err(|_| unstable(asked))
}

/// The directory of an entry and its name; `None` for the root, which is no entry.
pub(super) fn split(path: &AbsolutePath) -> Option<(AbsolutePath, OsString)> {
    let name = path.as_path().file_name()?;
    Some((path.parent()?, name.to_owned()))
}

fn unstable(asked: &AbsolutePath) -> FileError {
    FileError::Unstable {
        path: asked.clone(),
    }
}

fn not_an_entry(path: &AbsolutePath) -> FileError {
    FileError::WrongKind {
        path: path.clone(),
        kind: FileKind::Directory,
        needed: "the root of the file system is not an entry that can be worked with",
    }
}
