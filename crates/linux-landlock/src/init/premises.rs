//! What has to exist on the host while a session runs, and goes with it.
//!
//! A placeholder is an empty directory with a mark; it is shared between sessions by a lock, because removing it under another
//! session would take that one's mount along.

use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use palisade_policy::AbsolutePath;
use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, ResolveFlags, XattrFlags, fchmod, fgetxattr, flock,
    fremovexattr, fsetxattr, fstat, mkdirat, openat, openat2, statat, unlinkat,
};
use rustix::io::Errno;

use super::cgroup::Groups;
use super::remove_tree::remove_tree;
use super::{Failed, announcement::Unmade};
use crate::plan::{Mount, Plan};
use crate::step::Step;

/// The mark of an empty directory that nobody but Palisade needs.
pub(crate) const PLACEHOLDER_MARK: &str = "user.palisade.placeholder";

/// What a plan asks for.
pub(super) struct Premises {
    placeholders: Vec<AbsolutePath>,
    /// Protected directories. Where there are no marks, each that is empty may be a placeholder of another session, which
    /// must not remove it while this one stands on it.
    guarded: Vec<AbsolutePath>,
    tmpdir: Option<AbsolutePath>,
    groups: Groups,
}

/// What was made of it, and is locked until it is removed.
#[derive(Default)]
pub(super) struct Made {
    placeholders: Vec<Placeholder>,
    shared: Vec<OwnedFd>,
}

impl Made {
    /// The locks: no other session removes these as long as somebody holds them.
    pub(super) fn locks(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let placeholders = self.placeholders.iter().map(|one| one.directory.as_fd());
        placeholders.chain(self.shared.iter().map(AsFd::as_fd))
    }
}

impl Premises {
    /// What a plan asks for; `name` is one that nobody can foresee.
    pub(super) fn of(plan: &Plan, name: &str) -> Result<Self, Failed> {
        let tmpdir = || AbsolutePath::new(format!("/tmp/{name}"));
        let tmpdir = plan.private_tmpdir.then(tmpdir).transpose();
        Ok(Self {
            placeholders: plan.placeholders.clone(),
            guarded: guarded(plan),
            tmpdir: tmpdir.map_err(|_| Failed::new(Step::Janitor, Errno::INVAL))?,
            groups: Groups::of(plan, name),
        })
    }

    /// The private temporary directory, if one was asked for.
    pub(super) const fn tmpdir(&self) -> Option<&AbsolutePath> {
        self.tmpdir.as_ref()
    }

    /// The session's control groups.
    pub(super) const fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Whether anything is made.
    pub(super) fn is_nothing(&self) -> bool {
        self.placeholders.is_empty() && self.tmpdir.is_none() && self.groups.is_empty()
    }

    /// Makes everything.
    pub(super) fn make(&self, made: &mut Made) -> Result<(), Unmade> {
        for (index, path) in (0_u32..).zip(&self.placeholders) {
            let placeholder = Placeholder::make(path);
            made.placeholders
                .push(placeholder.map_err(|errno| Unmade::at(index, errno))?);
        }
        for path in self.guarded.iter().filter(|path| is_empty(path)) {
            made.shared.push(share_existing(path)?);
        }
        if let Some(tmpdir) = &self.tmpdir {
            mkdirat(CWD, tmpdir.as_path(), Mode::from(0o700))?;
        }
        Ok(self.groups.make()?)
    }

    /// Removes what was made. What is returned is still there without a name, and [goes](let_go) when it is dropped.
    pub(super) fn remove(&self, made: Made) -> Vec<OwnedFd> {
        drop(made.shared);
        let inner_first = made.placeholders.into_iter().rev();
        let removed = inner_first.map(Placeholder::remove).collect();
        // What is still in the groups could fill the directory again.
        self.groups.remove();
        if let Some(tmpdir) = &self.tmpdir {
            remove_tree(tmpdir.as_path());
        }
        removed
    }

