//! Where a path really is: names are followed one by one, so that every link on the way is known.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use palisade_policy::AbsolutePath;
use rustix::fs::{AtFlags, FileType, lgetxattr, statat};
use rustix::io::Errno;

use crate::host::{Entry, Located};
use crate::init::{PLACEHOLDER_MARK, UNFINISHED_PLACEHOLDER};

/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;

/// Where a directory is, or how much of it is missing.
#[derive(Clone, Debug)]
struct Found {
    real: PathBuf,
    links: Vec<AbsolutePath>,
    missing: usize,
    entry: Entry,
    /// What is in the way, if that is not a directory.
    blocked: Option<AbsolutePath>,
}

/// Follows paths, and remembers the directories that it came through.
#[derive(Debug, Default)]
pub(super) struct Locator {
    /// By the bytes of their paths, which compare faster than names one by one.
    directories: BTreeMap<OsString, Rc<Found>>,
}

impl Locator {
    /// Where a path is, the last name not followed, and what is there.
    pub(super) fn locate(&mut self, path: &AbsolutePath) -> Located {
        let (Some(parent), Some(name)) = (path.as_path().parent(), path.as_path().file_name())
        else {
            return Located::new(path.clone(), Entry::Directory);
        };
        let above = self.directory(parent);
        // Below links that lead in a circle there is nothing, as long as they stay.
        if let (Entry::Symlink { .. }, Ok(link)) = (&above.entry, AbsolutePath::new(&above.real)) {
            return Located::new(link, above.entry.clone()).through(above.links.clone());
        }
        let Ok(real) = AbsolutePath::new(above.real.join(name)) else {
            // A link leads through `..` behind something that does not exist: nobody can say where that will be.
            return Located::new(path.clone(), Entry::Missing).through(above.links.clone());
        };
        if above.missing > 0 || above.entry != Entry::Directory {
            let located = Located::new(real, Entry::Missing)
                .through(above.links.clone())
                .below_missing(above.missing);
            return match &above.blocked {
                Some(file) => located.below_file(file.clone()),
                None => located,
            };
        }
        match kind(real.as_path()) {
            Kind::Link => {
                let found = follow(above.real.clone(), Path::new(name));
                let mut links = above.links.clone();
                // The first one is the path itself.
                links.extend(found.links.into_iter().filter(|link| *link != real));
                let target = match found.entry {
                    Entry::Symlink { .. } => None,
                    _ => AbsolutePath::new(found.real).ok(),
                };
                Located::new(real, Entry::Symlink { target }).through(links)
            }
            // What a killed session has left behind is not there: this session makes it again, and removes it.
            Kind::Directory { mode } if is_placeholder_or_gone(real.as_path(), mode) => {
                Located::new(real, Entry::Missing).through(above.links.clone())
            }
            Kind::Directory { .. } => {
                Located::new(real, Entry::Directory).through(above.links.clone())
            }
            Kind::Other(entry) => Located::new(real, entry).through(above.links.clone()),
        }
    }

    fn directory(&mut self, path: &Path) -> Rc<Found> {
        if let Some(found) = self.directories.get(path.as_os_str()) {
            return Rc::clone(found);
        }
        let found = Rc::new(match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => {
                let above = self.directory(parent);
                if let Entry::Symlink { .. } = above.entry {
                    (*above).clone()
                } else if above.missing > 0 || above.entry != Entry::Directory {
                    Found {
                        real: above.real.join(name),
                        links: above.links.clone(),
                        missing: above.missing + 1,
                        entry: Entry::Missing,
                        blocked: above.blocked.clone(),
                    }
                } else {
                    let mut found = follow(above.real.clone(), Path::new(name));
                    let mut links = above.links.clone();
                    links.append(&mut found.links);
                    Found { links, ..found }
                }
            }
            _ => Found {
                real: PathBuf::from("/"),
                links: Vec::new(),
                missing: 0,
                entry: Entry::Directory,
                blocked: None,
            },
        });
        let known = Rc::clone(&found);
        self.directories.insert(path.into(), known);
        found
    }
}

