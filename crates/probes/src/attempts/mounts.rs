//! Mounts, roots and disks.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use super::Tries;
use super::files::append;
use crate::report::Report;
use crate::site::Site;
use crate::sys::{harmless, mounts, process};

fn reached(result: io::Result<()>) -> io::Result<i64> {
    result.map(|()| 0)
}

pub(crate) fn bind_over(site: &Site) -> Report {
    // There is no such source, so that nothing is mounted even for root without a sandbox.
    let nothing = site.outside.join("nothing-here");
    Tries::default()
        .reach(
            "mount over the workspace",
            reached(mounts::bind_nothing(&nothing, &site.workspace)),
        )
        .reach(
            "mount over /etc",
            reached(mounts::bind_nothing(&nothing, Path::new("/etc"))),
        )
        .report()
}

pub(crate) fn remount(site: &Site) -> Report {
    let git = site.workspace.join(".git");
    // Without a sandbox it is no mount, and that is what the kernel says.
    let remounted = mounts::remount_writable(&git);
    if remounted.is_ok() {
        let _ = append(&git.join("config"));
    }
    Tries::default()
        .reach("remount", reached(remounted))
        .report()
}

pub(crate) fn set_attributes(site: &Site) -> Report {
    Tries::default()
        .reach(
            "mount_setattr",
            reached(mounts::set_writable(&site.workspace.join(".git"))),
        )
        .report()
}

pub(crate) fn nested(site: &Site) -> Report {
    let git = site.workspace.join(".git");
    if let Err(error) = process::unshare(process::NEW_USER_AND_MOUNTS) {
        return Tries::default()
            .escape("unshare", Err::<&str, _>(error))
            .report();
    }
    let _ = mounts::unmount(&git);
    let _ = mounts::remount_writable(&git);
    Tries::default()
        .escape(
            "mount in a namespace of its own",
            mounts::mount_empty(&site.workspace).map(|()| "worked"),
        )
        .report()
}

pub(crate) fn detached(_: &Site) -> Report {
    Tries::default()
        .escape("detached mount", mounts::detached().map(|_| "was made"))
        .report()
}

pub(crate) fn chroot(site: &Site) -> Report {
    Tries::default()
        .escape(
            "chroot",
            std::os::unix::fs::chroot(&site.workspace).map(|()| "worked"),
        )
        .report()
}

pub(crate) fn pivot(_: &Site) -> Report {
    Tries::default().reach_all(harmless::PIVOT).report()
}

/// Opens a device and closes it again; no request is made.
pub(super) fn open_device(path: &str, write: bool) -> io::Result<&'static str> {
    OpenOptions::new()
        .read(true)
        .write(write)
        .open(path)
        .map(|_| "was opened")
}

pub(crate) fn fuse(_: &Site) -> Report {
    Tries::default()
        .escape("/dev/fuse", open_device("/dev/fuse", true))
        .report()
}

pub(crate) fn disks(_: &Site) -> Report {
    let mut tries = Tries::default()
        .escape("/dev/loop-control", open_device("/dev/loop-control", false))
        .escape("/dev/loop0", open_device("/dev/loop0", false));
    let disks = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    for disk in disks.take(4) {
        let path = format!("/dev/{}", disk.file_name().to_string_lossy());
        tries = tries.escape(&path, open_device(&path, false));
    }
    tries.report()
}
