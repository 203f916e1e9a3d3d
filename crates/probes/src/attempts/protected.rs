//! Protected paths inside the workspace.
//!
//! What counts is whether the host sees the change: a private copy of the workspace may be written.

use std::fs;
use std::io;
use std::path::Path;

use super::Tries;
use super::files::{MARK, append, plant};
use crate::report::Report;
use crate::site::Site;

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