/// Follows a path from a directory without links, all links included.
fn follow(from: PathBuf, path: &Path) -> Found {
    let mut real = from;
    let mut rest: VecDeque<OsString> = VecDeque::new();
    push_front(&mut rest, &mut real, path);
    let mut links = Vec::new();
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&name);
        match kind(&next) {
            Kind::Directory { .. } => real = next,
            Kind::Other(Entry::Missing) => {
                let missing = 1 + rest.len();
                real = next;
                real.extend(rest);
                return Found {
                    real,
                    links,
                    missing,
                    entry: Entry::Missing,
                    blocked: None,
                };
            }
            Kind::Other(entry) => {
                let blocked = AbsolutePath::new(&next).ok();
                let missing = rest.len();
                real = next;
                real.extend(rest);
                return Found {
                    real,
                    links,
                    missing,
                    entry: if missing == 0 { entry } else { Entry::Missing },
                    blocked,
                };
            }
            Kind::Link => {
                let target = std::fs::read_link(&next);
                links.extend(AbsolutePath::new(&next).ok());
                match target {
                    Ok(target) if links.len() <= MAX_LINKS => {
                        push_front(&mut rest, &mut real, &target);
                    }
                    _ => {
                        links.sort();
                        links.dedup();
                        return Found {
                            real: next,
                            links,
                            missing: 1,
                            // A circle.
                            entry: Entry::Symlink { target: None },
                            blocked: None,
                        };
                    }
                }
            }
        }
    }
    Found {
        real,
        links,
        missing: 0,
        entry: Entry::Directory,
        blocked: None,
    }
}

/// Puts the names of a path before the others; an absolute path starts again from the root.
fn push_front(rest: &mut VecDeque<OsString>, real: &mut PathBuf, path: &Path) {
    for component in path.components().rev() {
        match component {
            Component::RootDir => *real = PathBuf::from("/"),
            Component::ParentDir => rest.push_front(OsString::from("..")),
            Component::Normal(name) => rest.push_front(name.to_os_string()),
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
}

enum Kind {
    Link,
    Directory { mode: u32 },
    Other(Entry),
}

/// What is at a path, the last name not followed. What cannot be looked at cannot be reached by a command of the same
/// user either.
fn kind(path: &Path) -> Kind {
    let Ok(stat) = statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW) else {
        return Kind::Other(Entry::Missing);
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => Kind::Link,
        FileType::Directory => Kind::Directory {
            mode: stat.st_mode & 0o7777,
        },
        FileType::RegularFile => Kind::Other(Entry::File),
        _ => Kind::Other(Entry::Other),
    }
}

/// Whether nobody but the owner of a directory above can say what is at a path.
pub(super) fn is_closed(path: &Path) -> bool {
    let found = statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW);
    matches!(found, Err(Errno::ACCESS))
}

/// The kind of an entry of a directory; a link is followed to say where it leads.
pub(super) fn entry_of(
    locator: &mut Locator,
    path: &AbsolutePath,
    kind: std::fs::FileType,
) -> Entry {
    if kind.is_dir() {
        Entry::Directory
    } else if kind.is_file() {
        Entry::File
    } else if kind.is_symlink() {
        locator.locate(path).entry
    } else {
        Entry::Other
    }
}

/// A path below another, by one name.
pub(super) fn child(of: &AbsolutePath, name: &OsStr) -> Option<AbsolutePath> {
    AbsolutePath::new(of.as_path().join(name)).ok()
}

/// Where a path leads, all links and `..` resolved; the rest of a path that does not exist stays as it is.
pub(super) fn real(path: &Path) -> Option<AbsolutePath> {
    path.is_absolute()
        .then(|| follow(PathBuf::from("/"), path))
        .and_then(|found| AbsolutePath::new(found.real).ok())
}

/// Whether a directory is a placeholder: it carries our mark and holds nothing; or it was one, because another session has
/// removed it since it was seen. Whatever is gone by now is missing: taken for a directory it would be protected, and then
/// not be found.
///
/// One that another session is making just now has no mark yet: taken for somebody's directory it would be protected
/// without the lock that keeps that session from removing it. The mark is set before the mode, so who saw the mode of a
/// finished one finds the mark.
fn is_placeholder_or_gone(path: &Path, mode: u32) -> bool {
    let marked = mode == UNFINISHED_PLACEHOLDER
        || match lgetxattr(path, PLACEHOLDER_MARK, &mut [0_u8; 8]) {
            Ok(_) | Err(Errno::NOENT) => true,
            Err(_) => false,
        };
    marked
        && match std::fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Between two looks of the survey another session may have removed its placeholder.
    #[test]
    fn what_is_gone_by_now_is_missing_and_what_is_there_is_looked_into() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert!(is_placeholder_or_gone(&at("gone"), 0o755));
        assert!(is_placeholder_or_gone(&at("gone"), UNFINISHED_PLACEHOLDER));
        std::fs::create_dir(at("somebody's")).unwrap();
        assert!(!is_placeholder_or_gone(&at("somebody's"), 0o755));
        assert!(is_placeholder_or_gone(
            &at("somebody's"),
            UNFINISHED_PLACEHOLDER
        ));
        std::fs::write(at("somebody's").join("file"), "").unwrap();
        assert!(!is_placeholder_or_gone(
            &at("somebody's"),
            UNFINISHED_PLACEHOLDER
        ));
    }
}