    /// The same for what somebody has made who is gone, and their locks with them.
    pub(super) fn remove_of_others(&self) {
        let left = self.placeholders.iter();
        let left = left.filter_map(|path| Placeholder::find(path).ok());
        let_go(self.remove(Made {
            placeholders: left.collect(),
            shared: Vec::new(),
        }));
    }
}

fn is_empty(directory: &AbsolutePath) -> bool {
    std::fs::read_dir(directory.as_path()).is_ok_and(|mut entries| entries.next().is_none())
}

/// A name for what is made in places that others use as well.
pub(super) fn unforeseeable_name() -> Result<String, Errno> {
    let mut random = [0_u8; 16];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    let digits = u128::from_le_bytes(random);
    Ok(format!("palisade-{digits:032x}"))
}

/// The protected and masked directories of a plan that are there without it.
fn guarded(plan: &Plan) -> Vec<AbsolutePath> {
    plan.mounts
        .iter()
        .filter_map(|mount| match mount {
            Mount::Protect { path } | Mount::Mask { path, .. } => Some(path),
            _ => None,
        })
        .filter(|path| !plan.placeholders.contains(path))
        .cloned()
        .collect()
}

/// Locks a directory that nobody may remove now. One that was removed just before is missed by the mount on it.
fn share_existing(path: &AbsolutePath) -> Result<OwnedFd, Errno> {
    let found = Placeholder::find(path)?;
    share(&found.directory)?;
    let (mine, now) = (
        fstat(&found.directory)?,
        statat(&found.parent, &found.name, AtFlags::SYMLINK_NOFOLLOW)?,
    );
    match (now.st_dev, now.st_ino) == (mine.st_dev, mine.st_ino) {
        true => Ok(found.directory),
        false => Err(Errno::STALE),
    }
}

/// An empty directory that stands where a protected path is missing.
struct Placeholder {
    parent: OwnedFd,
    name: OsString,
    directory: OwnedFd,
}

impl Placeholder {
    /// Finds one that a janitor has made.
    fn find(path: &AbsolutePath) -> Result<Self, Errno> {
        let (parent, name) = open_parent(path)?;
        let directory = openat(&parent, &name, DIRECTORY, Mode::empty())?;
        Ok(Self {
            parent,
            name,
            directory,
        })
    }

    /// Makes the directory, or shares the one that another session has made.
    fn make(path: &AbsolutePath) -> Result<Self, Errno> {
        let (parent, name) = open_parent(path)?;
        // Another session's janitor may remove it between two of these steps; then it is made again.
        for _ in 0..64 {
            let fresh = match mkdirat(&parent, &name, Mode::from(UNFINISHED_PLACEHOLDER)) {
                Ok(()) => true,
                Err(Errno::EXIST) => false,
                Err(errno) => return Err(errno),
            };
            let opened = openat(&parent, &name, DIRECTORY, Mode::empty())
                .and_then(|directory| lock_and_mark(directory, fresh));
            let directory = match opened {
                Ok(directory) => directory,
                Err(Errno::NOENT) => continue,
                Err(errno) => {
                    if fresh {
                        let _ = unlinkat(&parent, &name, AtFlags::REMOVEDIR);
                    }
                    return Err(errno);
                }
            };
            let (mine, now) = (
                fstat(&directory)?,
                statat(&parent, &name, AtFlags::SYMLINK_NOFOLLOW),
            );
            match now {
                Ok(now) if (now.st_dev, now.st_ino) == (mine.st_dev, mine.st_ino) => {
                    return Ok(Self {
                        parent,
                        name,
                        directory,
                    });
                }
                _ => {}
            }
        }
        Err(Errno::BUSY)
    }

