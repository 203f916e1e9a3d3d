//! Does the mounts of a plan. Targets are resolved here, without symbolic links, and mounted by descriptor: what the
//! survey saw may have changed, and then a step fails instead of landing elsewhere.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use palisade_policy::AbsolutePath;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, chmodat, fstat, mkdirat, openat, openat2,
    symlinkat,
};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, FsPickFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags,
    fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, fspick, move_mount,
    open_tree,
};

use super::stock::{BLANK_DIRECTORY, BLANK_FILE, Devices, Stock};
use super::stores::Stores;
use super::{During, Failed};
use crate::plan::{MaskKind, Mount, OverlayStore, Plan};
use crate::step::Step;
use crate::sys::mount::{Change, NO_DEV, NO_SUID, READ_ONLY, change_one, change_recursively};

/// What every mount of the host's becomes: no set-user-id, no devices; what is mounted outside later stays outside.
const TAMED: u64 = NO_SUID | NO_DEV;

/// Opens a directory of the session for reading.
pub(super) fn open_directory(path: &AbsolutePath) -> Result<OwnedFd, Errno> {
    resolve(path, OFlags::RDONLY | OFlags::DIRECTORY)
}

/// A handle on the file system that is mounted at a directory, for whoever may reconfigure it: the caller can, because
/// the session's user namespace is its own; nobody inside can, once privileges are renounced.
pub(super) fn pick(directory: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    fspick(
        directory,
        c"",
        FsPickFlags::FSPICK_EMPTY_PATH | FsPickFlags::FSPICK_CLOEXEC,
    )
}

/// Finds a path without following any symbolic link.
pub(super) fn find(path: &AbsolutePath) -> Result<OwnedFd, Errno> {
    resolve(path, OFlags::PATH)
}

/// Opens a path without following any symbolic link.
pub(super) fn resolve(path: &AbsolutePath, flags: OFlags) -> Result<OwnedFd, Errno> {
    let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(
        CWD,
        path.as_path(),
        flags | OFlags::CLOEXEC,
        Mode::empty(),
        links,
    )
}

/// The mounts of a session, half done.
pub(super) struct Mounter {
    /// Trees of the host, with the index of the step that puts them back.
    kept: Vec<(usize, OwnedFd)>,
    devices: Option<Devices>,
    /// Fresh directories that nobody may write, once everything that is mounted in them has its place.
    closed: Vec<(AbsolutePath, OwnedFd)>,
    /// Where a command can change permissions.
    changeable: Vec<AbsolutePath>,
    /// A private file system that is mounted where `/dev` will hide it: blanks for masks, layers of overlays.
    scratch: Option<OwnedFd>,
    stock: Stock,
}

impl Mounter {
    /// What no other process has to be waited for: takes trees aside, makes everything read-only, mounts `/proc`.
    pub(super) fn begin(plan: &Plan, stores: &Stores, stock: Stock) -> Result<Self, Failed> {
        let mut mounter = Self::take_aside(&plan.mounts, stores, stock)?;
        let change = Change {
            set: READ_ONLY | TAMED,
            private: true,
        };
        change_recursively(CWD, c"/", change).during(Step::ReadOnlyRoot)?;
        mounter.mount_proc().during(Step::Proc)?;
        Ok(mounter)
    }

    /// Mounts everything, in the order of the plan. What is guarded must be there by then: `guarded` waits for it.
    pub(super) fn mount_all(
        mut self,
        plan: &Plan,
        guarded: impl FnOnce() -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let mut guarded = Some(guarded);
        for (index, mount) in plan.mounts.iter().enumerate() {
            if matches!(mount, Mount::Protect { .. } | Mount::Mask { .. })
                && let Some(guarded) = guarded.take()
            {
                guarded()?;
            }
            self.mount(index, mount)?;
        }
        // Also where nothing is mounted on it: whoever makes it has to say that it could.
        guarded.map_or(Ok(()), |guarded| guarded())?;
        if !plan.placeholders.is_empty() {
            super::unseen::hide(plan, self.scratch()?);
        }
        self.close()
    }

