//! The private file systems that every session mounts, each attached nowhere yet.
//!
//! None of them depends on the plan, so an init that is born before the plan arrives makes them while it waits. What is not
//! in stock is made when it is needed; what nobody needs goes as it came.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat, symlinkat};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, OpenTreeFlags, fsconfig_create, fsconfig_set_string,
    fsmount, fsopen, open_tree,
};

use super::mounts::attach;
use crate::plan::Device;
use crate::sys::mount::{READ_ONLY, change_one};

/// The permissions of a private directory that everybody may write.
const SHARED: u32 = 0o1777;
/// Those of one that nobody may.
const CLOSED: u32 = 0o755;
/// Those of what only init looks into.
const OWN: u32 = 0o700;

/// What was made ahead.
#[derive(Default)]
pub(super) struct Stock {
    proc: Option<OwnedFd>,
    directories: Vec<(u32, OwnedFd)>,
    scratch: Option<OwnedFd>,
    devices: Option<Devices>,
}

impl Stock {
    /// Makes what plans usually ask for: `/tmp` and `/dev/shm`, `/run`, `/dev` and `/proc`. What cannot be made is left
    /// out: whoever needs it fails at a step that has a name.
    pub(super) fn fill() -> Self {
        let directory = |mode| private_directory(mode).ok().map(|made| (mode, made));
        Self {
            proc: make_proc().ok(),
            directories: [SHARED, SHARED, CLOSED]
                .into_iter()
                .filter_map(directory)
                .collect(),
            scratch: make_scratch().ok(),
            devices: Devices::make(&Device::ALL).ok(),
        }
    }

    /// A fresh directory with these permissions.
    pub(super) fn directory(&mut self, mode: u32) -> Result<OwnedFd, Errno> {
        let mut directories = self.directories.iter();
        match directories.position(|(made, _)| *made == mode) {
            Some(index) => Ok(self.directories.swap_remove(index).1),
            None => private_directory(mode),
        }
    }

    /// A read-only `/proc` of the session's own processes. As a whole: nothing in it may be written by a command, and a
    /// mapped root could otherwise set kernel parameters.
    pub(super) fn proc(&mut self) -> Result<OwnedFd, Errno> {
        self.proc.take().map_or_else(make_proc, Ok)
    }

    /// A directory of init's own: blanks for masks, layers of overlays.
    pub(super) fn scratch(&mut self) -> Result<OwnedFd, Errno> {
        self.scratch.take().map_or_else(make_scratch, Ok)
    }

    /// A `/dev` with these devices. Only while the host's devices can be opened: before the root becomes read-only.
    pub(super) fn devices(&mut self, wanted: &[Device]) -> Result<Devices, Errno> {
        match self.devices.take() {
            Some(made) if made.are(wanted) => Ok(made),
            _ => Devices::make(wanted),
        }
    }
}

/// The mask of a directory, and that of anything else, in a [scratch](Stock::scratch).
pub(super) const BLANK_DIRECTORY: &str = "blank-directory";
pub(super) const BLANK_FILE: &str = "blank-file";

fn make_scratch() -> Result<OwnedFd, Errno> {
    let scratch = private_directory(OWN)?;
    mkdirat(&scratch, BLANK_DIRECTORY, Mode::empty())?;
    openat(
        &scratch,
        BLANK_FILE,
        OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    Ok(scratch)
}

/// A fresh tmpfs.
fn private_directory(mode: u32) -> Result<OwnedFd, Errno> {
    let tmpfs = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&tmpfs, "mode", format!("{mode:o}"))?;
    fsconfig_create(&tmpfs)?;
    fsmount(
        &tmpfs,
        FsMountFlags::FSMOUNT_CLOEXEC,
        MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV,
    )
}

fn make_proc() -> Result<OwnedFd, Errno> {
    let proc = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&proc)?;
    let flags = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&proc, FsMountFlags::FSMOUNT_CLOEXEC, flags)
}

/// A `/dev` and the host's devices that belong into it.
pub(super) struct Devices {
    directory: OwnedFd,
    nodes: Vec<(Device, OwnedFd)>,
}

impl Devices {
    fn make(wanted: &[Device]) -> Result<Self, Errno> {
        let directory = private_directory(CLOSED)?;
        let mut nodes = Vec::new();
        for device in wanted {
            let name = device.name();
            let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
            nodes.push((*device, open_tree(CWD, format!("/dev/{name}"), flags)?));
            openat(
                &directory,
                name,
                OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC,
                Mode::from(0o666),
            )?;
        }
        for name in ["shm", "pts", "mqueue"] {
            mkdirat(&directory, name, Mode::from(0o755))?;
        }
        for (link, target) in [
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
        ] {
            symlinkat(target, &directory, link)?;
        }
        Ok(Self { directory, nodes })
    }

    fn are(&self, wanted: &[Device]) -> bool {
        let made = self.nodes.iter().map(|(device, _)| device);
        made.eq(wanted)
    }

    /// Puts it where it belongs, and closes it.
    pub(super) fn mount(&self, target: &OwnedFd) -> Result<(), Errno> {
        let directory = self.directory.as_fd();
        attach(directory, target.as_fd())?;
        for (device, node) in &self.nodes {
            let target = openat(
                directory,
                device.name(),
                OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
                Mode::empty(),
            )?;
            attach(node.as_fd(), target.as_fd())?;
        }
        // Not recursively: the nodes themselves must stay writable.
        change_one(directory, READ_ONLY)
    }
}