    /// Removes the directory, unless another session still needs it or somebody has put something into it. It is there
    /// without a name until what is returned is dropped.
    fn remove(self) -> OwnedFd {
        let alone = flock(&self.directory, FlockOperation::NonBlockingLockExclusive).is_ok();
        if alone && is_marked(&self.directory) {
            match unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR) {
                Err(Errno::NOTEMPTY | Errno::EXIST) => {
                    let _ = fremovexattr(&self.directory, PLACEHOLDER_MARK);
                }
                _removed_or_beyond_us => {}
            }
            // Who has opened it meanwhile sees that it has no name any more, and makes another.
            let _ = flock(&self.directory, FlockOperation::Unlock);
        }
        self.directory
    }
}

/// Drops directories that were removed. That is when a file system gives back what they took, and some wait for the disk
/// each time: then not all wait for one another.
pub(super) fn let_go(mut removed: Vec<OwnedFd>) {
    let begun = Instant::now();
    drop(removed.pop());
    if begun.elapsed() < WAITS_FOR_THE_DISK {
        return;
    }
    let share = removed.len().div_ceil(HANDS);
    std::thread::scope(|scope| {
        while removed.len() > share {
            let part = removed.split_off(removed.len() - share);
            let thread = std::thread::Builder::new().stack_size(SMALL_STACK);
            // Where there is no thread to be had, they are dropped here.
            let _ = thread.spawn_scoped(scope, move || drop(part));
        }
        drop(removed);
    });
}

/// Longer than it takes to close a file, and about as long as to start a thread.
const WAITS_FOR_THE_DISK: Duration = Duration::from_micros(40);
/// How many wait at once: each further one takes as long to start as it would save.
const HANDS: usize = 3;
const SMALL_STACK: usize = 64 * 1024;

/// Takes the lock together with other sessions. A janitor holds it alone for a moment only; whoever keeps it may be a
/// command, which must not keep a session waiting for ever.
fn share(directory: &OwnedFd) -> Result<(), Errno> {
    for _ in 0..LOCK_ATTEMPTS {
        match flock(directory, FlockOperation::NonBlockingLockShared) {
            Err(Errno::INTR | Errno::WOULDBLOCK) => {
                std::thread::sleep(Duration::from_millis(1));
            }
            done => return done,
        }
    }
    Err(Errno::BUSY)
}

/// As many as there are milliseconds in a second.
const LOCK_ATTEMPTS: usize = 1000;

/// Shares a placeholder with other sessions, and marks one that was made just now.
fn lock_and_mark(directory: OwnedFd, fresh: bool) -> Result<OwnedFd, Errno> {
    share(&directory)?;
    if fresh {
        // Without extended attributes a leftover cannot be told from somebody's directory; all else works.
        match fsetxattr(&directory, PLACEHOLDER_MARK, b"1", XattrFlags::empty()) {
            Ok(()) | Err(Errno::OPNOTSUPP) => {}
            Err(errno) => return Err(errno),
        }
        fchmod(&directory, Mode::from(0o755))?;
    }
    Ok(directory)
}

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

fn open_parent(path: &AbsolutePath) -> Result<(OwnedFd, OsString), Errno> {
    let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let above = path.parent().ok_or(Errno::INVAL)?;
    // `NOFOLLOW` would say of a link that it is no directory.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = openat2(CWD, above.as_path(), flags, Mode::empty(), links)?;
    let name = path.as_path().file_name().ok_or(Errno::INVAL)?;
    Ok((parent, name.to_owned()))
}

/// The permissions of a placeholder until it is marked, which takes a second call: nobody else has a use for them.
pub(crate) const UNFINISHED_PLACEHOLDER: u32 = 0o1700;

/// Whether a directory carries our mark; where there are no marks, it is empty or it stays.
fn is_marked(directory: impl AsFd) -> bool {
    match fgetxattr(&directory, PLACEHOLDER_MARK, &mut [0_u8; 8]) {
        Ok(_) | Err(Errno::OPNOTSUPP) => true,
        Err(_) => {
            fstat(&directory).is_ok_and(|stat| stat.st_mode & 0o7777 == UNFINISHED_PLACEHOLDER)
        }
    }
}
