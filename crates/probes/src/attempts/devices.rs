//! Devices and the terminal. Devices are opened and closed, and nothing is asked of them.

use std::fs::File;
use std::io;

use super::Tries;
use super::mounts::open_device;
use crate::report::Report;
use crate::site::Site;
use crate::sys::files;

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
