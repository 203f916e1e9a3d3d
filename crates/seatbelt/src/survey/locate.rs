//! Where a path really is: names are followed one by one, so that every link on the way is known.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use palisade_policy::AbsolutePath;

use super::spelling::true_spelling;
use crate::host::{Entry, Located};

/// As many links as the kernel of macOS follows.
const MAX_LINKS: usize = 32;

/// Where a path is, every link in it followed, and what is there.
///
/// What does not exist is followed as far as it can be: a link to something that is missing leads to where that will be.
///
/// Of what exists, only as much counts as existing as the file system says the spelling of: how the rest is spelled is as
/// open as it is for what is missing.
#[must_use]
pub fn locate(path: &AbsolutePath) -> Located {
    locate_by(path, true_spelling)
}

/// The same, with somebody who says how a path is spelled.
fn locate_by(path: &AbsolutePath, spell: impl Fn(&Path) -> Option<PathBuf>) -> Located {
    let spelled = |real: &Path| spelled(real, &spell);
    let mut real = PathBuf::from("/");
    let mut rest: VecDeque<OsString> = VecDeque::new();
    let mut links: Vec<AbsolutePath> = Vec::new();
    push_front(&mut rest, &mut real, path.as_path());
    let mut entry = Entry::Directory;
    let mut followed = 0;
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&name);
        let found = std::fs::symlink_metadata(&next).map(|metadata| metadata.file_type());
        match found {
            Ok(kind) if kind.is_symlink() => {
                let link = spelled(&real).map(|(above, rest)| above.join(rest).join(&name));
                let link = link.and_then(|link| AbsolutePath::new(link).ok());
                let target = std::fs::read_link(&next).ok();
                followed += 1;
                match (target, &link) {
                    (Some(target), Some(link)) if followed <= MAX_LINKS => {
                        if !links.contains(link) {
                            links.push(link.clone());
                        }
                        push_front(&mut rest, &mut real, &target);
                    }
                    _ => return dead(path, link, links),
                }
            }
            Ok(kind) if kind.is_dir() => {
                real = next;
                entry = Entry::Directory;
            }
            Ok(_) if rest.is_empty() => {
                real = next;
                entry = Entry::Other;
            }
            // A file where a directory should be: below it nothing can be while it stays.
            Ok(_) => {
                real = next;
                return missing(path, spelled(&real), rest, links);
            }
            Err(_) => {
                rest.push_front(name);
                return missing(path, spelled(&real), rest, links);
            }
        }
    }
    match spelled(&real) {
        Some((existing, rest)) if rest.as_os_str().is_empty() => {
            match AbsolutePath::new(existing) {
                Ok(existing) => Located::new(existing, entry).through(links),
                Err(_) => dead(path, None, links),
            }
        }
        spelled => missing(path, spelled, VecDeque::new(), links),
    }
}

/// Something below a place that exists. Where a link leads through `..` behind something that does not exist, nobody can
/// say where that will be.
fn missing(
    path: &AbsolutePath,
    spelled: Option<(PathBuf, PathBuf)>,
    rest: VecDeque<OsString>,
    links: Vec<AbsolutePath>,
) -> Located {
    let spelled = spelled.and_then(|(real, unsure)| Some((AbsolutePath::new(real).ok()?, unsure)));
    match spelled {
        Some((existing, unsure)) if rest.iter().all(|name| name != "..") => {
            let names = unsure.iter().map(OsString::from).chain(rest);
            Located::missing(existing, names).through(links)
        }
        _ => dead(path, None, links),
    }
}

/// A link that leads nowhere: what can be guarded is the link.
fn dead(path: &AbsolutePath, link: Option<AbsolutePath>, mut links: Vec<AbsolutePath>) -> Located {
    let link = link.or_else(|| links.pop()).unwrap_or_else(|| path.clone());
    links.retain(|known| *known != link);
    Located::new(link, Entry::DeadLink).through(links)
}

