//! Makes what must exist for a session and removes it when everybody else is gone, however they went.
//!
//! The janitor is started before anything is made. It waits until a descriptor says that nothing of the session is left,
//! and keeps the caller's channel open, so that the caller can wait for it. Should the janitor itself be killed, the
//! helper does its chores. A placeholder is an empty directory with a mark; it is shared between sessions by a lock, because
//! removing it under another session would take that one's mount along.

use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use palisade_policy::AbsolutePath;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, ResolveFlags, XattrFlags, fchmod, fgetxattr, flock,
    fremovexattr, fsetxattr, fstat, mkdirat, openat, openat2, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use super::cgroup::Groups;
use super::remove_tree::remove_tree;
use super::{During, Failed};
use crate::channel::{Channel, retry};
use crate::plan::{Mount, Plan};
use crate::step::Step;
use crate::sys::process::{self, Forked};
use crate::sys::reap::reap_this;

/// The mark of an empty directory that nobody but Palisade needs.
pub(crate) const PLACEHOLDER_MARK: &str = "user.palisade.placeholder";

/// The janitor's employer.
pub(super) struct Janitor {
    /// As long as this lives, the janitor waits, where it waits for this.
    alive: Option<OwnedFd>,
    pid: i32,
    chores: Chores,
}

/// Where the janitor says that everything is made.
pub(super) struct Announcement(OwnedFd);

/// What the janitor says it with.
pub(super) struct Voice(OwnedFd);

impl Announcement {
    pub(super) fn new() -> Result<(Self, Voice), Failed> {
        let (hears, says) = pipe_with(PipeFlags::CLOEXEC).during(Step::Janitor)?;
        Ok((Self(hears), Voice(says)))
    }

    /// Waits until the janitor has made everything for this plan.
    pub(super) fn wait(self, plan: &Plan) -> Result<(), Failed> {
        let mut record = [0_u8; 8];
        let read = retry(|| rustix::io::read(&self.0, &mut record)).during(Step::Janitor)?;
        let [a, b, c, d, e, f, g, h] = record;
        let (errno, index) = (
            i32::from_le_bytes([a, b, c, d]),
            u32::from_le_bytes([e, f, g, h]),
        );
        match (read, errno) {
            (8, 0) => Ok(()),
            (8, errno) => {
                let index = usize::try_from(index).unwrap_or(usize::MAX);
                let errno = Errno::from_raw_os_error(errno);
                Err(match plan.placeholders.get(index) {
                    Some(path) => Failed::at(Step::Janitor, path, errno),
                    None => Failed::new(Step::Janitor, errno),
                })
            }
            _ => Err(Failed::new(Step::Janitor, Errno::CHILD)),
        }
    }
}

/// What the janitor makes and removes.
pub(super) struct Chores {
    placeholders: Vec<AbsolutePath>,
    /// Protected directories. Where there are no marks, each that is empty may be a placeholder of another session, which
    /// must not remove it while this one stands on it.
    guarded: Vec<AbsolutePath>,
    tmpdir: Option<AbsolutePath>,
    groups: Groups,
}

impl Janitor {
    /// Starts a janitor. It makes things while others set the session up; whoever needs them waits for the
    /// [announcement](Announcement). It waits until `gone` is readable, or at its end: a process that has ended, or a pipe
    /// that nobody holds any more. `alive` is the other end of that pipe.
    pub(super) fn appoint(
        chores: Chores,
        channel: &Channel,
        voice: Voice,
        gone: OwnedFd,
        alive: Option<OwnedFd>,
    ) -> Result<Self, Failed> {
        match process::fork_aside().during(Step::Janitor)? {
            Forked::Child => {
                drop(alive);
                work(&chores, channel, &gone, voice);
                process::exit_now(0)
            }
            Forked::Parent(pid) => Ok(Self { alive, pid, chores }),
        }
    }

    /// The janitor's process.
    pub(super) const fn pid(&self) -> i32 {
        self.pid
    }

    /// What it does.
    pub(super) const fn chores(&self) -> &Chores {
        &self.chores
    }
}

/// Lets the janitor do its work and reaps it, so that no process is left for others to reap. This runs in the helper
/// only: its children leave by exit or exec.
impl Drop for Janitor {
    fn drop(&mut self) {
        self.alive = None;
        let done = reap_this(self.pid).is_some_and(|ended| {
            libc::WIFEXITED(ended.status) && libc::WEXITSTATUS(ended.status) == 0
        });
        if !done {
            self.chores.take_over();
        }
    }
}