    /// Takes the trees and devices that must stay as they are, before the root turns read-only.
    fn take_aside(mounts: &[Mount], stores: &Stores, mut stock: Stock) -> Result<Self, Failed> {
        let mut kept = Vec::new();
        let mut devices = None;
        let changeable = mounts.iter().filter_map(|mount| match mount {
            Mount::Keep {
                path,
                writable: true,
            }
            | Mount::Overlay { path, .. } => Some(path.clone()),
            _ => None,
        });
        let changeable = changeable.collect();
        for (index, mount) in mounts.iter().enumerate() {
            match mount {
                Mount::Keep { path, .. } => {
                    let tree = find(path)
                        .and_then(|at| copy_tree(at.as_fd()))
                        .during_at(Step::KeepTree, path)?;
                    kept.push((index, tree));
                }
                Mount::Overlay {
                    store: OverlayStore::Directory(path),
                    ..
                } if stores.has(index) => {
                    let tree = find(path)
                        .and_then(|at| match stores.is(index, &fstat(&at)?) {
                            true => copy_tree(at.as_fd()),
                            false => Err(Errno::STALE),
                        })
                        .during_at(Step::KeepTree, path)?;
                    kept.push((index, tree));
                }
                Mount::Devices { devices: wanted } => {
                    devices = Some(stock.devices(wanted).during(Step::Devices)?);
                }
                _ => {}
            }
        }
        Ok(Self {
            kept,
            devices,
            closed: Vec::new(),
            changeable,
            scratch: None,
            stock,
        })
    }

    fn mount(&mut self, index: usize, mount: &Mount) -> Result<(), Failed> {
        match mount {
            Mount::Tmpfs { at, mode } => {
                let tmpfs = self
                    .stock
                    .directory(*mode)
                    .and_then(|tmpfs| attach(tmpfs.as_fd(), find(at)?.as_fd()).map(|()| tmpfs))
                    .during_at(Step::PrivateDirectory, at)?;
                if mode & 0o002 == 0 {
                    self.closed.push((at.clone(), tmpfs));
                }
                Ok(())
            }
            Mount::Devices { .. } => {
                // The scratch must be there before `/dev` hides its mount point.
                self.scratch()?;
                self.mount_devices().during(Step::Devices)
            }
            Mount::Keep { path, writable } => self
                .put_back(index, path, *writable)
                .during_at(Step::AttachTree, path),
            Mount::Link { at, target } => make_link(at, target).during_at(Step::Link, at),
            Mount::Pin { path } => mount_on_itself(path, 0).during_at(Step::Pin, path),
            Mount::PinLink { path } => pin_link(path).during_at(Step::Pin, path),
            Mount::Protect { path } => {
                mount_on_itself(path, READ_ONLY).during_at(Step::Protect, path)
            }
            Mount::Mask { path, kind } => {
                let changeable = self.is_changeable(path);
                let scratch = self.scratch()?;
                match find(path) {
                    // It went away, and so it may until it is masked.
                    Err(Errno::NOENT) if *kind == MaskKind::Socket => Ok(()),
                    // In a private directory of somebody else, such as another user's home. No command has more rights here
                    // than this process, so there is nothing to hide; unless it can open the directory first.
                    Err(Errno::ACCESS) if *kind == MaskKind::Socket && !changeable => Ok(()),
                    found => found
                        .and_then(|target| mask(scratch, target.as_fd(), *kind))
                        .during_at(Step::Mask, path),
                }
            }
            Mount::Overlay { path, .. } => {
                self.scratch()?;
                self.overlay(index, path).during_at(Step::Overlay, path)
            }
        }
    }