/// The deepest part of a path whose spelling is known, as it is spelled, and the names below.
fn spelled(real: &Path, spell: impl Fn(&Path) -> Option<PathBuf>) -> Option<(PathBuf, PathBuf)> {
    real.ancestors().find_map(|above| {
        let known = match above.parent() {
            Some(_) => spell(above)?,
            None => above.to_path_buf(),
        };
        let below = real.strip_prefix(above).ok()?;
        known.is_absolute().then(|| (known, below.to_path_buf()))
    })
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

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A directory without links above it.
    struct World(tempfile::TempDir, PathBuf);

    impl World {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let real = std::fs::canonicalize(dir.path()).unwrap();
            std::fs::create_dir_all(real.join("private/tmp/a")).unwrap();
            std::fs::write(real.join("private/tmp/file"), "x").unwrap();
            Self(dir, real)
        }

        fn at(&self, below: &str) -> AbsolutePath {
            assert!(self.0.path().is_dir());
            AbsolutePath::new(self.1.join(below)).unwrap()
        }

        fn link(&self, at: &str, to: impl AsRef<Path>) -> AbsolutePath {
            symlink(to, self.1.join(at)).unwrap();
            self.at(at)
        }
    }

    #[test]
    fn a_link_above_is_followed_and_remembered() {
        let world = World::new();
        let tmp = world.link("tmp", "private/tmp");
        let located = locate(&world.at("tmp/a"));
        assert_eq!(located.existing, world.at("private/tmp/a"));
        assert_eq!((located.missing, located.entry), (vec![], Entry::Directory));
        assert_eq!(located.links, [tmp]);
        let file = locate(&world.at("private/tmp/file"));
        assert_eq!(file, Located::new(file.existing.clone(), Entry::Other));
    }

    #[test]
    fn what_is_missing_is_below_the_deepest_part_that_exists() {
        let world = World::new();
        let tmp = world.link("tmp", world.at("private/tmp"));
        let located = locate(&world.at("tmp/a/b/c"));
        assert_eq!(located.existing, world.at("private/tmp/a"));
        assert_eq!(located.missing, ["b", "c"]);
        assert_eq!((located.entry, located.links), (Entry::Missing, vec![tmp]));
        let below_a_file = locate(&world.at("private/tmp/file/x"));
        assert_eq!(below_a_file.existing, world.at("private/tmp/file"));
        assert_eq!(below_a_file.missing, ["x"]);
    }

    #[test]
    fn a_link_to_something_missing_leads_to_where_it_will_be() {
        let world = World::new();
        let link = world.link("private/config", "../later/on");
        let located = locate(&world.at("private/config/x"));
        assert_eq!(located.existing, world.at(""));
        assert_eq!(located.missing, ["later", "on", "x"]);
        assert_eq!(located.links, [link]);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_what_is_guarded() {
        let world = World::new();
        let one = world.link("one", "two");
        world.link("two", "one");
        let located = locate(&world.at("one/x"));
        assert_eq!(located.entry, Entry::DeadLink);
        assert!(located.missing.is_empty());
        assert!([one, world.at("two")].contains(&located.existing));
        let odd = world.link("odd", "none/../private");
        let located = locate(&world.at("odd"));
        assert_eq!((located.existing, located.entry), (odd, Entry::DeadLink));
    }

    /// A directory that the system lets nobody open until the user says yes.
    #[test]
    fn what_cannot_be_opened_may_be_spelled_in_any_way() {
        let world = World::new();
        std::fs::create_dir_all(world.1.join("private/Locked/inner")).unwrap();
        let locked = world.1.join("private/Locked");
        let spell = |path: &Path| (!path.starts_with(&locked)).then(|| path.to_path_buf());
        for (below, names) in [
            ("private/Locked", &["Locked"][..]),
            ("private/Locked/inner", &["Locked", "inner"]),
            ("private/Locked/inner/none", &["Locked", "inner", "none"]),
        ] {
            let located = locate_by(&world.at(below), spell);
            assert_eq!(located.existing, world.at("private"), "{below}");
            assert_eq!(located.entry, Entry::Missing, "{below}");
            assert_eq!(located.missing, names, "{below}");
        }
        let link = world.link("private/link", "Locked/inner");
        let located = locate_by(&link, spell);
        assert_eq!(located.missing, ["Locked", "inner"]);
        assert_eq!(located.links, [link]);
    }

    #[test]
    fn parents_are_resolved_after_links() {
        let world = World::new();
        world.link("deep", "private/tmp/a");
        world.link("up", "deep/../file");
        assert_eq!(
            locate(&world.at("up")).existing,
            world.at("private/tmp/file")
        );
    }
}
