//! The files of a stage.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sys::files::make_fifo;

/// Protected paths below the workspace.
pub(super) const PROTECTED: [&str; 6] = [
    ".git",
    ".palisade",
    ".claude",
    ".vscode",
    "sub/.git",
    "module/.git",
];

/// Places below the workspace where attempts leave what a later tool would trust; none of the useful acts goes there.
pub(super) const WATCHED: [&str; 8] = [
    ".envrc",
    ".gitattributes",
    ".githooks",
    "Makefile",
    "device",
    "moved",
    "new",
    "planted",
];

/// Secrets below home.
pub(super) const SECRETS: [&str; 9] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".config/gcloud",
    ".netrc",
    ".docker",
    ".npmrc",
    ".bash_history",
    ".mozilla",
];

/// Files, with what is in them; `{secret}` stands for the secret.
const FILES: &[(&str, &str)] = &[
    ("outside/file", "a file of the user\n"),
    ("outside/linked", "a file with a second name\n"),
    ("outside/given", "a file that a server hands out\n"),
    ("outside/leaked", "a file that was left open\n"),
    ("outside/leaked-secret", "{secret}\n"),
    ("workspace/file", "a file of the project\n"),
    ("workspace/second", "another file of the project\n"),
    ("workspace/.git/HEAD", "ref: refs/heads/main\n"),
    (
        "workspace/.git/config",
        "[core]\n\trepositoryformatversion = 0\n\thooksPath = .githooks\n",
    ),
    ("workspace/.githooks/pre-commit", "#!/bin/sh\n"),
    ("workspace/.palisade/policy.toml", "version = 1\n"),
    ("workspace/.claude/settings.json", "{}\n"),
    ("workspace/.vscode/tasks.json", "{}\n"),
    ("workspace/sub/.git/HEAD", "ref: refs/heads/main\n"),
    ("workspace/sub/.git/config", "[core]\n"),
    ("workspace/sub/file", "a file of a nested project\n"),
    ("workspace/module/.git", "gitdir: ../.git/modules/module\n"),
    ("plain/file", "a file of a project without history\n"),
    ("home/.ssh/id_ed25519", "{secret}\n"),
    ("home/.gnupg/secring.gpg", "{secret}\n"),
    ("home/.aws/credentials", "{secret}\n"),
    ("home/.config/gcloud/credentials.db", "{secret}\n"),
    ("home/.netrc", "{secret}\n"),
    ("home/.docker/config.json", "{secret}\n"),
    ("home/.npmrc", "{secret}\n"),
    ("home/.bash_history", "{secret}\n"),
    ("home/.mozilla/cookies.sqlite", "{secret}\n"),
    ("home/.bashrc", "# a shell\n"),
    (
        "home/.cargo/registry/src/index/demo-1.0.0/lib.rs",
        "// a dependency\n",
    ),
];

const DIRECTORIES: &[&str] = &[
    "outside/empty",
    "outside/spool/cron",
    "outside/X11-unix",
    "late",
    "workspace/.git/hooks",
    "workspace/.git/objects",
    "workspace/.git/refs/heads",
    "workspace/.git/modules/module",
    "workspace/sub/.git/objects",
    "workspace/sub/.git/refs",
    "home/.config/autostart",
    "home/.config/systemd/user",
    "home/.cargo/bin",
    "home/.npm",
    "home/.cache",
    "home/.local/bin",
];

/// Lays the files out below a new directory.
pub(super) fn make(root: &Path, secret: &str) -> io::Result<()> {
    for directory in DIRECTORIES {
        fs::create_dir_all(root.join(directory))?;
    }
    for (name, content) in FILES {
        let path = root.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, content.replace("{secret}", secret))?;
    }
    fs::hard_link(root.join("outside/linked"), root.join("workspace/alias"))?;
    fs::hard_link(
        root.join("home/.ssh/id_ed25519"),
        root.join("workspace/key-alias"),
    )?;
    make_fifo(&root.join("outside/pipe"))?;
    symlink(root.join("outside"), root.join("workspace/to-outside"))
}

/// Where services have their sockets: below `/run` if that can be written.
pub(super) fn run_directory(root: &Path, token: &str) -> io::Result<PathBuf> {
    let wanted = Path::new("/run").join(format!("palisade-stage-{token}"));
    let run = match fs::create_dir(&wanted) {
        Ok(()) => wanted,
        Err(_) => root.join("run"),
    };
    for directory in ["user", "dbus"] {
        fs::create_dir_all(run.join(directory))?;
    }
    Ok(run)
}

/// Copies a program in a process of its own: a child that another thread starts meanwhile would inherit the descriptor
/// that this one writes to, and a program that is open for writing cannot be run.
pub(super) fn copy_program(from: &Path, to: &Path) -> io::Result<()> {
    let copied = Command::new("cp").arg("--").args([from, to]).output()?;
    if !copied.status.success() {
        let why = String::from_utf8_lossy(&copied.stderr).into_owned();
        return Err(io::Error::other(why));
    }
    fs::set_permissions(to, Permissions::from_mode(0o755))
}

/// A user that nobody is.
const NOBODY_ELSE: u32 = 65_533;

/// A program that runs as another user, who has no rights at all. Where that cannot be made, there is none.
pub(super) fn elevating_program(root: &Path, program: &Path) {
    let path = root.join("outside/elevate");
    let made = copy_program(program, &path)
        .and_then(|()| chown(&path, Some(NOBODY_ELSE), Some(NOBODY_ELSE)))
        .and_then(|()| fs::set_permissions(&path, Permissions::from_mode(0o4755)));
    if made.is_err() {
        let _ = fs::remove_file(path);
    }
}
