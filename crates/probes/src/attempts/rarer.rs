//! Writing outside by calls that programs seldom make.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use super::Tries;
use super::files::{MARK, append};
use crate::report::Report;
use crate::site::Site;
use crate::sys::at;

pub(super) fn worked(result: io::Result<()>) -> io::Result<&'static str> {
    result.map(|()| "worked")
}

/// Writes to what was opened for that.
pub(super) fn write(file: OwnedFd) -> io::Result<&'static str> {
    File::from(file).write_all(MARK.as_bytes())?;
    Ok("was written")
}

/// Opens what a descriptor stands for once more, for writing.
pub(super) fn reopen(file: &OwnedFd) -> io::Result<&'static str> {
    append(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())))
}

pub(crate) fn truncate_by_reading(site: &Site) -> Report {
    let flags = libc::O_RDONLY | libc::O_TRUNC;
    let emptied = at::open(&site.outside.join("file"), flags).map(|_| "was emptied");
    Tries::default().escape("file", emptied).report()
}

pub(crate) fn nameless(site: &Site) -> Report {
    let flags = libc::O_TMPFILE | libc::O_RDWR;
    let outside = at::open(&site.outside, flags)
        .and_then(|file| worked(at::link_open(&file, &site.outside.join("planted"))));
    let from_within = at::open(&site.workspace, flags)
        .and_then(|file| worked(at::link_open(&file, &site.outside.join("planted-too"))));
    Tries::default()
        .escape("made and named outside", outside)
        .escape("made inside, named outside", from_within)
        .report()
}

pub(crate) fn exchange(site: &Site) -> Report {
    Tries::default()
        .escape(
            "exchange",
            worked(at::rename(
                &site.workspace.join("file"),
                &site.outside.join("file"),
                at::EXCHANGE,
            )),
        )
        .report()
}

pub(crate) fn whiteout(site: &Site) -> Report {
    Tries::default()
        .escape(
            "whiteout",
            worked(at::rename(
                &site.outside.join("file"),
                &site.outside.join("planted"),
                at::WHITEOUT,
            )),
        )
        .report()
}

pub(crate) fn below_descriptor(site: &Site) -> Report {
    let directory = match at::open(&site.outside, libc::O_RDONLY | libc::O_DIRECTORY) {
        Ok(directory) => directory,
        Err(error) => {
            return Tries::default()
                .escape("directory", Err::<&str, _>(error))
                .report();
        }
    };
    let made = at::open_at(
        &directory,
        Path::new("planted"),
        libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY,
    );
    Tries::default()
        .escape("new file", made.and_then(write))
        .escape(
            "new directory",
            worked(at::make_directory_at(&directory, c"planted-directory")),
        )
        .escape("removal", worked(at::unlink_at(&directory, c"file")))
        .report()
}

pub(crate) fn reopened(site: &Site) -> Report {
    let file = site.outside.join("file");
    let by = |flags| at::open(&file, flags).and_then(|file| reopen(&file));
    Tries::default()
        .escape("from open for nothing", by(libc::O_PATH))
        .escape("from open for reading", by(libc::O_RDONLY))
        .report()
}

pub(crate) fn through_reader(site: &Site) -> Report {
    let both = at::open(&site.outside.join("file"), libc::O_RDONLY).and_then(|to| {
        let from = at::open(&site.workspace.join("file"), libc::O_RDONLY)?;
        Ok((to, from))
    });
    match both {
        Err(error) => Tries::default().escape("open", Err::<&str, _>(error)),
        Ok((to, from)) => at::fill(&to, &from)
            .into_iter()
            .fold(Tries::default(), |tries, (name, done)| {
                tries.escape(name, done)
            })
            .escape("plain write", write(to)),
    }
    .report()
}

pub(crate) fn resolved(site: &Site) -> Report {
    let parent = site.outside.parent().unwrap_or(Path::new("/"));
    let open = |flags| {
        at::open(parent, libc::O_PATH | libc::O_DIRECTORY)
            .and_then(|directory| at::open_resolved(&directory, Path::new("/outside/file"), flags))
            .and_then(write)
    };
    let climbing = at::open(&site.workspace, libc::O_PATH | libc::O_DIRECTORY)
        .and_then(|directory| {
            at::open_resolved(&directory, Path::new("../outside/file"), at::NO_MAGIC_LINKS)
        })
        .and_then(write);
    Tries::default()
        .escape("with another root", open(at::IN_ROOT))
        .escape("upwards", climbing)
        .report()
}

pub(crate) fn pipe(site: &Site) -> Report {
    // A pipe can be opened for writing on a read-only file system.
    let sent = OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(site.outside.join("pipe"))
        .and_then(|mut pipe| pipe.write_all(site.token.as_bytes()));
    Tries::default()
        .escape("pipe", sent.map(|()| "was written"))
        .report()
}

pub(crate) fn own_program(site: &Site) -> Report {
    let replaced = std::env::current_exe().and_then(|program| {
        // Beside the workspace in every stage; nothing else is ever removed.
        let beside = site.outside.parent() == program.parent();
        if !beside {
            return Err(io::Error::from_raw_os_error(libc::ENOENT));
        }
        fs::remove_file(&program)?;
        fs::write(&program, "#!/bin/sh\n")
    });
    Tries::default()
        .escape("program", replaced.map(|()| "was replaced"))
        .report()
}

pub(crate) fn shared_memory(site: &Site) -> Report {
    let path = Path::new("/dev/shm").join(crate::stage::shared::own_name(&site.token));
    Tries::default()
        .escape("read", super::secrets::read(&path))
        .escape("write", append(&path))
        .report()
}

pub(crate) fn elevating(site: &Site) -> Report {
    let planted = site.workspace.join("planted");
    let made = fs::write(&planted, "#!/bin/sh\n")
        .and_then(|()| fs::set_permissions(&planted, fs::Permissions::from_mode(0o4755)))
        .and_then(|()| fs::metadata(&planted))
        .and_then(|about| {
            if about.permissions().mode() & 0o4000 == 0 {
                return Err(io::Error::from_raw_os_error(libc::EPERM));
            }
            Ok("has the bit")
        });
    Tries::default().act("file", made).report()
}

pub(crate) fn capable(site: &Site) -> Report {
    // Version 2, and no capabilities at all: the attribute is what is forbidden.
    let mut none = vec![0, 0, 0, 2];
    none.resize(20, 0);
    let set = at::set_attribute(&site.workspace.join("file"), c"security.capability", &none);
    Tries::default()
        .escape("file capabilities", worked(set))
        .report()
}
