//! Where a path leads, link by link: a link in a hidden directory cannot be followed, whatever it leads to.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// More links than the kernel follows.
const MOST_LINKS: usize = 40;

/// A path, followed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Walk {
    /// Where each link on the way is.
    pub(super) links: Vec<PathBuf>,
    /// What the path leads to, whether it exists or not.
    pub(super) end: PathBuf,
    /// The same, but for a link in the last name, which is not followed: what removing it would remove.
    pub(super) entry: PathBuf,
}

/// Follows an absolute path; `None` if its links lead in a circle.
pub(super) fn walk(path: &Path) -> Option<Walk> {
    let end = follow(path, true)?;
    let entry = follow(path, false)?;
    Some(Walk {
        links: end.1,
        end: end.0,
        entry: entry.0,
    })
}

fn follow(path: &Path, last_too: bool) -> Option<(PathBuf, Vec<PathBuf>)> {
    let mut real = PathBuf::new();
    let mut links = Vec::new();
    let mut left: VecDeque<Step> = steps(path).collect();
    while let Some(step) = left.pop_front() {
        let name = match step {
            Step::Root(root) => {
                real = root;
                continue;
            }
            Step::Up => {
                real.pop();
                continue;
            }
            Step::Name(name) => name,
        };
        let here = real.join(&name);
        let is_last = left.is_empty();
        let target = match is_last && !last_too {
            true => None,
            false => std::fs::read_link(&here).ok(),
        };
        match target {
            Some(target) => {
                links.push(here);
                if links.len() > MOST_LINKS {
                    return None;
                }
                let mut steps: VecDeque<Step> = steps(&target).collect();
                steps.append(&mut left);
                left = steps;
            }
            None => real = here,
        }
    }
    Some((real, links))
}

enum Step {
    Root(PathBuf),
    Up,
    Name(OsString),
}

fn steps(path: &Path) -> impl Iterator<Item = Step> + '_ {
    path.components().filter_map(|component| match component {
        Component::Prefix(_) | Component::CurDir => None,
        Component::RootDir => Some(Step::Root(root_of(path))),
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Name(name.to_owned())),
    })
}

/// The root that an absolute path is below.
fn root_of(path: &Path) -> PathBuf {
    path.ancestors()
        .last()
        .map(Path::to_owned)
        .unwrap_or_default()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_link_on_the_way_is_named() {
        let house = tempfile::tempdir().unwrap();
        let at = fs::canonicalize(house.path()).unwrap();
        fs::create_dir_all(at.join("real/deep")).unwrap();
        symlink("real", at.join("dir")).unwrap();
        symlink(at.join("dir/deep/file"), at.join("first")).unwrap();
        let found = walk(&at.join("first")).unwrap();
        assert_eq!(found.links, [at.join("first"), at.join("dir")]);
        assert_eq!(found.end, at.join("real/deep/file"));
        assert_eq!(found.entry, at.join("first"));
        let up = walk(&at.join("dir/deep/../../missing/x")).unwrap();
        assert_eq!(up.end, at.join("missing/x"));
    }

    #[test]
    fn a_circle_leads_nowhere() {
        let house = tempfile::tempdir().unwrap();
        symlink("b", house.path().join("a")).unwrap();
        symlink("a", house.path().join("b")).unwrap();
        assert_eq!(walk(&house.path().join("a")), None);
    }
}
