//! Where git keeps what belongs to a root: a `.git` may be a directory, a link, or a file that leads elsewhere.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use palisade_policy::{AbsolutePath, RelativePath, ResolvedPolicy};

use super::locate::{Locator, child};
use crate::host::{Entry, GitDirs, Places};

/// A pointer is one path.
const MAX_POINTER: u64 = 8192;

/// Finds the git directories of each root.
pub(super) fn find(places: &mut Places, locator: &mut Locator, policy: &ResolvedPolicy) {
    let Ok(git) = RelativePath::new(".git") else {
        return;
    };
    for root in policy.roots() {
        let path = root.root.join(&git);
        let known = places.entries.get(&path).cloned();
        let located = known.unwrap_or_else(|| locator.locate(&path));
        let dirs = match located.entry {
            Entry::Missing | Entry::Other | Entry::Symlink { target: None } => None,
            Entry::Directory => Some(of_directory(locator, &located.real)),
            Entry::Symlink {
                target: Some(target),
            } => {
                let mut dirs = of_directory(locator, &target);
                dirs.sound &= in_a_root(policy, &target);
                Some(dirs)
            }
            Entry::File => of_file(locator, policy, &located.real),
        };
        if let Some(dirs) = dirs {
            for directory in [&dirs.git_dir, &dirs.common_dir] {
                super::enter(&mut places.entries, locator, directory);
            }
            places.git.insert(root.root.clone(), dirs);
        }
    }
}

/// A directory that git works in. One with a pointer to another is not sound unless a work tree of that one points here.
fn of_directory(locator: &mut Locator, git_dir: &AbsolutePath) -> GitDirs {
    let common_dir = common_of(locator, git_dir);
    let sound = common_dir == *git_dir && looks_like_git(git_dir);
    GitDirs {
        git_dir: git_dir.clone(),
        common_dir,
        sound,
    }
}

/// A file that says `gitdir: PATH`, as in work trees and submodules.
fn of_file(locator: &mut Locator, policy: &ResolvedPolicy, file: &AbsolutePath) -> Option<GitDirs> {
    let bytes = read_pointer(file.as_path())?;
    let pointer = bytes.strip_prefix(b"gitdir: ")?;
    let git_dir = resolve(locator, &file.parent()?, pointer)?;
    let common_dir = common_of(locator, &git_dir);
    // A work tree that was made by `git worktree add` is known to its repository. Anything else must lie in a root:
    // a pointer alone must not make us bring history back to a repository of somebody else.
    let known = child(&git_dir, OsStr::new("gitdir"))
        .and_then(|back| read_pointer(back.as_path()))
        .and_then(|back| resolve(locator, &git_dir, &back))
        .is_some_and(|back| back == *file);
    let sound = looks_like_git(&common_dir)
        && is_file(&git_dir, "HEAD")
        && (known || (in_a_root(policy, &git_dir) && in_a_root(policy, &common_dir)));
    Some(GitDirs {
        git_dir,
        common_dir,
        sound,
    })
}

/// What holds objects and refs: the directory itself, or what its `commondir` says.
fn common_of(locator: &mut Locator, git_dir: &AbsolutePath) -> AbsolutePath {
    child(git_dir, OsStr::new("commondir"))
        .and_then(|file| read_pointer(file.as_path()))
        .and_then(|pointer| resolve(locator, git_dir, &pointer))
        .unwrap_or_else(|| git_dir.clone())
}

fn looks_like_git(directory: &AbsolutePath) -> bool {
    is_file(directory, "HEAD")
        && directory.as_path().join("objects").is_dir()
        && directory.as_path().join("refs").is_dir()
}

fn is_file(directory: &AbsolutePath, name: &str) -> bool {
    std::fs::symlink_metadata(directory.as_path().join(name)).is_ok_and(|found| found.is_file())
}

fn in_a_root(policy: &ResolvedPolicy, path: &AbsolutePath) -> bool {
    policy
        .roots()
        .iter()
        .any(|root| path.as_path().starts_with(root.root.as_path()))
}

/// The first bytes of a regular file, without the line's end.
fn read_pointer(path: &Path) -> Option<Vec<u8>> {
    use std::os::unix::fs::OpenOptionsExt as _;

    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
        .ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_POINTER).read_to_end(&mut bytes).ok()?;
    while bytes
        .last()
        .is_some_and(|byte| matches!(byte, b'\n' | b'\r'))
    {
        bytes.pop();
    }
    (!bytes.is_empty() && !bytes.contains(&0)).then_some(bytes)
}

/// Where a pointer leads, the links in it resolved; what does not exist stays as it is written.
fn resolve(locator: &mut Locator, from: &AbsolutePath, pointer: &[u8]) -> Option<AbsolutePath> {
    let path = from.as_path().join(OsStr::from_bytes(pointer));
    let path = super::locate::real(&path)?;
    let located = locator.locate(&path);
    match located.entry {
        Entry::Symlink {
            target: Some(target),
        } => Some(target),
        _ => Some(located.real),
    }
}
