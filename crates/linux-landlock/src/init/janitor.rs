//! Makes what must exist for a session and removes it when everybody else is gone, however they went.
//!
//! The janitor is started before anything is made. It waits for the end of a pipe that only the helper and init hold,
//! and keeps the caller's channel open, so that the caller can wait for it. A placeholder is an empty directory with a
//! mark; it is shared between sessions by a lock, because removing it under another session would take that one's
//! mount along.

use std::os::fd::{AsFd, OwnedFd};

use palisade_policy::AbsolutePath;
use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, ResolveFlags, XattrFlags, fgetxattr, flock,
    fremovexattr, fsetxattr, fstat, mkdirat, openat, openat2, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use super::cgroup::Groups;
use super::{During, Failed};
use crate::channel::{Channel, retry};
use crate::plan::Plan;
use crate::step::Step;
use crate::sys::process::{self, Forked};

/// The mark of an empty directory that nobody but Palisade needs.
pub(crate) const PLACEHOLDER_MARK: &str = "user.palisade.placeholder";

/// The janitor's employer: as long as this lives, the janitor waits.
pub(super) struct Janitor {
    _alive: OwnedFd,
    chores: Chores,
}

/// What the janitor makes and removes.
#[derive(Clone)]
struct Chores {
    placeholders: Vec<AbsolutePath>,
    tmpdir: Option<AbsolutePath>,
    groups: Groups,
}

