//! The ways to a path: whoever can put something in the place of any of them decides what is found there.

#[cfg(unix)]
use std::collections::BTreeMap;
#[cfg(unix)]
use std::ffi::OsString;
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

/// One look at the file system, for all ways that are asked for together: no name is looked at twice, so they agree about
/// every link that they share.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// Where each name leads that was looked at, if it is a link.
    #[cfg(unix)]
    seen: BTreeMap<OsString, Option<PathBuf>>,
}

#[cfg(unix)]
impl Look {
    /// The ways to a path: every name of it is looked at, as the kernel does.
    pub(crate) fn to(&mut self, path: &Path) -> Ways {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut walk = Walk {
            at: PathBuf::new(),
            links: Vec::new(),
            followed: 0,
            look: self,
        };
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
        Ways {
            links: walk.links,
            by_name,
            real: walk.at,
        }
    }

    /// Where a link leads; nothing if it is no link, or nothing that can be seen.
    fn link(&mut self, at: &Path) -> Option<PathBuf> {
        match self.seen.get(at.as_os_str()) {
            Some(seen) => seen.clone(),
            None => {
                let target = std::fs::read_link(at).ok();
                self.seen.insert(at.into(), target.clone());
                target
            }
        }
    }
}

/// A way through the file system, so far.
#[cfg(unix)]
struct Walk<'a> {
    /// Where it has led, without links.
    at: PathBuf,
    links: Vec<PathBuf>,
    followed: usize,
    look: &'a mut Look,
}

#[cfg(unix)]
impl Walk<'_> {
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
        self.at.push(name);
        // What is no link is there, or will be, under this name.
        if let Some(target) = self
            .look
            .link(&self.at)
            .filter(|_| self.followed < MOST_LINKS)
        {
            self.followed += 1;
            if !self.links.contains(&self.at) {
                self.links.push(self.at.clone());
            }
            self.at.pop();
            self.follow(&target);
        }
    }
}

#[cfg(not(unix))]
impl Look {
    /// The ways to a path: the system is asked where each directory above it really is.
    #[expect(clippy::unused_self, reason = "elsewhere it remembers")]
    pub(crate) fn to(&mut self, path: &Path) -> Ways {
        Ways {
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

        let ways = Look::default().to(&at("two/alias"));
        assert_eq!(ways.links, [at("two"), at("one"), at("real/deep/alias")]);
        assert_eq!(ways.by_name, at("real/deep/alias"));
        assert_eq!(ways.real, at("real/deep/file"));
        assert_eq!(ways.real, at("two/alias").canonicalize().unwrap());

        // What is passed twice leads on, and is named once.
        let ways = Look::default().to(&at("one/../one/deep/alias"));
        assert_eq!(ways.links, [at("one"), at("real/deep/alias")]);
        assert_eq!(ways.real, at("real/deep/file"));
    }

    #[test]
    fn what_does_not_exist_is_where_it_would_be() {
        let stage = tempfile::tempdir_in("/var/tmp").unwrap();
        let base = stage.path().canonicalize().unwrap();
        symlink("gone/further", base.join("hanging")).unwrap();
        let ways = Look::default().to(&base.join("hanging/file"));
        assert_eq!(ways.links, [base.join("hanging")]);
        assert_eq!(ways.by_name, base.join("gone/further/file"));
        assert_eq!(ways.real, ways.by_name);
        assert_eq!(Look::default().to(Path::new("/")).real, Path::new("/"));
    }

    #[test]
    fn a_ring_of_links_ends() {
        let stage = tempfile::tempdir_in("/var/tmp").unwrap();
        let base = stage.path().canonicalize().unwrap();
        symlink("b", base.join("a")).unwrap();
        symlink("a", base.join("b")).unwrap();
        let ways = Look::default().to(&base.join("a/file"));
        assert_eq!(ways.links, [base.join("a"), base.join("b")]);
    }

    #[test]
    fn one_look_sees_each_name_once() {
        let stage = tempfile::tempdir_in("/var/tmp").unwrap();
        let base = stage.path().canonicalize().unwrap();
        symlink("before", base.join("link")).unwrap();
        let mut look = Look::default();
        let ways = look.to(&base.join("link/file"));
        std::fs::remove_file(base.join("link")).unwrap();
        symlink("after", base.join("link")).unwrap();
        assert_eq!(look.to(&base.join("link/file")), ways);
        let other = look.to(&base.join("link/other"));
        assert_eq!(other.by_name, base.join("before/other"));
        let again = Look::default().to(&base.join("link/file"));
        assert_eq!(again.by_name, base.join("after/file"));
    }
}
