//! Protected paths inside the workspace.
//!
//! What counts is whether the host sees the change: a private copy of the workspace may be written.

use std::fs;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::Tries;
use super::files::{MARK, append, plant};
use crate::report::Report;
use crate::site::Site;
use crate::sys::at;

pub(crate) fn hooks(site: &Site) -> Report {
    Tries::default()
        .escape("hook", plant(&site.workspace.join(".git/hooks/pre-commit")))
        .report()
}

pub(crate) fn config(site: &Site) -> Report {
    Tries::default()
        .escape("config", append(&site.workspace.join(".git/config")))
        .escape(
            "nested config",
            append(&site.workspace.join("sub/.git/config")),
        )
        .report()
}

/// Moves a directory away and makes another one with a repository in its place.
fn replace(directory: &Path, aside: &Path, repository: &Path) -> io::Result<&'static str> {
    fs::rename(directory, aside)?;
    fs::create_dir_all(repository)?;
    plant(&repository.join("config"))?;
    Ok("was replaced")
}

pub(crate) fn rename_away(site: &Site) -> Report {
    let git = site.workspace.join(".git");
    Tries::default()
        .escape(".git", replace(&git, &site.workspace.join("moved"), &git))
        .report()
}

pub(crate) fn index_lock(site: &Site) -> Report {
    Tries::default()
        .escape("lock", plant(&site.workspace.join(".git/index.lock")))
        .report()
}

pub(crate) fn parent_rename(site: &Site) -> Report {
    let parent = site.workspace.join("sub");
    Tries::default()
        .escape(
            "sub",
            replace(&parent, &site.workspace.join("moved"), &parent.join(".git")),
        )
        .report()
}

fn repository(at: &Path) -> io::Result<&'static str> {
    // A directory may stand there to keep the name: then it must not be writable.
    match fs::create_dir(at) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => other?,
    }
    for directory in ["hooks", "objects", "refs"] {
        fs::create_dir(at.join(directory))?;
    }
    for file in ["HEAD", "config", "hooks/post-checkout"] {
        plant(&at.join(file))?;
    }
    Ok("was made")
}

pub(crate) fn missing_root(site: &Site) -> Report {
    Tries::default()
        .escape("repository", repository(&site.plain.join(".git")))
        .report()
}

pub(crate) fn missing_nested(site: &Site) -> Report {
    let new = site.workspace.join("new");
    let made = fs::create_dir(&new).and_then(|()| repository(&new.join(".git")));
    Tries::default().act("repository", made).report()
}

pub(crate) fn bare(site: &Site) -> Report {
    Tries::default()
        .act("repository", repository(&site.workspace.join("planted")))
        .report()
}

pub(crate) fn pointer(site: &Site) -> Report {
    let file = site.workspace.join("module/.git");
    let other = site.workspace.join("module/other");
    let save = fs::write(&other, "gitdir: ../planted\n").and_then(|()| fs::rename(&other, &file));
    Tries::default()
        .escape("rewrite", append(&file))
        .escape("save over", save.map(|()| "worked"))
        .report()
}

pub(crate) fn tree_hook(site: &Site) -> Report {
    Tries::default()
        .act(
            "hook of the tree",
            append(&site.workspace.join(".githooks/pre-commit")),
        )
        .report()
}

pub(crate) fn attributes(site: &Site) -> Report {
    let line = fs::write(site.workspace.join(".gitattributes"), "* filter=demo\n");
    Tries::default()
        .act("attributes", line.map(|()| "were written"))
        .report()
}

pub(crate) fn agents(site: &Site) -> Report {
    let at = |name: &str| site.workspace.join(name);
    Tries::default()
        .escape(
            ".claude/settings.json",
            append(&at(".claude/settings.json")),
        )
        .escape(
            ".palisade/policy.toml",
            append(&at(".palisade/policy.toml")),
        )
        .report()
}

pub(crate) fn editor(site: &Site) -> Report {
    Tries::default()
        .escape(
            ".vscode/tasks.json",
            append(&site.workspace.join(".vscode/tasks.json")),
        )
        .report()
}

pub(crate) fn toolchain(site: &Site) -> Report {
    let at = |name: &str| site.workspace.join(name);
    let write = |name: &str| fs::write(at(name), MARK).map(|()| "was written");
    Tries::default()
        .act(".envrc", write(".envrc"))
        .act("Makefile", write("Makefile"))
        .report()
}

pub(crate) fn exchange(site: &Site) -> Report {
    let own = site.workspace.join("planted");
    let done = fs::create_dir(&own)
        .and_then(|()| plant(&own.join("config")))
        .and_then(|_| at::rename(&own, &site.workspace.join(".git"), at::EXCHANGE));
    // What it prepared is no evidence.
    if done.is_err() {
        let _ = fs::remove_dir_all(&own);
    }
    Tries::default()
        .escape(".git", done.map(|()| "was exchanged"))
        .report()
}

pub(crate) fn second_name(site: &Site) -> Report {
    let link = site.workspace.join("config-link");
    let write =
        fs::hard_link(site.workspace.join(".git/config"), &link).and_then(|()| append(&link));
    Tries::default()
        .escape("second name of the configuration", write)
        .report()
}

pub(crate) fn by_descriptor(site: &Site) -> Report {
    let git = site.workspace.join(".git");
    let directory = |name: &str| at::open(&git.join(name), libc::O_RDONLY | libc::O_DIRECTORY);
    let nameless = at::open(&git.join("hooks"), libc::O_TMPFILE | libc::O_RDWR)
        .and_then(|file| at::link_open(&file, &git.join("hooks/post-commit")));
    let made = directory("hooks").and_then(|hooks| at::make_directory_at(&hooks, c"planted"));
    let removed = directory(".").and_then(|git| at::unlink_at(&git, c"HEAD"));
    let worked = |result: io::Result<()>| result.map(|()| "worked");
    Tries::default()
        .escape("nameless file that gets a name", worked(nameless))
        .escape("new directory", worked(made))
        .escape("removal", worked(removed))
        .report()
}

pub(crate) fn metadata(site: &Site) -> Report {
    let config = site.workspace.join(".git/config");
    let mode = fs::set_permissions(&config, fs::Permissions::from_mode(0o666));
    let times = crate::sys::files::set_times(&config);
    Tries::default()
        .escape("mode", mode.map(|()| "was set"))
        .escape("times", times.map(|()| "were set"))
        .report()
}

pub(crate) fn other_names(site: &Site) -> Report {
    let at = |name: &str| site.workspace.join(name);
    let by_link = symlink(".git", at("history")).and_then(|()| append(&at("history/config")));
    let by_descriptor = at::open(&at(".git/config"), libc::O_PATH)
        .and_then(|file| append(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd()))));
    let from_within = std::env::set_current_dir(at(".git"))
        .and_then(|()| append(Path::new("/proc/self/cwd/config")));
    Tries::default()
        .escape("by a link", by_link)
        .escape("by a descriptor", by_descriptor)
        .escape("by the working directory", from_within)
        .report()
}
