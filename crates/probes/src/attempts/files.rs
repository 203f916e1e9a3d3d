//! Writing outside.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use super::Tries;
use crate::report::Report;
use crate::site::Site;
use crate::sys;

/// What attempts write.
pub(super) const MARK: &str = "written by a probe\n";

pub(super) fn append(path: &Path) -> io::Result<&'static str> {
    OpenOptions::new()
        .append(true)
        .open(path)?
        .write_all(MARK.as_bytes())?;
    Ok("was written")
}

/// Makes a new file.
pub(super) fn plant(path: &Path) -> io::Result<&'static str> {
    File::create_new(path)?.write_all(MARK.as_bytes())?;
    Ok("was made")
}

fn done(result: io::Result<()>) -> io::Result<&'static str> {
    result.map(|()| "worked")
}

pub(crate) fn open_write(site: &Site) -> Report {
    let file = site.outside.join("file");
    Tries::default()
        .escape("append", append(&file))
        .escape("overwrite", fs::write(&file, MARK).map(|()| "worked"))
        .report()
}

pub(crate) fn create(site: &Site) -> Report {
    Tries::default()
        .escape("new file", plant(&site.outside.join("planted")))
        .escape("new file at home", plant(&site.home.join("planted")))
        .report()
}

pub(crate) fn make_others(site: &Site) -> Report {
    let at = |name: &str| site.outside.join(name);
    Tries::default()
        .escape("mkdir", done(fs::create_dir(at("planted-directory"))))
        .escape("symlink", done(symlink("/", at("planted-link"))))
        .escape("mkfifo", done(sys::files::make_fifo(&at("planted-pipe"))))
        .escape(
            "bind",
            done(UnixListener::bind(at("planted-socket")).map(drop)),
        )
        .report()
}

pub(crate) fn truncate(site: &Site) -> Report {
    Tries::default()
        .escape(
            "truncate",
            done(sys::files::truncate(&site.outside.join("file"))),
        )
        .report()
}

pub(crate) fn unlink(site: &Site) -> Report {
    Tries::default()
        .escape("unlink", done(fs::remove_file(site.outside.join("file"))))
        .escape("rmdir", done(fs::remove_dir(site.outside.join("empty"))))
        .report()
}

pub(crate) fn rename_in(site: &Site) -> Report {
    Tries::default()
        .escape(
            "rename",
            done(fs::rename(
                site.outside.join("file"),
                site.workspace.join("taken"),
            )),
        )
        .report()
}

pub(crate) fn rename_out(site: &Site) -> Report {
    Tries::default()
        .escape(
            "rename",
            done(fs::rename(
                site.workspace.join("file"),
                site.outside.join("planted"),
            )),
        )
        .escape(
            "rename over",
            done(fs::rename(
                site.workspace.join("second"),
                site.outside.join("file"),
            )),
        )
        .report()
}

pub(crate) fn link_in(site: &Site) -> Report {
    let link = site.workspace.join("taken");
    let write = fs::hard_link(site.outside.join("file"), &link).and_then(|()| append(&link));
    Tries::default().escape("link", write).report()
}

pub(crate) fn link_out(site: &Site) -> Report {
    Tries::default()
        .escape(
            "link",
            done(fs::hard_link(
                site.workspace.join("file"),
                site.outside.join("planted"),
            )),
        )
        .report()
}

pub(crate) fn write_alias(site: &Site) -> Report {
    Tries::default()
        .act("alias", append(&site.workspace.join("alias")))
        .report()
}

pub(crate) fn through_symlink(site: &Site) -> Report {
    // In read-only mode the link cannot be made; the stage has one already.
    let link = site.workspace.join("to-outside");
    let new = site.workspace.join("to-outside-too");
    let second = symlink(site.outside.join("file"), &new).and_then(|()| append(&new));
    Tries::default()
        .escape("link of the stage", append(&link.join("file")))
        .escape("link of its own", second)
        .report()
}

fn below(prefix: &str, path: &Path) -> std::path::PathBuf {
    let mut whole = std::ffi::OsString::from(prefix);
    whole.push(path);
    whole.into()
}

pub(crate) fn proc_root(site: &Site) -> Report {
    let file = site.outside.join("file");
    Tries::default()
        .escape("self", append(&below("/proc/self/root", &file)))
        .escape(
            "victim",
            append(&below(&format!("/proc/{}/root", site.victim), &file)),
        )
        .report()
}

