//! Metadata and information.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};

use super::Tries;
use crate::report::Report;
use crate::site::Site;
use crate::sys::{files, mounts, process};

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
