//! A walk over writable roots that nobody can lead astray: by descriptors, without following links, within bounds.
//!
//! Whoever made the files may still be running and may swap a directory for a link at any moment. Each directory is
//! opened by its name in a directory that is open already, never as a link, so the walk cannot leave the root.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use palisade_policy::{AbsolutePath, PathCase, PathMatcher};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawDir, ResolveFlags, Stat, fgetxattr, openat, openat2,
    statat,
};
use rustix::io::Errno;

use super::AftermathOptions;
use super::uses::{self, Use, Watched};
use crate::init::PLACEHOLDER_MARK;

/// What tells whether a file is still the same. The time of the last change cannot be set by anybody, unlike that of
/// the last modification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Print {
    pub(super) file: (u64, u64),
    size: i64,
    changed: (i64, i64),
    pub(super) directory: bool,
}

impl Print {
    fn of(stat: &Stat) -> Self {
        Self {
            file: (stat.st_dev, stat.st_ino),
            size: stat.st_size,
            changed: (
                stat.st_ctime,
                i64::try_from(stat.st_ctime_nsec).unwrap_or(i64::MAX),
            ),
            directory: FileType::from_raw_mode(stat.st_mode) == FileType::Directory,
        }
    }

    /// Whether this is what was there before. A directory changes with every entry, so only its identity counts.
    pub(super) fn same(&self, before: &Self) -> bool {
        if self.directory {
            self.file == before.file
        } else {
            self == before
        }
    }
}

/// A number whose width differs between processors.
fn wide(number: impl Into<u64>) -> u64 {
    number.into()
}

/// What was seen of a tree: nothing but what matters.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Everything called `.git`.
    pub(super) repositories: BTreeMap<PathBuf, Print>,
    /// Directories that git takes for repositories, and are called otherwise.
    pub(super) bare: BTreeMap<PathBuf, Print>,
    /// Files that somebody will use.
    pub(super) used: BTreeMap<PathBuf, (Use, Print)>,
    /// What denied patterns match, and which pattern.
    pub(super) matches: BTreeMap<PathBuf, String>,
    /// Files with a second name.
    pub(super) links: BTreeMap<PathBuf, (Print, u64)>,
    /// How many names of each of them were seen.
    pub(super) names: BTreeMap<(u64, u64), u64>,
    /// Files that run as their owner or group.
    pub(super) set_ids: BTreeMap<PathBuf, Print>,
    /// What could not be looked at, and why.
    pub(super) gaps: BTreeMap<PathBuf, &'static str>,
}

pub(super) const TOO_MANY: &str = "there is more below than is looked at";
pub(super) const TOO_LONG: &str = "looking took too long";
pub(super) const TOO_DEEP: &str = "it is deeper than is looked at";
pub(super) const UNREADABLE: &str = "it cannot be listed";
pub(super) const MOVED: &str = "it changed while it was looked at";

/// What git makes of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Git {
    /// An ordinary one.
    No,
    /// `.git`, or below it.
    Own,
    /// It looks like a repository without a work tree.
    Bare,
    /// A directory of such a repository that git reads.
    OfBare,
}

struct Frame {
    directory: OwnedFd,
    path: PathBuf,
    git: Git,
    /// What the name of this directory, or of one above, makes of everything in it.
    all: Option<Use>,
    /// Directories still to be looked into.
    pending: Vec<OsString>,
}

