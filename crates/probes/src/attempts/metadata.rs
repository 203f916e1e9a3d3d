//! Metadata and information.

use std::fs::{self, File, Permissions};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{PermissionsExt as _, chown};

use super::Tries;
use crate::report::Report;
use crate::site::Site;
use crate::sys::{at, files, mounts, process};

pub(crate) fn chmod(site: &Site) -> Report {
    let none = |path| fs::set_permissions(path, Permissions::from_mode(0o000)).map(|()| "worked");
    Tries::default()
        .escape("file", none(site.outside.join("file")))
        .escape("directory", none(site.outside.join("empty")))
        .report()
}

pub(crate) fn chown_group(site: &Site) -> Report {
    Tries::default()
        .escape(
            "file",
            chown(site.outside.join("file"), None, Some(process::group())).map(|()| "worked"),
        )
        .report()
}

pub(crate) fn times(site: &Site) -> Report {
    Tries::default()
        .escape(
            "file",
            files::set_times(&site.outside.join("file")).map(|()| "worked"),
        )
        .report()
}

pub(crate) fn lock(site: &Site) -> Report {
    let locked = File::open(site.outside.join("file"))
        .and_then(|file| file.try_lock().map_err(std::io::Error::from));
    Tries::default()
        .escape("file", locked.map(|()| "was locked"))
        .report()
}

pub(crate) fn stat(site: &Site) -> Report {
    let size = fs::metadata(site.outside.join("file")).map(|about| about.len());
    Tries::default().escape("size", size).report()
}

pub(crate) fn list_mounts(site: &Site) -> Report {
    let lines = fs::read_to_string(format!("/proc/{}/mountinfo", site.victim))
        .map(|text| text.lines().count());
    Tries::default()
        .escape("listmount", mounts::list())
        .escape("mounts of another process", lines)
        .report()
}

/// An attribute that any owner of a file may set.
const ATTRIBUTE: &std::ffi::CStr = c"user.palisade-probe";

pub(crate) fn attributes(site: &Site) -> Report {
    let file = site.outside.join("file");
    let by_reader =
        File::open(&file).and_then(|reader| at::set_attribute_of(&reader, ATTRIBUTE, b"2"));
    Tries::default()
        .escape(
            "set",
            at::set_attribute(&file, ATTRIBUTE, b"1").map(|()| "worked"),
        )
        .escape("set by a reader", by_reader.map(|()| "worked"))
        .escape(
            "removed",
            at::remove_attribute(&file, ATTRIBUTE).map(|()| "worked"),
        )
        .report()
}

pub(crate) fn access_list(site: &Site) -> Report {
    // Version 2, then tag, rights and number of each entry: owner, one user, group, mask and the others.
    let mut list = vec![2, 0, 0, 0];
    let nobody = u32::MAX;
    for (tag, rights, who) in [
        (0x01_u16, 6_u16, nobody),
        (0x02, 7, 65_533),
        (0x04, 4, nobody),
        (0x10, 7, nobody),
        (0x20, 4, nobody),
    ] {
        list.extend_from_slice(&tag.to_le_bytes());
        list.extend_from_slice(&rights.to_le_bytes());
        list.extend_from_slice(&who.to_le_bytes());
    }
    let file = site.outside.join("file");
    Tries::default()
        .escape(
            "list",
            at::set_attribute(&file, c"system.posix_acl_access", &list).map(|()| "was set"),
        )
        .report()
}

pub(crate) fn flags(site: &Site) -> Report {
    let file = site.outside.join("file");
    let by_request = File::open(&file).and_then(|reader| at::set_flags(&reader));
    Tries::default()
        .escape("by request", by_request.map(|()| "were set"))
        .escape("by call", at::set_flags_by_call(&file).map(|()| "were set"))
        .report()
}

pub(crate) fn by_descriptor(site: &Site) -> Report {
    let open = |name: &str, flags| at::open(&site.outside.join(name), flags);
    let times = open("file", libc::O_RDONLY).and_then(|file| at::set_times_of(&file));
    let mode = open("file", libc::O_RDONLY)
        .map(File::from)
        .and_then(|file| file.set_permissions(Permissions::from_mode(0o600)));
    let by_link = open("given", libc::O_PATH).and_then(|file| {
        let link = format!("/proc/self/fd/{}", file.as_raw_fd());
        fs::set_permissions(link, Permissions::from_mode(0o640))
    });
    let by_nothing = open("file", libc::O_PATH).and_then(|file| at::set_mode_of(&file));
    let worked = |result: std::io::Result<()>| result.map(|()| "worked");
    Tries::default()
        .escape("times by a reader", worked(times))
        .escape("mode by a reader", worked(mode))
        .escape("mode by a link of /proc", worked(by_link))
        .escape("mode by what is open for nothing", worked(by_nothing))
        .report()
}

pub(crate) fn watch(site: &Site) -> Report {
    Tries::default()
        .escape(
            "directory outside",
            files::watch(Some(&site.outside)).map(|_| "is watched"),
        )
        .report()
}

pub(crate) fn handle(site: &Site) -> Report {
    Tries::default()
        .reach("handle", at::handle(&site.outside.join("file")))
        .report()
}

pub(crate) fn lease(site: &Site) -> Report {
    // A file that nobody has open.
    let leased =
        at::open(&site.home.join(".bashrc"), libc::O_RDONLY).and_then(|file| at::lease(&file));
    Tries::default()
        .escape("lease", leased.map(|()| "was taken"))
        .report()
}

/// The size of a file with something in it; a mask is an empty one.
fn filled(size: u64) -> std::io::Result<u64> {
    if size > 0 {
        Ok(size)
    } else {
        Err(std::io::Error::from_raw_os_error(libc::ENOENT))
    }
}

pub(crate) fn sizes_of_secrets(site: &Site) -> Report {
    let key = site.home.join(".ssh/id_ed25519");
    let by_descriptor = at::open(&key, libc::O_PATH)
        .map(File::from)
        .and_then(|file| file.metadata())
        .and_then(|about| filled(about.len()));
    Tries::default()
        .escape("key by statx", at::size_by_statx(&key).and_then(filled))
        .escape("key by descriptor", by_descriptor)
        .escape(
            "password file",
            fs::symlink_metadata(site.home.join(".netrc")).and_then(|about| filled(about.len())),
        )
        .report()
}
