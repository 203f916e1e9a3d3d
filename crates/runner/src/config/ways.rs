//! The ways to a path: whoever can put something in the place of any of them decides what is found there.

use std::path::{Path, PathBuf};

/// As many links as the kernel follows; a ring of them leads nowhere.
const MOST_LINKS: usize = 40;

/// The ways to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ways {
    /// Every link that is followed, by where it is.
    pub(crate) links: Vec<PathBuf>,
    /// Where its name is, which may be a link.
    pub(crate) by_name: PathBuf,
    /// Where it is, as far as it exists.
    pub(crate) real: PathBuf,
}

impl Ways {
    /// By its name and without links: either can be what is written.
    pub(crate) fn both(&self) -> [&Path; 2] {
        [&self.by_name, &self.real]
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Path> {
        self.links.iter().map(PathBuf::as_path).chain(self.both())
    }
}

#[cfg(unix)]
impl Ways {
    /// Looks at every name of the path once, as the kernel does.
    pub(crate) fn to(path: &Path) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut walk = Walk::default();
        let by_name = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => {
                walk.follow(parent);
                let by_name = walk.at.join(name);
                walk.enter(name);
                by_name
            }
            _ => {
                walk.follow(&path);
                path
            }
        };
        Self {
            links: walk.links,
            by_name,
            real: walk.at,
        }
    }
}

/// A way through the file system, so far.
#[cfg(unix)]
#[derive(Default)]
struct Walk {
    /// Where it has led, without links.
    at: PathBuf,
    links: Vec<PathBuf>,
    followed: usize,
}

#[cfg(unix)]
impl Walk {
    fn follow(&mut self, path: &Path) {
        use std::path::Component;
        for component in path.components() {
            match component {
                Component::Normal(name) => self.enter(name),
                Component::ParentDir => {
                    self.at.pop();
                }
                Component::RootDir | Component::Prefix(_) => self.at.push(component),
                Component::CurDir => {}
            }
        }
    }

    fn enter(&mut self, name: &std::ffi::OsStr) {
        let here = self.at.join(name);
        match std::fs::read_link(&here) {
            Ok(target) if self.followed < MOST_LINKS => {
                self.followed += 1;
                if !self.links.contains(&here) {
                    self.links.push(here);
                }
                self.follow(&target);
            }
            // No link, or nothing that can be seen: what is there, or will be, has this name.
            _ => self.at = here,
        }
    }
}

#[cfg(not(unix))]
impl Ways {
    /// Asks the system where each directory above the path really is.
    pub(crate) fn to(path: &Path) -> Self {
        Self {
            links: links(path),
            by_name: by_name(path),
            real: real(path),
        }
    }
}

#[cfg(not(unix))]
fn by_name(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => real(parent).join(name),
        _ => path.to_owned(),
    }
}

#[cfg(not(unix))]
fn links(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    follow(path, &mut found);
    found
}

#[cfg(not(unix))]
fn follow(path: &Path, found: &mut Vec<PathBuf>) {
    let above: Vec<&Path> = path.ancestors().collect();
    for part in above.into_iter().rev() {
        let at = by_name(part);
        if found.len() >= MOST_LINKS || found.contains(&at) {
            return;
        }
        if let Ok(target) = std::fs::read_link(&at) {
            let target = at.parent().map(|parent| parent.join(&target));
            found.push(at);
            if let Some(target) = target {
                follow(&target, found);
            }
        }
    }
}

#[cfg(not(unix))]
fn real(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    for above in path.ancestors() {
        if let Ok(real) = crate::host::real_path(above) {
            return missing
                .iter()
                .rev()
                .fold(real, |path, name| path.join(name));
        }
        missing.extend(above.file_name());
    }
    path.to_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_link_on_the_way_is_found_where_it_is() {
        let stage = tempfile::tempdir_in("/var/tmp").unwrap();
        let base = stage.path().canonicalize().unwrap();
        let at = |name: &str| base.join(name);
        std::fs::create_dir_all(at("real/deep")).unwrap();
        std::fs::write(at("real/deep/file"), "").unwrap();
        symlink("real", at("one")).unwrap();
        symlink(at("one/deep"), at("two")).unwrap();
        symlink("../deep/file", at("real/deep/alias")).unwrap();

        let ways = Ways::to(&at("two/alias"));
        assert_eq!(ways.links, [at("two"), at("one"), at("real/deep/alias")]);
        assert_eq!(ways.by_name, at("real/deep/alias"));
        assert_eq!(ways.real, at("real/deep/file"));
        assert_eq!(ways.real, at("two/alias").canonicalize().unwrap());

        // What is passed twice leads on, and is named once.
        let ways = Ways::to(&at("one/../one/deep/alias"));
        assert_eq!(ways.links, [at("one"), at("real/deep/alias")]);
        assert_eq!(ways.real, at("real/deep/file"));
    }

    #[test]
    fn what_does_not_exist_is_where_it_would_be() {
        let stage = tempfile::tempdir_in("/var/tmp").unwrap();
        let base = stage.path().canonicalize().unwrap();
        symlink("gone/further", base.join("hanging")).unwrap();
        let ways = Ways::to(&base.join("hanging/file"));
        assert_eq!(ways.links, [base.join("hanging")]);
        assert_eq!(ways.by_name, base.join("gone/further/file"));
        assert_eq!(ways.real, ways.by_name);
        assert_eq!(Ways::to(Path::new("/")).real, Path::new("/"));
    }

    #[test]
    fn a_ring_of_links_ends() {
        let stage = tempfile::tempdir_in("/var/tmp").unwrap();
        let base = stage.path().canonicalize().unwrap();
        symlink("b", base.join("a")).unwrap();
        symlink("a", base.join("b")).unwrap();
        let ways = Ways::to(&base.join("a/file"));
        assert_eq!(ways.links, [base.join("a"), base.join("b")]);
    }
}