    fn is_changeable(&self, path: &AbsolutePath) -> bool {
        let mut places = self.changeable.iter();
        places.any(|place| path.as_path().starts_with(place.as_path()))
    }

    /// Whoever runs a command owns these directories and could change their modes: only a read-only mount holds.
    fn close(&self) -> Result<(), Failed> {
        for (at, directory) in &self.closed {
            change_one(directory.as_fd(), READ_ONLY).during_at(Step::PrivateDirectory, at)?;
        }
        Ok(())
    }

    fn mount_proc(&mut self) -> Result<(), Errno> {
        let proc = self.stock.proc()?;
        attach(proc.as_fd(), find_constant("/proc")?.as_fd())
    }

    fn scratch(&mut self) -> Result<BorrowedFd<'_>, Failed> {
        if self.scratch.is_none() {
            let made = self.stock.scratch().and_then(|scratch| {
                // Copies of parts are only made of what is attached somewhere.
                attach(scratch.as_fd(), find_constant("/dev")?.as_fd()).map(|()| scratch)
            });
            self.scratch = Some(made.during(Step::PrivateDirectory)?);
        }
        self.scratch
            .as_ref()
            .map(AsFd::as_fd)
            .ok_or(Failed::new(Step::PrivateDirectory, Errno::BADF))
    }

    fn kept(&self, index: usize) -> Result<BorrowedFd<'_>, Errno> {
        let (_, tree) = self
            .kept
            .iter()
            .find(|(step, _)| *step == index)
            .ok_or(Errno::BADF)?;
        Ok(tree.as_fd())
    }

    fn put_back(&self, index: usize, path: &AbsolutePath, writable: bool) -> Result<(), Errno> {
        let tree = self.kept(index)?;
        tame(tree, if writable { 0 } else { READ_ONLY })?;
        let target = match find(path) {
            Err(Errno::NOENT) => make_mount_point(path, is_directory(tree)?)?,
            found => found?,
        };
        attach(tree, target.as_fd())
    }

    fn mount_devices(&self) -> Result<(), Errno> {
        let devices = self.devices.as_ref().ok_or(Errno::BADF)?;
        devices.mount(&find_constant("/dev")?)
    }

    /// The layer is kept in the store that was taken aside for this step, if there is one.
    fn overlay(&self, index: usize, path: &AbsolutePath) -> Result<(), Errno> {
        let scratch = self.scratch.as_ref().ok_or(Errno::BADF)?.as_fd();
        let target = find(path)?;
        let mode = Mode::from(fstat(&target)?.st_mode & 0o7777);
        let room = format!("layer-{index}");
        mkdirat(scratch, &room, Mode::from(0o700))?;
        let room = openat(
            scratch,
            &room,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let room = match self.kept(index) {
            Err(_) => room,
            Ok(tree) => {
                tame(tree, 0)?;
                attach(tree, room.as_fd())?;
                tree.try_clone_to_owned().map_err(|_| Errno::MFILE)?
            }
        };
        let part = |name: &str, mode: Mode| {
            match mkdirat(&room, name, Mode::from(0o700)) {
                Ok(()) => chmodat(&room, name, mode, AtFlags::empty())?,
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
            openat(
                &room,
                name,
                OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
                Mode::empty(),
            )
        };
        let upper = part("upper", mode)?;
        let work = part("work", Mode::from(0o700))?;

        let overlay = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        // Descriptors instead of paths: no separator has to be escaped, and nothing is resolved twice.
        for (key, layer) in [
            ("lowerdir", &target),
            ("upperdir", &upper),
            ("workdir", &work),
        ] {
            fsconfig_set_string(
                &overlay,
                key,
                format!("/proc/self/fd/{}", layer.as_raw_fd()),
            )?;
        }
        fsconfig_set_flag(&overlay, "userxattr")?;
        fsconfig_create(&overlay)?;
        let merged = fsmount(
            &overlay,
            FsMountFlags::FSMOUNT_CLOEXEC,
            MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV,
        )?;
        attach(merged.as_fd(), target.as_fd())
    }
}

fn find_constant(path: &str) -> Result<OwnedFd, Errno> {
    find(&AbsolutePath::new(path).map_err(|_| Errno::INVAL)?)
}

fn is_directory(at: BorrowedFd<'_>) -> Result<bool, Errno> {
    Ok(FileType::from_raw_mode(fstat(at)?.st_mode) == FileType::Directory)
}

/// A copy of a tree with all its mounts, attached nowhere.
fn copy_tree(at: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    open_tree(at, c"", flags)
}

/// Makes a tree that is attached nowhere what every mount of the host's becomes, and more.
pub(super) fn tame(tree: BorrowedFd<'_>, more: u64) -> Result<(), Errno> {
    let set = TAMED | more;
    change_recursively(tree, c"", Change { set, private: true })
}

pub(super) fn attach(tree: BorrowedFd<'_>, target: BorrowedFd<'_>) -> Result<(), Errno> {
    const EMPTY: &CStr = c"";
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, EMPTY, target, EMPTY, flags)
}