impl Chores {
    /// What a plan asks for; `name` is one that nobody can foresee. `None` if that is nothing.
    pub(super) fn of(plan: &Plan, name: &str) -> Result<Option<Self>, Errno> {
        let tmpdir = format!("/tmp/{name}");
        let chores = Self {
            placeholders: plan.placeholders.clone(),
            guarded: guarded(plan),
            tmpdir: match plan.private_tmpdir {
                true => Some(AbsolutePath::new(tmpdir).map_err(|_| Errno::INVAL)?),
                false => None,
            },
            groups: Groups::of(plan, name),
        };
        Ok((!chores.is_nothing()).then_some(chores))
    }

    /// The private temporary directory, if one was asked for.
    pub(super) const fn tmpdir(&self) -> Option<&AbsolutePath> {
        self.tmpdir.as_ref()
    }

    /// The session's control groups.
    pub(super) const fn groups(&self) -> &Groups {
        &self.groups
    }

    fn is_nothing(&self) -> bool {
        self.placeholders.is_empty()
            && self.tmpdir.is_none()
            && self.groups.is_empty()
            && self.empty().next().is_none()
    }

    /// The guarded directories that hold nothing now.
    fn empty(&self) -> impl Iterator<Item = &AbsolutePath> {
        let is_empty = |path: &&AbsolutePath| {
            std::fs::read_dir(path.as_path()).is_ok_and(|mut entries| entries.next().is_none())
        };
        self.guarded.iter().filter(is_empty)
    }

    /// Makes everything; a failure comes with the index of the placeholder that it is about.
    fn begin(
        &self,
        made: &mut Vec<Placeholder>,
        shared: &mut Vec<OwnedFd>,
    ) -> Result<(), (Errno, u32)> {
        for (index, path) in (0_u32..).zip(&self.placeholders) {
            made.push(Placeholder::make(path).map_err(|errno| (errno, index))?);
        }
        let unrelated = |errno| (errno, u32::MAX);
        for path in self.empty() {
            shared.push(share_existing(path).map_err(unrelated)?);
        }
        if let Some(tmpdir) = &self.tmpdir {
            mkdirat(CWD, tmpdir.as_path(), Mode::from(0o700)).map_err(unrelated)?;
        }
        self.groups.make().map_err(unrelated)
    }

    fn finish(&self, made: Vec<Placeholder>) {
        let removed = made.into_iter().rev().map(Placeholder::remove).collect();
        let_go(removed);
        // What is still in the groups could fill the directory again.
        self.groups.remove();
        if let Some(tmpdir) = &self.tmpdir {
            remove_tree(tmpdir.as_path());
        }
    }

    /// The same for a janitor that was killed, so that its locks are gone.
    fn take_over(&self) {
        let left = self
            .placeholders
            .iter()
            .filter_map(|path| Placeholder::find(path).ok());
        self.finish(left.collect());
    }
}

/// A name for what is made in places that others use as well.
pub(super) fn unforeseeable_name() -> Result<String, Errno> {
    let mut random = [0_u8; 16];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    let digits = u128::from_le_bytes(random);
    Ok(format!("palisade-{digits:032x}"))
}

/// The janitor's life. It shares nothing with the session, and holds the channel until it is done.
fn work(chores: &Chores, _channel: &Channel, gone: &OwnedFd, voice: Voice) {
    // A terminal's signals are not for it.
    let _ = rustix::process::setsid();
    let (mut made, mut shared) = (Vec::new(), Vec::new());
    let (errno, index) = match chores.begin(&mut made, &mut shared) {
        Ok(()) => (0, 0),
        Err((errno, index)) => (errno.raw_os_error(), index),
    };
    let mut record = errno.to_le_bytes().to_vec();
    record.extend(index.to_le_bytes());
    let told = retry(|| rustix::io::write(&voice.0, &record)).is_ok();
    drop(voice);
    if told && errno == 0 {
        // Not earlier, though no process of the session were left: while its mounts stand on a placeholder, removing that
        // makes the kernel wait for all processors once more.
        let mut watched = [PollFd::new(gone, PollFlags::IN)];
        let _ = retry(|| poll(&mut watched, None));
    }
    drop(shared);
    chores.finish(made);
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
        }
        self.directory
    }
}

/// Drops directories that were removed. That is when a file system gives back what they took, and some wait for the disk
/// each time: then not all wait for one another.
fn let_go(mut removed: Vec<OwnedFd>) {
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