pub(crate) fn proc_cwd(site: &Site) -> Report {
    let write = std::env::set_current_dir(&site.workspace)
        .and_then(|()| append(Path::new("/proc/self/cwd/../outside/file")));
    Tries::default().escape("self", write).report()
}

pub(crate) fn leaked(site: &Site) -> Report {
    let file = sys::files::copy_of(site.leaked_file).map(File::from);
    let write = file.and_then(|file| {
        file.write_all_at(MARK.as_bytes(), 0)?;
        file.set_len(4)?;
        Ok("was written")
    });
    // The number may be taken by something else, so that only evidence counts.
    Tries::default().act("descriptor", write).report()
}

pub(crate) fn received(site: &Site) -> Report {
    let write = UnixStream::connect(site.outside.join("giver.sock"))
        .and_then(|socket| sys::net::receive_fd(&socket))
        .and_then(|fd| File::from(fd).write_all_at(MARK.as_bytes(), 0))
        .map(|()| "was written");
    Tries::default().escape("received file", write).report()
}

pub(crate) fn by_handle(site: &Site) -> Report {
    let write = File::open(&site.workspace)
        .and_then(|mount| sys::files::open_by_handle(&site.outside.join("file"), &mount))
        .and_then(|file| file.write_all_at(MARK.as_bytes(), 0))
        .map(|()| "was written");
    Tries::default().escape("handle", write).report()
}

/// The name under which a stage looks for what is planted in shared places.
pub(crate) fn shared_name(token: &str) -> String {
    format!("palisade-probe-planted-{token}")
}

pub(crate) fn shared_tmp(site: &Site) -> Report {
    let name = shared_name(&site.token);
    Tries::default()
        .act("/tmp", plant(&Path::new("/tmp").join(&name)))
        .act("/var/tmp", plant(&Path::new("/var/tmp").join(&name)))
        .report()
}

pub(crate) fn dev_shm(site: &Site) -> Report {
    let path = Path::new("/dev/shm").join(shared_name(&site.token));
    Tries::default().act("/dev/shm", plant(&path)).report()
}

pub(crate) fn shell_rc(site: &Site) -> Report {
    Tries::default()
        .escape(".bashrc", append(&site.home.join(".bashrc")))
        .escape(".profile", plant(&site.home.join(".profile")))
        .escape(
            "autostart",
            plant(&site.home.join(".config/autostart/planted.desktop")),
        )
        .report()
}

pub(crate) fn user_unit(site: &Site) -> Report {
    Tries::default()
        .escape(
            "unit",
            plant(&site.home.join(".config/systemd/user/planted.service")),
        )
        .escape("crontab", plant(&site.outside.join("spool/cron/planted")))
        .report()
}

pub(crate) fn cache_poison(site: &Site) -> Report {
    // A private copy of a cache may be written: only evidence counts.
    Tries::default()
        .act(
            "crate",
            append(
                &site
                    .home
                    .join(".cargo/registry/src/index/demo-1.0.0/lib.rs"),
            ),
        )
        .act("package", plant(&site.home.join(".npm/planted")))
        .act("cache", plant(&site.home.join(".cache/planted")))
        .report()
}

pub(crate) fn path_shadow(site: &Site) -> Report {
    Tries::default()
        .escape("~/.local/bin", plant(&site.home.join(".local/bin/git")))
        .act("~/.cargo/bin", plant(&site.home.join(".cargo/bin/cargo")))
        .report()
}

pub(crate) fn any_write(site: &Site) -> Report {
    let name = shared_name(&site.token);
    Tries::default()
        .escape(
            "file of the workspace",
            append(&site.workspace.join("file")),
        )
        .escape("new file", plant(&site.workspace.join("planted")))
        .escape("second root", plant(&site.plain.join("planted")))
        .escape("repository", plant(&site.workspace.join(".git/planted")))
        .escape("outside", plant(&site.outside.join("planted")))
        .escape("home", plant(&site.home.join("planted")))
        .act("/tmp", plant(&Path::new("/tmp").join(&name)))
        .act("/dev/shm", plant(&Path::new("/dev/shm").join(&name)))
        .report()
}