impl Janitor {
    /// Starts a janitor if the plan needs one, and waits until it has made everything.
    pub(super) fn appoint(plan: &Plan, channel: &Channel) -> Result<Option<Self>, Failed> {
        let chores = Chores::of(plan).during(Step::Janitor)?;
        if chores.is_empty() {
            return Ok(None);
        }
        let (gone, alive) = pipe_with(PipeFlags::CLOEXEC).during(Step::Janitor)?;
        let (answer, answers) = pipe_with(PipeFlags::CLOEXEC).during(Step::Janitor)?;
        match process::fork().during(Step::Janitor)? {
            Forked::Child => {
                drop((alive, answer));
                work(&chores, channel, &gone, answers);
                process::exit_now(0)
            }
            Forked::Parent(_) => {
                drop((gone, answers));
                let mut record = [0_u8; 8];
                let read =
                    retry(|| rustix::io::read(&answer, &mut record)).during(Step::Janitor)?;
                let [a, b, c, d, e, f, g, h] = record;
                let (errno, index) = (
                    i32::from_le_bytes([a, b, c, d]),
                    u32::from_le_bytes([e, f, g, h]),
                );
                match (read, errno) {
                    (8, 0) => Ok(Some(Self {
                        _alive: alive,
                        chores,
                    })),
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
    }

    /// The private temporary directory, if one was asked for.
    pub(super) fn tmpdir(&self) -> Option<&AbsolutePath> {
        self.chores.tmpdir.as_ref()
    }

    /// The session's control groups.
    pub(super) const fn groups(&self) -> &Groups {
        &self.chores.groups
    }
}

impl Chores {
    fn of(plan: &Plan) -> Result<Self, Errno> {
        let name = unforeseeable_name()?;
        let tmpdir = format!("/tmp/{name}");
        Ok(Self {
            placeholders: plan.placeholders.clone(),
            tmpdir: match plan.private_tmpdir {
                true => Some(AbsolutePath::new(tmpdir).map_err(|_| Errno::INVAL)?),
                false => None,
            },
            groups: Groups::of(plan, &name),
        })
    }

    fn is_empty(&self) -> bool {
        self.placeholders.is_empty() && self.tmpdir.is_none() && self.groups.is_empty()
    }

    /// Makes everything; a failure comes with the index of the placeholder that it is about.
    fn begin(&self, made: &mut Vec<Placeholder>) -> Result<(), (Errno, u32)> {
        for (index, path) in (0_u32..).zip(&self.placeholders) {
            made.push(Placeholder::make(path).map_err(|errno| (errno, index))?);
        }
        let unrelated = |errno| (errno, u32::MAX);
        if let Some(tmpdir) = &self.tmpdir {
            mkdirat(CWD, tmpdir.as_path(), Mode::from(0o700)).map_err(unrelated)?;
        }
        self.groups.make().map_err(unrelated)
    }

    fn finish(&self, made: Vec<Placeholder>) {
        for placeholder in made.into_iter().rev() {
            placeholder.remove();
        }
        if let Some(tmpdir) = &self.tmpdir {
            // Its content belongs to the session; std's removal does not follow links.
            let _ = std::fs::remove_dir_all(tmpdir.as_path());
        }
        self.groups.remove();
    }
}

fn unforeseeable_name() -> Result<String, Errno> {
    let mut random = [0_u8; 16];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("palisade-{digits}"))
}

/// The janitor's life. It shares nothing with the session but the end of a pipe, and holds the channel until it is done.
fn work(chores: &Chores, _channel: &Channel, gone: &OwnedFd, answers: OwnedFd) {
    // A terminal's signals are not for it.
    let _ = rustix::process::setsid();
    let mut made = Vec::new();
    let (errno, index) = match chores.begin(&mut made) {
        Ok(()) => (0, 0),
        Err((errno, index)) => (errno.raw_os_error(), index),
    };
    let mut record = errno.to_le_bytes().to_vec();
    record.extend(index.to_le_bytes());
    let told = retry(|| rustix::io::write(&answers, &record)).is_ok();
    drop(answers);
    if told && errno == 0 {
        // Nothing is ever written there: this returns when the last holder is gone.
        let _ = retry(|| rustix::io::read(gone, &mut [0_u8; 1]));
    }
    chores.finish(made);
}

/// An empty directory that stands where a protected path is missing.
struct Placeholder {
    parent: OwnedFd,
    name: std::ffi::OsString,
    directory: OwnedFd,
}

impl Placeholder {
    /// Makes the directory, or shares the one that another session has made.
    fn make(path: &AbsolutePath) -> Result<Self, Errno> {
        let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let directory_flags =
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let above = path.parent().ok_or(Errno::INVAL)?;
        let parent = openat2(CWD, above.as_path(), directory_flags, Mode::empty(), links)?;
        let name = path.as_path().file_name().ok_or(Errno::INVAL)?.to_owned();
        // Another session's janitor may remove it between two of these steps; then it is made again.
        for _ in 0..64 {
            let fresh = match mkdirat(&parent, &name, Mode::from(0o755)) {
                Ok(()) => true,
                Err(Errno::EXIST) => false,
                Err(errno) => return Err(errno),
            };
            let directory = match openat(&parent, &name, directory_flags, Mode::empty()) {
                Err(Errno::NOENT) => continue,
                opened => opened?,
            };
            retry(|| flock(&directory, FlockOperation::LockShared))?;
            if fresh {
                // Without extended attributes a leftover cannot be told from somebody's directory; all else works.
                match fsetxattr(&directory, PLACEHOLDER_MARK, b"1", XattrFlags::empty()) {
                    Ok(()) | Err(Errno::OPNOTSUPP) => {}
                    Err(errno) => return Err(errno),
                }
            }
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

    /// Removes the directory, unless another session still needs it or somebody has put something into it.
    fn remove(self) {
        if flock(&self.directory, FlockOperation::NonBlockingLockExclusive).is_err() {
            return;
        }
        if !is_marked(&self.directory) {
            return;
        }
        match unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR) {
            Err(Errno::NOTEMPTY | Errno::EXIST) => {
                let _ = fremovexattr(&self.directory, PLACEHOLDER_MARK);
            }
            _removed_or_beyond_us => {}
        }
    }
}

/// Whether a directory carries our mark; where there are no marks, it is empty or it stays.
fn is_marked(directory: impl AsFd) -> bool {
    match fgetxattr(&directory, PLACEHOLDER_MARK, &mut [0_u8; 8]) {
        Ok(_) | Err(Errno::OPNOTSUPP) => true,
        Err(_) => false,
    }
}