/// The walk.
pub(super) struct Walk<'a> {
    pub(super) options: &'a AftermathOptions,
    pub(super) watched: &'a Watched,
    pub(super) globs: &'a [(PathMatcher, String)],
    pub(super) case: PathCase,
    seen: Seen,
    budget: usize,
    end: Option<Instant>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        options: &'a AftermathOptions,
        watched: &'a Watched,
        globs: &'a [(PathMatcher, String)],
        case: PathCase,
    ) -> Self {
        Self {
            options,
            watched,
            globs,
            case,
            seen: Seen::default(),
            budget: options.max_entries,
            end: Instant::now().checked_add(options.max_time),
        }
    }

    pub(super) fn finish(self) -> Seen {
        self.seen
    }

    /// Looks at a root and everything below it.
    pub(super) fn root(&mut self, root: &Path) {
        match open_root(root) {
            Ok(directory) => self.tree(directory, root.to_path_buf()),
            // A grant for one file: there is nothing below it.
            Err(Errno::NOTDIR) => {
                if let (Some(parent), Some(name)) = (root.parent(), root.file_name())
                    && let Ok(directory) = open_root(parent)
                {
                    self.entry(
                        directory.as_fd(),
                        root.to_path_buf(),
                        name,
                        Git::No,
                        None,
                        None,
                    );
                }
            }
            Err(Errno::NOENT) => {}
            Err(Errno::LOOP) => self.gap(root, MOVED),
            Err(_) => self.gap(root, UNREADABLE),
        }
    }

    fn tree(&mut self, directory: OwnedFd, root: PathBuf) {
        let mut stack = Vec::new();
        stack.extend(self.enter(directory, root, Git::No, None));
        while let Some(frame) = stack.last_mut() {
            let Some(name) = frame.pending.pop() else {
                stack.pop();
                continue;
            };
            let path = frame.path.join(&name);
            if let Some(why) = self.exhausted() {
                self.gap(&path, why);
                return;
            }
            let git = match frame.git {
                Git::Own => Git::Own,
                _ if name == ".git" => Git::Own,
                Git::Bare | Git::OfBare if name == "hooks" || name == "info" => Git::OfBare,
                _ => Git::No,
            };
            let all = frame.all.or_else(|| uses::of_directory(&name));
            let opened = open_below(frame.directory.as_fd(), &name);
            if stack.len() >= self.options.max_depth {
                self.gap(&path, TOO_DEEP);
                continue;
            }
            match opened {
                Ok(directory) => {
                    let entered = self.enter(directory, path, git, all);
                    stack.extend(entered);
                }
                Err(Errno::ACCESS | Errno::PERM) => self.gap(&path, UNREADABLE),
                Err(_) => self.gap(&path, MOVED),
            }
        }
    }

    /// Lists a directory and looks at each entry, before anything below: what is high up is seen first.
    fn enter(
        &mut self,
        directory: OwnedFd,
        path: PathBuf,
        git: Git,
        all: Option<Use>,
    ) -> Option<Frame> {
        let entries = self.list(directory.as_fd(), &path);
        let has = |name: &str| entries.iter().any(|(entry, _)| entry == name);
        // As git itself decides, but for the content of the files.
        let repository = has("HEAD") && ((has("objects") && has("refs")) || has("commondir"));
        let git = match git {
            Git::No if repository => Git::Bare,
            git => git,
        };
        if git == Git::Bare
            && let Ok(stat) = rustix::fs::fstat(&directory)
        {
            self.seen.bare.insert(path.clone(), Print::of(&stat));
        }
        let mut pending = Vec::new();
        for (name, kind) in entries {
            let below = path.join(&name);
            let kind = self.entry(directory.as_fd(), below, &name, git, all, kind);
            // What git keeps there is not configuration, and there is much of it.
            let history = git == Git::Own
                && ["objects", "refs", "logs", "lfs"]
                    .iter()
                    .any(|known| name == *known);
            if kind == Some(FileType::Directory) && !history {
                pending.push(name);
            }
        }
        // The last is looked into first.
        pending.sort_by(|a, b| b.cmp(a));
        (!pending.is_empty()).then_some(Frame {
            directory,
            path,
            git,
            all,
            pending,
        })
    }

    fn list(
        &mut self,
        directory: BorrowedFd<'_>,
        path: &Path,
    ) -> Vec<(OsString, Option<FileType>)> {
        let mut buffer = [MaybeUninit::<u8>::uninit(); 8192];
        let mut raw = RawDir::new(directory, &mut buffer);
        let mut entries = Vec::new();
        while let Some(entry) = raw.next() {
            let Ok(entry) = entry else {
                self.gap(path, UNREADABLE);
                break;
            };
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if let Some(why) = self.exhausted() {
                self.gap(path, why);
                break;
            }
            self.budget -= 1;
            let kind = Some(entry.file_type()).filter(|kind| *kind != FileType::Unknown);
            entries.push((OsString::from_vec(name.to_vec()), kind));
        }
        entries
    }

    /// Looks at one entry, and says what it is.
    fn entry(
        &mut self,
        directory: BorrowedFd<'_>,
        path: PathBuf,
        name: &OsStr,
        git: Git,
        all: Option<Use>,
        kind: Option<FileType>,
    ) -> Option<FileType> {
        let in_git = matches!(git, Git::Own | Git::Bare | Git::OfBare);
        let of_git = || uses::of_git_file(path.parent()?, name).filter(|_| in_git);
        let of_name = || uses::of_name(path.parent()?, name).filter(|_| git != Git::Own);
        let used = self
            .watched
            .of(&path)
            .or_else(of_git)
            .or_else(of_name)
            .or(all);
        let repository = name == ".git" && git != Git::Own;
        let linked = self.options.hard_links && git != Git::Own;
        let is_directory = kind == Some(FileType::Directory);
        let look = kind.is_none()
            || repository
            || (used.is_some() && !is_directory)
            || ((linked || self.options.set_ids) && kind == Some(FileType::RegularFile));
        let stat = if look {
            match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => Some(stat),
                Err(_) => {
                    self.gap(&path, MOVED);
                    return None;
                }
            }
        } else {
            None
        };
        let kind = match &stat {
            Some(stat) => FileType::from_raw_mode(stat.st_mode),
            None => kind?,
        };
        self.match_globs(&path);
        let Some(stat) = stat else {
            return Some(kind);
        };
        let print = Print::of(&stat);
        if linked && kind == FileType::RegularFile && stat.st_nlink > 1 {
            *self.seen.names.entry(print.file).or_default() += 1;
            let links = (print, wide(stat.st_nlink));
            self.seen.links.insert(path.clone(), links);
        }
        if self.options.set_ids
            && kind == FileType::RegularFile
            && Mode::from_raw_mode(stat.st_mode).intersects(Mode::SUID | Mode::SGID)
        {
            self.seen.set_ids.insert(path.clone(), print);
        }
        if let Some(used) = used
            && kind != FileType::Directory
        {
            self.seen.used.insert(path.clone(), (used, print));
        }
        if repository && !(kind == FileType::Directory && is_placeholder(directory, name)) {
            self.seen.repositories.insert(path, print);
        }
        Some(kind)
    }

    fn match_globs(&mut self, path: &Path) {
        if self.globs.is_empty() {
            return;
        }
        let Ok(path) = AbsolutePath::new(path) else {
            return;
        };
        let depth = path.depth();
        for (glob, text) in self.globs {
            if glob.specificity(&path, self.case) == Some(depth) {
                self.seen
                    .matches
                    .insert(path.as_path().to_path_buf(), text.clone());
                return;
            }
        }
    }

    fn exhausted(&self) -> Option<&'static str> {
        if self.budget == 0 {
            Some(TOO_MANY)
        } else if self.end.is_none_or(|end| Instant::now() >= end) {
            Some(TOO_LONG)
        } else {
            None
        }
    }

    fn gap(&mut self, path: &Path, why: &'static str) {
        self.seen.gaps.entry(path.to_path_buf()).or_insert(why);
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// A root, if no link is on the way to it.
fn open_root(path: &Path) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(CWD, path, DIRECTORY, Mode::empty(), resolve)
}

fn open_below(directory: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    openat(directory, name, DIRECTORY, Mode::empty())
}

/// Whether a directory is one that a session keeps a name with: marked, and with nothing in it.
fn is_placeholder(directory: BorrowedFd<'_>, name: &OsStr) -> bool {
    let Ok(opened) = open_below(directory, name) else {
        return false;
    };
    let mut buffer = [MaybeUninit::<u8>::uninit(); 1024];
    let mut raw = RawDir::new(&opened, &mut buffer);
    while let Some(entry) = raw.next() {
        match entry {
            Ok(entry) if matches!(entry.file_name().to_bytes(), b"." | b"..") => {}
            _ => return false,
        }
    }
    fgetxattr(&opened, PLACEHOLDER_MARK, &mut [0_u8; 8]).is_ok()
}

/// The directories among these that are in no other of them.
pub(super) fn outermost<'a>(roots: impl Iterator<Item = &'a Path>) -> BTreeSet<&'a Path> {
    let mut outer: BTreeSet<&Path> = BTreeSet::new();
    // Sorted, so that what holds another comes before it.
    for root in roots.collect::<BTreeSet<_>>() {
        if !outer.iter().any(|known| root.starts_with(known)) {
            outer.insert(root);
        }
    }
    outer
}