fn mask(scratch: BorrowedFd<'_>, target: BorrowedFd<'_>, kind: MaskKind) -> Result<(), Errno> {
    let blank = match kind {
        MaskKind::Directory => BLANK_DIRECTORY,
        MaskKind::File | MaskKind::Socket => BLANK_FILE,
    };
    let copy = open_tree(
        scratch,
        blank,
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC,
    )?;
    tame(copy.as_fd(), READ_ONLY)?;
    match attach(copy.as_fd(), target) {
        // It went away after it was found.
        Err(Errno::NOENT) if kind == MaskKind::Socket => Ok(()),
        attached => attached,
    }
}

fn mount_on_itself(path: &AbsolutePath, more: u64) -> Result<(), Errno> {
    let target = find(path)?;
    let copy = copy_tree(target.as_fd())?;
    tame(copy.as_fd(), more)?;
    attach(copy.as_fd(), target.as_fd())
}

fn pin_link(path: &AbsolutePath) -> Result<(), Errno> {
    let link = resolve(path, OFlags::PATH | OFlags::NOFOLLOW)?;
    if FileType::from_raw_mode(fstat(&link)?.st_mode) != FileType::Symlink {
        return Err(Errno::STALE);
    }
    let copy = copy_tree(link.as_fd())?;
    attach(copy.as_fd(), link.as_fd())
}

/// Makes what a tree is mounted on, in a private place; anywhere else the file system is read-only by now.
fn make_mount_point(path: &AbsolutePath, directory: bool) -> Result<OwnedFd, Errno> {
    let parent = path.parent().ok_or(Errno::INVAL)?;
    let mut at = find_constant("/")?;
    for component in parent.as_path().components() {
        if let Component::Normal(name) = component {
            at = enter_or_make(&at, Path::new(name))?;
        }
    }
    let name = path.as_path().file_name().ok_or(Errno::INVAL)?;
    if directory {
        return enter_or_make(&at, Path::new(name));
    }
    openat(
        &at,
        name,
        OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC,
        Mode::from(0o600),
    )?;
    openat(
        &at,
        name,
        OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    )
}

fn enter_or_make(at: &OwnedFd, name: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(at, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => {
            // What lies in a place that can be passed and not listed is like it.
            let mode = Mode::from(fstat(at)?.st_mode & 0o755);
            mkdirat(at, name, mode)?;
            openat(at, name, flags, Mode::empty())
        }
        found => found,
    }
}

fn make_link(at: &AbsolutePath, target: &AbsolutePath) -> Result<(), Errno> {
    let parent = find(&at.parent().ok_or(Errno::INVAL)?)?;
    let name = at.as_path().file_name().ok_or(Errno::INVAL)?;
    symlinkat(target.as_path().as_os_str().as_bytes(), &parent, name)
}
