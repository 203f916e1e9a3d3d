//! The directories in which layers over caches outlive their session.
//!
//! One layer must never be part of two overlays at once: the kernel calls the outcome undefined. So each directory is
//! locked for as long as a session uses it, by the helper, which outlives every mount of its session. A session that
//! finds a directory locked does without: its layer ends with it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use palisade_policy::AbsolutePath;
use rustix::fs::{
    CWD, FileType, FlockOperation, Mode, OFlags, ResolveFlags, Stat, flock, fstat, mkdirat, openat,
    openat2,
};
use rustix::io::Errno;

use super::{During, Failed};
use crate::plan::{Mount, OverlayStore, Plan};
use crate::step::Step;
use crate::wire::wire_struct;

/// The file next to the layers that is locked. Nobody may read it: a lock needs no more than an open file, and a
/// command that could open it could keep the next session from its caches.
const LOCK: &str = "lock";

/// A device and an inode number.
type Identity = (u64, u64);

/// The stores that belong to a session, for whoever mounts them.
#[derive(Default)]
pub(super) struct Stores {
    locked: Vec<Store>,
}

struct Store {
    /// The step of the plan that it is for.
    index: u32,
    /// Which directory was locked: at its path there may be another one later.
    identity: Identity,
}

wire_struct!(Stores { locked });
wire_struct!(Store { index, identity });

/// What keeps others away from them, for as long as it lives.
#[derive(Default)]
pub(super) struct Locks(Vec<OwnedFd>);

impl Locks {
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.0.iter().map(AsFd::as_fd)
    }
}

impl Stores {
    /// Locks the stores of a plan, and makes those that do not exist yet.
    pub(super) fn lock(plan: &Plan) -> Result<(Self, Locks), Failed> {
        let (mut stores, mut locks) = (Self::default(), Locks::default());
        for (index, mount) in (0_u32..).zip(&plan.mounts) {
            if let Mount::Overlay {
                store: OverlayStore::Directory(path),
                ..
            } = mount
                && let Some((identity, lock)) = lock(path).during_at(Step::Overlay, path)?
            {
                stores.locked.push(Store { index, identity });
                locks.0.push(lock);
            }
        }
        Ok((stores, locks))
    }

    fn find(&self, index: usize) -> Option<&Store> {
        let mut stores = self.locked.iter();
        stores.find(|store| usize::try_from(store.index) == Ok(index))
    }

    /// Whether none belongs to this session.
    pub(super) const fn is_empty(&self) -> bool {
        self.locked.is_empty()
    }

    /// Whether the store of a step belongs to this session.
    pub(super) fn has(&self, index: usize) -> bool {
        self.find(index).is_some()
    }

    /// Whether this is the directory that was locked for a step.
    pub(super) fn is(&self, index: usize, found: &Stat) -> bool {
        let store = self.find(index);
        store.is_some_and(|store| store.identity == identity(found))
    }
}

/// Which directory was locked, and the lock; `None` if another session has it.
fn lock(path: &AbsolutePath) -> Result<Option<(Identity, OwnedFd)>, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let above = path.parent().ok_or(Errno::INVAL)?;
    let parent = openat2(CWD, above.as_path(), flags, Mode::empty(), links)?;
    check_owner(&fstat(&parent)?)?;
    let name = path.as_path().file_name().ok_or(Errno::INVAL)?;
    match mkdirat(&parent, name, Mode::from(0o700)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    let directory = openat(&parent, name, flags, Mode::empty())?;
    let found = fstat(&directory)?;
    check_owner(&found)?;
    let lock = openat(
        &directory,
        LOCK,
        OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC,
        Mode::from(0o200),
    )?;
    if FileType::from_raw_mode(fstat(&lock)?.st_mode) != FileType::RegularFile {
        return Err(Errno::INVAL);
    }
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some((identity(&found), lock))),
        // Taken, or on a file system that cannot say so.
        Err(Errno::WOULDBLOCK | Errno::NOLCK | Errno::OPNOTSUPP) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// What somebody else can write, somebody else can fill: the tools of the session run what they find in their caches.
fn check_owner(found: &Stat) -> Result<(), Errno> {
    if found.st_uid == rustix::process::geteuid().as_raw() && found.st_mode & 0o022 == 0 {
        Ok(())
    } else {
        Err(Errno::PERM)
    }
}

const fn identity(found: &Stat) -> Identity {
    (found.st_dev, found.st_ino)
}
