//! Devices and the terminal. Devices are opened and closed, and nothing is asked of them.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use super::Tries;
use super::mounts::open_device;
use crate::report::Report;
use crate::site::Site;
use crate::sys::{files, terminal};

pub(crate) fn make(site: &Site) -> Report {
    Tries::default()
        .escape(
            "mknod",
            files::make_device(&site.workspace.join("device")).map(|()| "worked"),
        )
        .escape(
            "mknod in /tmp",
            files::make_device(
                &std::path::Path::new("/tmp").join(super::files::shared_name(&site.token)),
            )
            .map(|()| "worked"),
        )
        .report()
}

fn open_all(paths: &[&str], write: bool) -> Report {
    paths
        .iter()
        .fold(Tries::default(), |tries, path| {
            tries.escape(path, open_device(path, write))
        })
        .report()
}

pub(crate) fn memory(_: &Site) -> Report {
    open_all(&["/dev/mem", "/dev/kmem", "/dev/port"], false)
}

pub(crate) fn large(_: &Site) -> Report {
    open_all(
        &[
            "/dev/dri/card0",
            "/dev/dri/renderD128",
            "/dev/kvm",
            "/dev/fuse",
        ],
        true,
    )
}

pub(crate) fn pseudo_terminal(_: &Site) -> Report {
    open_all(&["/dev/ptmx", "/dev/pts/ptmx"], true)
}

/// A request to a descriptor that is certainly nobody's terminal.
fn request(name: &str, ask: impl FnOnce(&File) -> io::Result<()>) -> Report {
    let answer = File::open("/dev/null").and_then(|file| ask(&file));
    Tries::default().reach(name, answer.map(|()| 0)).report()
}

pub(crate) fn type_into(_: &Site) -> Report {
    request("TIOCSTI", files::type_into)
}

pub(crate) fn paste(_: &Site) -> Report {
    request("TIOCLINUX", files::paste)
}

pub(crate) fn type_into_wide(_: &Site) -> Report {
    request("TIOCSTI", terminal::type_into_wide)
}

pub(crate) fn other_terminal(site: &Site) -> Report {
    if site.terminal.as_os_str().is_empty() {
        return super::unavailable("the stage could not make a terminal");
    }
    let wrote = OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_NOCTTY)
        .open(&site.terminal)
        .and_then(|mut terminal| terminal.write_all(site.token.as_bytes()));
    // Another terminal may have the same number here: only evidence counts.
    Tries::default()
        .act("terminal", wrote.map(|()| "was written"))
        .report()
}
