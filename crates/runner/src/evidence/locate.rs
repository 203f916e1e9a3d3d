//! Where a path leads on this host, and what ordinary permissions say about it. Nothing is opened.

use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};

use palisade_policy::AbsolutePath;

use crate::host::real_path;

/// Deeper paths are not looked at.
const DEEPEST: usize = 64;

/// A path, looked up.
#[derive(Clone, Debug)]
pub(super) struct Located {
    /// Every link followed, as far as the path exists.
    pub(super) resolved: AbsolutePath,
    /// Links followed but for the last name: what removing it would remove.
    pub(super) entry: AbsolutePath,
    pub(super) exists: bool,
    pub(super) is_socket: bool,
    /// A file that can be run.
    pub(super) is_program: bool,
    /// Whether ordinary permissions let this user reach and read it, or find that it is not there.
    readable: bool,
    /// Whether they let this user change it, or make it.
    writable: bool,
}

impl Located {
    /// Whether reading cannot have failed here, so that it was a change that did, and ordinary permissions would have
    /// let it through.
    pub(super) const fn must_have_been_a_change(&self) -> bool {
        self.readable && self.writable
    }
}

/// Looks up what a command in `cwd` calls `text`.
pub(super) fn locate(text: &str, cwd: &Path) -> Option<Located> {
    let path = cwd.join(text);
    // These are somebody else's when we look.
    if path.starts_with("/proc") || path.starts_with("/dev/fd") {
        return None;
    }
    let resolved = resolve_host_path(&path)?;
    let entry = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => {
            let parent = resolve_host_path(parent)?;
            AbsolutePath::new(parent.as_path().join(name)).ok()?
        }
        _ => resolved.clone(),
    };
    let found = std::fs::symlink_metadata(resolved.as_path()).ok();
    let exists = found.is_some();
    let (readable, writable) = permissions(resolved.as_path(), found.as_ref());
    Some(Located {
        exists,
        is_socket: found.as_ref().is_some_and(is_socket),
        is_program: found.as_ref().is_some_and(is_program),
        resolved,
        entry,
        readable,
        writable,
    })
}

/// A path with every link followed, as far as it exists. `None` for a relative path, one that is too deep, and one that
/// leaves through `..` what does not exist.
pub(crate) fn resolve_host_path(path: &Path) -> Option<AbsolutePath> {
    if !path.is_absolute() || path.components().count() > DEEPEST {
        return None;
    }
    let mut existing = path.to_path_buf();
    let mut missing: Vec<std::ffi::OsString> = Vec::new();
    loop {
        if let Ok(mut resolved) = real_path(&existing) {
            resolved.extend(missing.iter().rev());
            return AbsolutePath::new(resolved).ok();
        }
        // A link to nowhere: what it would make is where it points.
        if let Ok(target) = std::fs::read_link(&existing)
            && missing.len() < DEEPEST
        {
            let parent = real_path(existing.parent()?).ok()?;
            let target = parent.join(target);
            if target == existing || target.is_symlink() {
                return None;
            }
            existing = lexical(&target)?;
            continue;
        }
        match existing.components().next_back() {
            Some(Component::Normal(name)) => missing.push(name.to_owned()),
            _ => return None,
        }
        existing = existing.parent()?.to_path_buf();
    }
}

/// What ordinary permissions say about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ordinary {
    /// Whether this user may reach and read it, or find that it is not there.
    pub readable: bool,
    /// Whether this user may change it, or make it.
    pub writable: bool,
}

/// What the modes of files say about a path without a link in it, without the privileges of root: commands in a sandbox
/// have none. Access control lists are not read. `None` where modes mean nothing.
#[must_use]
pub fn ordinary_permissions(path: &Path) -> Option<Ordinary> {
    if !cfg!(unix) {
        return None;
    }
    let found = std::fs::symlink_metadata(path).ok();
    let (readable, writable) = permissions(path, found.as_ref());
    Some(Ordinary { readable, writable })
}

/// The target of a link below a directory that is resolved already.
fn lexical(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean.is_absolute().then_some(clean)
}

#[cfg(unix)]
fn is_socket(found: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    found.file_type().is_socket()
}

#[cfg(unix)]
fn is_program(found: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    found.is_file() && found.permissions().mode() & 0o111 != 0
}

/// What modes say about reading and changing, without the privileges of root: commands in a sandbox have none.
#[cfg(unix)]
fn permissions(path: &Path, found: Option<&Metadata>) -> (bool, bool) {
    const READ: u32 = 4;
    const WRITE: u32 = 2;
    const SEARCH: u32 = 1;
    let user = User::current();
    let mut above = path.ancestors().skip(1).filter_map(|above| {
        let found = std::fs::metadata(above).ok()?;
        found.is_dir().then_some(found)
    });
    // The nearest that exists comes first.
    let Some(parent) = above.next() else {
        return (false, false);
    };
    let reached = user.may(&parent, SEARCH) && above.all(|above| user.may(&above, SEARCH));
    match found {
        Some(found) => (
            reached && user.may(found, READ),
            reached && user.may(found, WRITE),
        ),
        None => (reached, reached && user.may(&parent, WRITE)),
    }
}

#[cfg(unix)]
struct User {
    id: u32,
    groups: Vec<u32>,
}

#[cfg(unix)]
impl User {
    fn current() -> Self {
        let mut groups: Vec<u32> = rustix::process::getgroups()
            .unwrap_or_default()
            .into_iter()
            .map(rustix::process::Gid::as_raw)
            .collect();
        groups.push(rustix::process::getegid().as_raw());
        Self {
            id: rustix::process::geteuid().as_raw(),
            groups,
        }
    }

    fn may(&self, found: &Metadata, bit: u32) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let mode = found.mode();
        let shift = match () {
            () if found.uid() == self.id => 6,
            () if self.groups.contains(&found.gid()) => 3,
            () => 0,
        };
        mode >> shift & bit != 0
    }
}

#[cfg(not(unix))]
const fn is_socket(_: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
const fn is_program(_: &Metadata) -> bool {
    false
}

/// Not known, so nothing is concluded from it.
#[cfg(not(unix))]
const fn permissions(_: &Path, _: Option<&Metadata>) -> (bool, bool) {
    (false, false)
}
